//! Applying changes in order of time: what a fork inherits is what its parent had just then.

use crate::builder::Change;
use crate::ranges::{Range, Root};
use crate::timeline::{Comm, Timeline};
use crate::{History, Key};
use rustc_hash::FxHashMap;

/// Applies changes, sorted by moment, to an empty history.
pub(crate) fn apply(history: &mut History, changes: Vec<(Key, Change)>) {
    let mut comms: FxHashMap<Vec<u8>, Comm> = FxHashMap::default();
    for (key, change) in changes {
        match change {
            Change::Map {
                pid,
                start,
                end,
                pgoff,
                image,
            } => {
                let range = Range {
                    start,
                    end,
                    pgoff,
                    image,
                };
                let before = history.root_of(pid);
                let after = history.ranges.insert(before, range);
                history.set_root(key, pid, after);
            }
            Change::KernelMap { start, end, image } => {
                let range = Range {
                    start,
                    end,
                    pgoff: start,
                    image,
                };
                let before = history.kernel.last().unwrap_or_default();
                let after = history.ranges.insert(before, range);
                history.kernel.push(key, after);
            }
            Change::KernelUnmap { start, end } => {
                let before = history.kernel.last().unwrap_or_default();
                let after = history.ranges.remove(before, start, end);
                history.kernel.push(key, after);
            }
            Change::Comm {
                pid,
                tid,
                name,
                exec,
            } => {
                let next = Comm(u32::try_from(comms.len()).unwrap_or(u32::MAX));
                let names = &mut history.names;
                let comm = *comms.entry(name).or_insert_with_key(|name| {
                    names.push(name.clone());
                    next
                });
                history.comms.entry(tid).or_default().push(key, comm);
                if exec {
                    history.set_root(key, pid, Root::default());
                }
            }
            Change::Fork {
                pid,
                ppid,
                tid,
                ptid,
                inherits,
            } => {
                if pid != ppid {
                    let root = if inherits {
                        history.root_of(ppid)
                    } else {
                        Root::default()
                    };
                    history.set_root(key, pid, root);
                }
                let parent = [ptid, ppid]
                    .into_iter()
                    .find_map(|id| history.comms.get(&id)?.last());
                if let Some(comm) = parent {
                    history.comms.entry(tid).or_default().push(key, comm);
                }
            }
        }
    }
}

impl History {
    fn root_of(&self, pid: i32) -> Root {
        let timeline = self.processes.get(&pid);
        timeline.and_then(Timeline::last).unwrap_or_default()
    }

    fn set_root(&mut self, key: Key, pid: i32, root: Root) {
        let timeline = self.processes.entry(pid).or_default();
        if timeline.last() != Some(root) {
            timeline.push(key, root);
        }
    }
}
