//! Events of control groups: the kernel counts on a CPU only while one of the group runs there.

use rprof_events::{Suggestions, suggest};
use rprof_process::mount_of_cgroups;
use rprof_ringbuf::Target;
use rprof_untrusted::Seen;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which control groups events are opened for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cgroups {
    /// All that runs, in whatever group.
    #[default]
    All,
    /// The nth event is of the nth name, if there is one; a single name is for all events.
    ByEvent(Vec<Option<String>>),
    /// Each event is of each name.
    Each(Vec<String>),
}

/// A control group, by its folder.
#[derive(Clone, Debug)]
pub struct CgroupFolder {
    name: String,
    /// Its folder; open as long as its events.
    folder: Arc<File>,
}

/// Why there are no events of a control group.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CgroupError {
    /// No hierarchy of control groups has events.
    #[error("no control groups here: neither cgroup2 nor perf_event is in /proc/mounts")]
    NoCgroups,
    /// A control group cannot be opened.
    #[error("control group '{name}' below {}: {why}{nearest}", mount.display())]
    Unopened {
        /// Its name.
        name: String,
        /// Where control groups are.
        mount: PathBuf,
        /// Those with names that are near.
        nearest: Suggestions,
        /// Why.
        why: io::Error,
    },
    /// Control groups are for events, one each.
    #[error(
        "{cgroups} control groups (-G) for {events} events (-e): the nth control group is for the nth \
        event"
    )]
    MoreCgroups {
        /// Groups.
        cgroups: usize,
        /// Events.
        events: usize,
    },
}

impl CgroupFolder {
    /// Its name, as it was asked for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// As events are opened.
    pub fn target(&self) -> Target {
        Target::Cgroup(self.folder.as_raw_fd())
    }
}

impl Cgroups {
    /// For messages; `None` if no group is meant.
    pub fn in_words(&self) -> Option<String> {
        let names: Vec<&str> = match self {
            Self::All => return None,
            Self::ByEvent(names) => names.iter().flatten().map(String::as_str).collect(),
            Self::Each(names) => names.iter().map(String::as_str).collect(),
        };
        let plural = if names.len() == 1 { "" } else { "s" };
        Some(format!("control group{plural} {}", names.join(", ")))
    }

    /// The events to open, by their numbers among `n_events`, each with its group; in perf's order.
    ///
    /// # Errors
    /// [`CgroupError`].
    pub fn events(
        &self,
        n_events: usize,
    ) -> Result<Vec<(usize, Option<CgroupFolder>)>, CgroupError> {
        let groups = match self {
            Self::All => return Ok((0..n_events).map(|event| (event, None)).collect()),
            Self::ByEvent(names) => opened(names)?,
            Self::Each(names) => {
                let names: Vec<_> = names.iter().cloned().map(Some).collect();
                let groups = opened(&names)?;
                let of = |group: Option<CgroupFolder>| {
                    (0..n_events).map(move |event| (event, group.clone()))
                };
                return Ok(groups.into_iter().flat_map(of).collect());
            }
        };
        if groups.len() > n_events {
            return Err(CgroupError::MoreCgroups {
                cgroups: groups.len(),
                events: n_events,
            });
        }
        let of = |event| {
            let nth = if groups.len() == 1 { 0 } else { event };
            (event, groups.get(nth).cloned().flatten())
        };
        Ok((0..n_events).map(of).collect())
    }
}

fn opened(names: &[Option<String>]) -> Result<Vec<Option<CgroupFolder>>, CgroupError> {
    let mount = mount_of_cgroups().ok_or(CgroupError::NoCgroups)?;
    let open = |name: &Option<String>| name.as_deref().map(|name| open(name, &mount)).transpose();
    names.iter().map(open).collect()
}

fn open(name: &str, mount: &Path) -> Result<CgroupFolder, CgroupError> {
    // Its path is taken, too.
    let below = match Path::new(name).strip_prefix(mount) {
        Ok(below) => below.to_path_buf(),
        Err(_) => PathBuf::from(name.trim_start_matches('/')),
    };
    let opened = Seen::at(&mount.join(&below)).and_then(|seen| {
        if seen.meta().is_dir() {
            seen.open(File::options().read(true))
        } else {
            Err(io::Error::from(io::ErrorKind::NotFound))
        }
    });
    match opened {
        Ok(folder) => Ok(CgroupFolder {
            name: name.to_owned(),
            folder: Arc::new(folder),
        }),
        Err(why) => Err(CgroupError::Unopened {
            name: name.to_owned(),
            mount: mount.to_owned(),
            nearest: match why.kind() {
                io::ErrorKind::NotFound => suggest(&below.to_string_lossy(), names(mount)),
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
            let Err(CgroupError::Unopened { nearest, .. }) = open(name, mount.path()) else {
                panic!()
            };
            assert!(nearest.to_string().ends_with(near), "{nearest}");
        }
    }

    #[test]
    fn without_groups_every_event_is_opened_once() {
        let numbers = |groups: Cgroups, n| {
            let events = groups.events(n).unwrap();
            events
                .into_iter()
                .map(|(event, group)| (event, group.is_some()))
                .collect::<Vec<_>>()
        };
        let all = [(0, false), (1, false)];
        assert_eq!(numbers(Cgroups::All, 2), all);
        assert_eq!(numbers(Cgroups::ByEvent(vec![None]), 2), all);
        let two = Cgroups::ByEvent(vec![None, None]);
        assert!(matches!(
            two.events(1),
            Err(CgroupError::MoreCgroups {
                cgroups: 2,
                events: 1
            } | CgroupError::NoCgroups)
        ));
    }
}
