//! Applying changes in order of time: what a fork inherits is what its parent had just then.

use crate::builder::Change;
use crate::exec::Execs;
use crate::ranges::Root;
use crate::timeline::{Comm, Owner, Timeline};
use crate::{History, Key};

/// Applies changes, sorted by moment, to an empty history.
pub(crate) fn apply(history: &mut History, changes: Vec<(Key, Change)>) {
    let mut execs = Execs::new(history.images.named(b"[vdso]"));
    for (key, change) in changes {
        match change {
            Change::Map { owner, range } => {
                let before = execs.before(history, key, owner);
                let mut after = history.ranges.insert(before, range);
                if let Owner::Process(pid) = owner {
                    after = execs.mapped(history, key, pid, range).unwrap_or(after);
                }
                history.set_root(key, owner, after);
            }
            Change::KernelMap(range) => {
                let before = history.kernel.last().unwrap_or_default();
                let after = history.ranges.insert(before, range);
                history.set_kernel(key, after);
            }
            Change::KernelUnmap { start, end } => {
                let before = history.kernel.last().unwrap_or_default();
                let after = history.ranges.remove(before, start, end);
                history.set_kernel(key, after);
            }
            Change::Comm {
                pid,
                tid,
                comm,
                exec,
            } => {
                history.set_comm(key, tid, comm);
                if exec {
                    execs.begin(history, key, pid);
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
                    execs.forget(pid);
                    let root = match inherits {
                        true => execs.before(history, key, Owner::Process(ppid)),
                        false => Root::default(),
                    };
                    history.set_root(key, Owner::Process(pid), root);
                }
                let parent = [ptid, ppid]
                    .into_iter()
                    .find_map(|id| history.comms.get(&id)?.last());
                if let Some(comm) = parent {
                    history.set_comm(key, tid, comm);
                }
            }
        }
    }
    execs.end(history);
}

impl History {
    pub(crate) fn root_of(&self, owner: Owner) -> Root {
        let timeline = self.spaces.get(&owner);
        timeline.and_then(Timeline::last).unwrap_or_default()
    }

    pub(crate) fn set_root(&mut self, key: Key, owner: Owner, root: Root) {
        self.spaces.entry(owner).or_default().set(key, root);
    }

    fn set_kernel(&mut self, key: Key, root: Root) {
        self.kernel.set(key, root);
    }

    fn set_comm(&mut self, key: Key, tid: i32, comm: Comm) {
        self.comms.entry(tid).or_default().set(key, comm);
    }
}
