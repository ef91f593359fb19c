//! Control groups: the kernel counts on a CPU only while one of the group runs there.

use crate::{CountedCgroups, Error};
use rprof_events::Suggestions;
use rprof_ringbuf::Target;
use rprof_untrusted::Seen;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// A control group, open as long as its events.
#[derive(Debug)]
pub(crate) struct Cgroup {
    pub(crate) name: String,
    folder: File,
}

impl Cgroup {
    pub(crate) fn target(&self) -> Target {
        Target::Cgroup(self.folder.as_raw_fd())
    }
}

/// The number of an event, and that of the group that it is counted of.
pub(crate) type CountedOf = (usize, Option<usize>);

/// The groups, and for each of the events as they are counted: which event it is, and of which group.
pub(crate) fn spread(
    cgroups: &CountedCgroups,
    n_events: usize,
) -> Result<(Vec<Cgroup>, Vec<CountedOf>), Error> {
    let names: Vec<Option<&String>> = match cgroups {
        CountedCgroups::All => {
            let all = (0..n_events).map(|event| (event, None)).collect();
            return Ok((Vec::new(), all));
        }
        CountedCgroups::ByEvent(names) if names.len() > n_events => {
            return Err(Error::MoreCgroups {
                cgroups: names.len(),
                events: n_events,
            });
        }
        CountedCgroups::ByEvent(names) => names.iter().map(Option::as_ref).collect(),
        CountedCgroups::Each(names) => names.iter().map(Some).collect(),
    };
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let mount = mount_in(&mounts).ok_or(Error::NoCgroups)?;
    let (mut groups, mut numbers) = (Vec::new(), Vec::new());
    for name in names {
        numbers.push(name.map(|_| groups.len()));
        if let Some(name) = name {
            groups.push(open(name, &mount)?);
        }
    }
    let events = match cgroups {
        CountedCgroups::Each(_) => {
            let of = |group: Option<usize>| (0..n_events).map(move |event| (event, group));
            numbers.into_iter().flat_map(of).collect()
        }
        _ => {
            let of = |event: usize| match numbers.len() {
                1 => numbers.first().copied().flatten(),
                _ => numbers.get(event).copied().flatten(),
            };
            (0..n_events).map(|event| (event, of(event))).collect()
        }
    };
    Ok((groups, events))
}

/// Where control groups are that have events: of the old hierarchies that of perf, else the new one.
fn mount_in(mounts: &str) -> Option<PathBuf> {
    let lines = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((fields.next()?, fields.next()?, fields.next()?))
    });
    let is_old = |(_, kind, options): &(&str, &str, &str)| {
        *kind == "cgroup" && options.split(',').any(|option| option == "perf_event")
    };
    let old = lines.clone().find(is_old);
    let found = old.or_else(|| lines.clone().find(|(_, kind, _)| *kind == "cgroup2"));
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
            folder,
        }),
        Err(source) => Err(Error::Cgroup {
            name: name.to_owned(),
            mount: mount.to_owned(),
            nearest: match source.kind() {
                io::ErrorKind::NotFound => {
                    Suggestions::among(&below.to_string_lossy(), names(mount))
                }
                _ => Suggestions::default(),
            },
            source,
        }),
    }
}

/// Groups at the top and one below.
fn names(mount: &Path) -> Vec<String> {
    let folders = |dir: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(|entry| entry.path())
            .collect()
    };
    let top = folders(mount);
    let below = top.iter().flat_map(|dir| folders(dir));
    let all = top.iter().cloned().chain(below);
    let relative = all.filter_map(|path| Some(path.strip_prefix(mount).ok()?.to_owned()));
    relative
        .map(|path| path.to_string_lossy().into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_hierarchy_of_perf_is_taken_where_it_is() {
        let new = "none /sys/fs/cgroup cgroup2 rw 0 0\n";
        let old = "none /cg/cpu cgroup rw,cpu 0 0\nnone /cg/perf cgroup rw,perf_event 0 0\n";
        assert_eq!(mount_in(new).unwrap(), Path::new("/sys/fs/cgroup"));
        let both = format!("{new}{old}");
        assert_eq!(mount_in(&both).unwrap(), Path::new("/cg/perf"));
        assert_eq!(mount_in("none / ext4 rw 0 0\n"), None);
    }

    #[test]
    fn without_groups_every_event_is_counted_once() {
        let (groups, events) = spread(&CountedCgroups::All, 2).unwrap();
        assert!(groups.is_empty());
        assert_eq!(events, [(0, None), (1, None)]);
        let two = CountedCgroups::ByEvent(vec![None, None]);
        assert!(matches!(
            spread(&two, 1),
            Err(Error::MoreCgroups {
                cgroups: 2,
                events: 1
            })
        ));
    }
}
