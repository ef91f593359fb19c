//! Execs that are not over: samples taken while the kernel loads a program still have the old one's
//! stack below the kernel's, so its mappings stay until the new program runs.

use crate::ranges::Root;
use crate::timeline::Key;
use foldhash::HashMap;

/// An exec of one process.
#[derive(Debug, Default)]
struct Exec {
    /// The mappings of the new program alone.
    new: Root,
    n_maps: u32,
    /// All is mapped, and the old mappings go at this moment, or with the next change before it.
    ends: Option<Key>,
}

impl Exec {
    fn ended(&self, pid: i32) -> Option<EndedExec> {
        Some(EndedExec {
            pid,
            since: self.ends?,
            root: self.new,
        })
    }
}

/// The kernel maps the program, its loader and then the vdso. Where there is no vdso, this many
/// mappings of code show that the loader runs.
const MAX_MAPS: u32 = 6;

/// From the vdso's mapping to the first instruction takes microseconds.
const START_NS: u64 = 1_000_000;

/// By process.
#[derive(Debug, Default)]
pub(crate) struct Execs(HashMap<i32, Exec>);

/// An exec that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndedExec {
    /// The process.
    pub(crate) pid: i32,
    /// Since when the new program runs.
    pub(crate) since: Key,
    /// Its mappings.
    pub(crate) root: Root,
}

/// What a mapping does to an exec.
pub(crate) enum Loaded {
    /// The program is still being loaded, or nothing is.
    Not,
    /// From now on only the new program's mappings count.
    Now(Root),
}

impl Execs {
    /// A process executes another program.
    pub(crate) fn begin(&mut self, pid: i32) {
        self.0.insert(pid, Exec::default());
    }

    /// Another process has this id now.
    pub(crate) fn forget(&mut self, pid: i32) {
        self.0.remove(&pid);
    }

    /// If a program was loaded before a change at this moment.
    pub(crate) fn end_before(&mut self, pid: i32, key: Key) -> Option<EndedExec> {
        let ends = self.0.get(&pid)?.ends?;
        let exec = self.0.remove(&pid)?;
        Some(EndedExec {
            pid,
            since: ends.min(key),
            root: exec.new,
        })
    }

    /// Those that are over by a moment.
    pub(crate) fn end_until(&mut self, until: Key) -> Vec<EndedExec> {
        let all = self.0.iter();
        let ended = all.filter_map(|(&pid, exec)| exec.ended(pid));
        let ended: Vec<_> = ended.filter(|exec| exec.since <= until).collect();
        for exec in &ended {
            self.0.remove(&exec.pid);
        }
        ended
    }

    /// Notes a mapping of a program that is being loaded; `insert` adds it to a set.
    pub(crate) fn mapped(
        &mut self,
        pid: i32,
        key: Key,
        is_vdso: bool,
        insert: impl FnOnce(Root) -> Root,
    ) -> Loaded {
        let Some(exec) = self.0.get_mut(&pid) else {
            return Loaded::Not;
        };
        exec.new = insert(exec.new);
        exec.n_maps += 1;
        if is_vdso && key.time_ns > 0 {
            exec.ends = Some(Key {
                time_ns: key.time_ns.saturating_add(START_NS),
                ..key
            });
        } else if is_vdso || exec.n_maps == MAX_MAPS {
            let new = exec.new;
            self.0.remove(&pid);
            return Loaded::Now(new);
        }
        Loaded::Not
    }

    /// The mappings of all programs that are being loaded.
    pub(crate) fn roots_mut(&mut self) -> impl Iterator<Item = &mut Root> {
        self.0.values_mut().map(|exec| &mut exec.new)
    }

    /// Those that are over when the recording is.
    pub(crate) fn finish(self) -> impl Iterator<Item = EndedExec> {
        let all = self.0.into_iter();
        all.filter_map(|(pid, exec)| exec.ended(pid))
    }
}
