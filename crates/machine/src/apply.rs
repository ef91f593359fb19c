//! Applying changes in order of time: what a fork inherits is what its parent had just then.

use crate::builder::Change;
use crate::ranges::Root;
use crate::timeline::{Comm, Owner, Timeline};
use crate::{History, Key};
use rustc_hash::FxHashMap;

/// An exec that is not over: the stack below the kernel's is still the old program's, so its
/// mappings stay until the new ones are complete.
#[derive(Default)]
struct Exec {
    /// The mappings of the new program alone.
    new: Root,
    n_maps: u32,
}

impl Exec {
    /// The kernel maps the program, its loader and then the vdso; where there is none, this many
    /// mappings of code are the loader's doing.
    const MAX_MAPS: u32 = 6;
}

/// Applies changes, sorted by moment, to an empty history.
pub(crate) fn apply(history: &mut History, changes: Vec<(Key, Change)>) {
    let mut in_exec: FxHashMap<i32, Exec> = FxHashMap::default();
    let vdso = history.images.named(b"[vdso]");
    for (key, change) in changes {
        match change {
            Change::Map { owner, range } => {
                let mut after = history.root_of(owner);
                after = history.ranges.insert(after, range);
                if let Owner::Process(pid) = owner
                    && let Some(exec) = in_exec.get_mut(&pid)
                {
                    exec.new = history.ranges.insert(exec.new, range);
                    exec.n_maps += 1;
                    if exec.n_maps == Exec::MAX_MAPS || Some(range.image) == vdso {
                        after = exec.new;
                        in_exec.remove(&pid);
                    }
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
                    in_exec.insert(pid, Exec::default());
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
                    in_exec.remove(&pid);
                    let root = match inherits {
                        true => history.root_of(Owner::Process(ppid)),
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
}

impl History {
    fn root_of(&self, owner: Owner) -> Root {
        let timeline = self.spaces.get(&owner);
        timeline.and_then(Timeline::last).unwrap_or_default()
    }

    fn set_root(&mut self, key: Key, owner: Owner, root: Root) {
        self.spaces.entry(owner).or_default().set(key, root);
    }

    fn set_kernel(&mut self, key: Key, root: Root) {
        self.kernel.set(key, root);
    }

    fn set_comm(&mut self, key: Key, tid: i32, comm: Comm) {
        self.comms.entry(tid).or_default().set(key, comm);
    }
}
