//! Namespaces of processes and control groups of the machine, as the records that perf would synthesize.

use crate::Synthesized;
use rprof_abi::record::{Cgroup, Namespaces, Record};
use rprof_abi::{Misc, SampleId};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Deeper folders are left out.
const MAX_DEPTH: usize = 64;

/// Describes the namespaces of a process; nothing if they cannot be seen.
pub fn describe_namespaces(pid: i32, emit: &mut impl FnMut(Synthesized<'_>)) {
    let mut links = Vec::new();
    for name in Namespaces::NAMES {
        let Ok(link) = std::fs::metadata(format!("/proc/{pid}/ns/{name}")) else {
            return;
        };
        links.extend(link.dev().to_ne_bytes());
        links.extend(link.ino().to_ne_bytes());
    }
    emit(Synthesized {
        misc: Misc(0),
        record: Record::Namespaces(Namespaces::from_encoded(pid, pid, &links)),
        id: SampleId {
            pid: Some(pid),
            tid: Some(pid),
            ..SampleId::default()
        },
    });
}

/// Describes all control groups that samples may be of. In their file systems, inodes are ids.
pub fn describe_cgroups(emit: &mut impl FnMut(Synthesized<'_>)) {
    let Some(root) = mount_of_cgroups() else {
        return;
    };
    let mut folders = vec![(root.clone(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let Ok(metadata) = std::fs::metadata(&folder) else {
            continue;
        };
        let below = folder.strip_prefix(&root).unwrap_or(Path::new(""));
        let path = Path::new("/").join(below);
        emit(Synthesized {
            misc: Misc(0),
            record: Record::Cgroup(Cgroup {
                id: metadata.ino(),
                path: path.as_os_str().as_encoded_bytes(),
            }),
            id: SampleId::default(),
        });
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let is_folder =
            |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        if depth < MAX_DEPTH {
            folders.extend(
                entries
                    .filter(is_folder)
                    .map(|entry| (entry.path(), depth + 1)),
            );
        }
    }
}

/// Where the control groups are mounted that events know: an own hierarchy of version 1, or version 2.
pub fn mount_of_cgroups() -> Option<PathBuf> {
    mount_in(&std::fs::read_to_string("/proc/self/mounts").unwrap_or_default())
}

fn mount_in(mounts: &str) -> Option<PathBuf> {
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((words.next()?, words.next()?, words.next()?))
    });
    let mut second = None;
    for (path, kind, options) in mounts {
        match kind {
            "cgroup" if options.split(',').any(|option| option == "perf_event") => {
                return Some(path.into());
            }
            "cgroup2" => second = second.or(Some(path.into())),
            _ => {}
        }
    }
    second
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_namespaces_are_those_of_proc() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let mut inodes = Vec::new();
        describe_namespaces(pid, &mut |one| match one.record {
            Record::Namespaces(namespaces) => {
                inodes.extend(namespaces.links().map(|link| link.ino));
            }
            other => panic!("{other:?}"),
        });
        let link = std::fs::read_link("/proc/self/ns/net").unwrap();
        assert_eq!(link.to_str().unwrap(), format!("net:[{}]", inodes[0]));
        assert_eq!(inodes.len(), 7);
        describe_namespaces(-1, &mut |_| panic!());
    }

    #[test]
    fn a_hierarchy_of_events_comes_before_version_2() {
        let second = "cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0\n";
        let first = "cgroup /sys/fs/cgroup/perf_event cgroup rw,perf_event 0 0\n";
        let other = "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n";
        let root = |mounts: &[&str]| mount_in(&mounts.concat());
        assert_eq!(root(&["odd\n", other]), None);
        let unified = Path::new("/sys/fs/cgroup/unified");
        assert_eq!(root(&[other, second]).as_deref(), Some(unified));
        let of_events = Path::new("/sys/fs/cgroup/perf_event");
        assert_eq!(root(&[second, first]).as_deref(), Some(of_events));
    }
}
