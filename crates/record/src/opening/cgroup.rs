//! Events of control groups: the kernel counts on a CPU only while one of the group runs there.

use crate::opening::attrs::Prepared;
use crate::{Cgroups, Error};
use rprof_events::Suggestions;
use rprof_ringbuf::Target;
use rprof_untrusted::Seen;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A control group.
#[derive(Clone, Debug)]
pub(crate) struct Cgroup {
    name: String,
    /// Its folder; open as long as its events.
    folder: Arc<File>,
}

impl Cgroup {
    /// As events are opened.
    pub(crate) fn target(&self) -> Target {
        Target::Cgroup(self.folder.as_raw_fd())
    }
}

impl Cgroups {
    /// For messages; `None` if all that runs is sampled.
    pub(crate) fn in_words(&self) -> Option<String> {
        let names: Vec<&str> = match self {
            Self::All => return None,
            Self::ByEvent(names) => names.iter().flatten().map(String::as_str).collect(),
            Self::Each(names) => names.iter().map(String::as_str).collect(),
        };
        let plural = if names.len() == 1 { "" } else { "s" };
        Some(format!("control group{plural} {}", names.join(", ")))
    }

    /// Gives events their groups.
    pub(crate) fn apply(&self, events: Vec<Prepared>) -> Result<Vec<Prepared>, Error> {
        if *self == Self::All {
            return Ok(events);
        }
        let mount = mount_in(&std::fs::read_to_string("/proc/mounts").unwrap_or_default());
        let mount = mount.ok_or(Error::NoCgroups)?;
        let mut events = match self {
            Self::All => events,
            Self::ByEvent(names) => by_event(events, &opened(names, &mount)?)?,
            Self::Each(names) => {
                let names: Vec<_> = names.iter().cloned().map(Some).collect();
                let groups = opened(&names, &mount)?;
                let of_group = |group: &Option<Cgroup>| {
                    let mut events = events.clone();
                    events
                        .iter_mut()
                        .for_each(|event| event.cgroup.clone_from(group));
                    events
                };
                groups.iter().flat_map(of_group).collect()
            }
        };
        tell_apart(&mut events);
        Ok(events)
    }
}

fn opened(names: &[Option<String>], mount: &Path) -> Result<Vec<Option<Cgroup>>, Error> {
    let open = |name: &Option<String>| name.as_deref().map(|name| open(name, mount)).transpose();
    names.iter().map(open).collect()
}

/// As perf: in the order of events.
fn by_event(mut events: Vec<Prepared>, groups: &[Option<Cgroup>]) -> Result<Vec<Prepared>, Error> {
    if groups.len() > events.len() {
        return Err(Error::MoreCgroups {
            cgroups: groups.len(),
            events: events.len(),
        });
    }
    for (nth, event) in events.iter_mut().enumerate() {
        let nth = if groups.len() == 1 { 0 } else { nth };
        event.cgroup = groups.get(nth).cloned().flatten();
    }
    Ok(events)
}

/// The same event of several groups is named after its group, too.
fn tell_apart(events: &mut [Prepared]) {
    let names: Vec<String> = events.iter().map(|event| event.name.clone()).collect();
    for event in events {
        let n_same = names.iter().filter(|name| **name == event.name).count();
        if let (true, Some(cgroup)) = (n_same > 1, &event.cgroup) {
            event.name = format!("{}@{}", event.name, cgroup.name);
        }
    }
}

/// Where control groups are that have events: of the old hierarchies that of perf, else the new one.
fn mount_in(mounts: &str) -> Option<PathBuf> {
    let fields = |line: &'_ str| -> Option<(String, String, String)> {
        let mut fields = line.split(' ').skip(1).map(str::to_owned);
        Some((fields.next()?, fields.next()?, fields.next()?))
    };
    let mut all = mounts.lines().filter_map(fields);
    let has_events = |options: &str| options.split(',').any(|option| option == "perf_event");
    let old =
        |(_, kind, options): &(String, String, String)| kind == "cgroup" && has_events(options);
    let found = all.clone().find(old);
    let found = found.or_else(|| all.find(|(_, kind, _)| kind == "cgroup2"));
    found.map(|(mount, ..)| PathBuf::from(mount))
}

fn open(name: &str, mount: &Path) -> Result<Cgroup, Error> {
    // Its path is taken, too.
    let below = match Path::new(name).strip_prefix(mount) {
        Ok(below) => below.to_path_buf(),
        Err(_) => PathBuf::from(name.trim_start_matches('/')),
    };
    let opened = Seen::at(&mount.join(&below)).and_then(|seen| match seen.meta().is_dir() {
        true => seen.open(File::options().read(true)),
        false => Err(io::Error::from(io::ErrorKind::NotFound)),
    });
    match opened {
        Ok(folder) => Ok(Cgroup {
            name: name.to_owned(),
            folder: Arc::new(folder),
        }),
        Err(why) => Err(Error::Cgroup {
            name: name.to_owned(),
            mount: mount.to_owned(),
            nearest: match why.kind() {
                io::ErrorKind::NotFound => {
                    Suggestions::among(&below.to_string_lossy(), names(mount))
                }
                _ => Suggestions::default(),
            },
            why,
        }),
    }
}

/// Folders that are looked at for names.
const MAX_FOLDERS: usize = 10_000;

/// Names of the control groups that there are.
fn names(mount: &Path) -> Vec<String> {
    let mut folders = vec![mount.to_path_buf()];
    let mut n_seen = 0;
    while let Some(folder) = folders.get(n_seen)
        && folders.len() < MAX_FOLDERS
    {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let dirs: Vec<PathBuf> = dirs.map(|entry| entry.path()).collect();
        folders.extend(dirs);
        n_seen += 1;
    }
    let name = |folder: &PathBuf| {
        let below = folder.strip_prefix(mount).ok()?.to_str()?;
        (!below.is_empty()).then(|| below.to_owned())
    };
    folders.iter().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mount_with_events_is_found() {
        let old = "cgroup /c/cpu cgroup rw,cpu 0 0\ncgroup /c/perf cgroup rw,perf_event 0 0\n";
        let new = "none /c cgroup2 rw,nsdelegate 0 0\n";
        let found = |mounts: &str| mount_in(mounts).map(|path| path.display().to_string());
        assert_eq!(found(&format!("{new}{old}")).as_deref(), Some("/c/perf"));
        assert_eq!(found(&format!("odd\n{new}")).as_deref(), Some("/c"));
        assert_eq!(found("cgroup /c/cpu cgroup rw,cpu 0 0\n"), None);
    }

    #[test]
    fn a_group_is_named_by_its_path_and_one_that_is_missing_by_those_that_are_near() {
        let mount = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(mount.path().join("web/front")).unwrap();
        std::fs::write(mount.path().join("cgroup.procs"), "").unwrap();
        let whole = mount.path().join("web/front");
        for name in ["web", "/web", "web/front", whole.to_str().unwrap()] {
            assert_eq!(open(name, mount.path()).unwrap().name, name);
        }
        for (name, near) in [
            ("web/frnt", "did you mean 'web/front'?"),
            ("cgroup.procs", ""),
        ] {
            let Err(Error::Cgroup { nearest, .. }) = open(name, mount.path()) else {
                panic!()
            };
            assert!(nearest.to_string().ends_with(near), "{nearest}");
        }
    }
}
