//! Execs that are not over: samples taken while the kernel loads a program still have the old one's
//! stack below the kernel's, so its mappings stay until the new program runs.

use crate::ranges::{Range, Root};
use crate::timeline::Owner;
use crate::{History, ImageId, Key};
use rustc_hash::FxHashMap;

/// An exec of one process.
#[derive(Default)]
struct Exec {
    /// The mappings of the new program alone.
    new: Root,
    n_maps: u32,
    /// All is mapped, and the old mappings go at this moment, or with the next change before it.
    ends: Option<Key>,
}

/// The kernel maps the program, its loader and then the vdso; where there is none, so many
/// mappings of code are the loader's doing.
const MAX_MAPS: u32 = 6;

/// From the vdso's mapping to the first instruction takes microseconds.
const START_NS: u64 = 1_000_000;

/// By process.
pub(crate) struct Execs {
    running: FxHashMap<i32, Exec>,
    vdso: Option<ImageId>,
}

impl Execs {
    pub(crate) fn new(vdso: Option<ImageId>) -> Self {
        Self {
            running: FxHashMap::default(),
            vdso,
        }
    }

    /// A process executes another program.
    pub(crate) fn begin(&mut self, history: &mut History, key: Key, pid: i32) {
        self.before(history, key, Owner::Process(pid));
        self.running.insert(pid, Exec::default());
    }

    /// The mappings that a change at this moment finds; ends an exec whose program runs by now.
    pub(crate) fn before(&mut self, history: &mut History, key: Key, owner: Owner) -> Root {
        if let Owner::Process(pid) = owner
            && let Some(exec) = self.running.get(&pid)
            && let Some(ends) = exec.ends
        {
            history.set_root(ends.min(key), owner, exec.new);
            self.running.remove(&pid);
        }
        history.root_of(owner)
    }

    /// Notes a mapping of a program that is being loaded. Returns what is mapped from then on, if
    /// that is the new program alone.
    pub(crate) fn mapped(
        &mut self,
        history: &mut History,
        key: Key,
        pid: i32,
        range: Range,
    ) -> Option<Root> {
        let exec = self.running.get_mut(&pid)?;
        exec.new = history.ranges.insert(exec.new, range);
        exec.n_maps += 1;
        let new = exec.new;
        if Some(range.image) == self.vdso && key.time_ns > 0 {
            exec.ends = Some(Key {
                time_ns: key.time_ns.saturating_add(START_NS),
                ..key
            });
        } else if exec.n_maps == MAX_MAPS || Some(range.image) == self.vdso {
            self.running.remove(&pid);
            return Some(new);
        }
        None
    }

    /// Another process has this id now.
    pub(crate) fn forget(&mut self, pid: i32) {
        self.running.remove(&pid);
    }

    /// Ends those that are over.
    pub(crate) fn end(self, history: &mut History) {
        for (pid, exec) in self.running {
            if let Some(ends) = exec.ends {
                history.set_root(ends, Owner::Process(pid), exec.new);
            }
        }
    }
}
