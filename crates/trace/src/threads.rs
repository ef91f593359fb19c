//! The calls of each thread, added up.

use crate::stacks::CallStackId;
use foldhash::HashMap;
use rprof_syscalls::{Syscall, SyscallId, SyscallTotals};

/// Threads with their calls.
#[derive(Debug)]
pub(crate) struct CallingThreads {
    pub(crate) all: Vec<CallingThread>,
    /// The threads that have not ended, by id: their processes and rows.
    living: HashMap<i32, (i32, usize)>,
    /// Whether calls are added up. Else a row is used again when its thread has ended.
    has_totals: bool,
    unused: Vec<usize>,
    /// The row of all threads that there is no room for, once there is one.
    others: Option<usize>,
    limits: CallLimits,
    /// Kinds of calls of all threads, and stacks of all kinds.
    n_kinds: usize,
    n_stacks: usize,
}

/// A thread: an id that is used again is another one.
#[derive(Debug)]
pub(crate) struct CallingThread {
    /// `None` for all that there is no room for.
    pub(crate) task: Option<(i32, i32)>,
    /// Number of its name as it was called at last.
    pub(crate) comm: u32,
    /// By number of the call; `None` for those that there is no room for.
    pub(crate) calls: HashMap<Option<SyscallId>, CallsOfKind>,
}

/// Calls with one number.
#[derive(Debug, Default)]
pub(crate) struct CallsOfKind {
    pub(crate) totals: SyscallTotals,
    /// By stack: how many, and how long all took, nanoseconds. `None` for those that there is no room for.
    pub(crate) stacks: HashMap<Option<CallStackId>, (u64, u64)>,
}

/// The number of no name.
pub(crate) const NO_COMM: u32 = u32::MAX;

/// How much is told apart. It is some hundred megabytes.
#[derive(Clone, Copy, Debug)]
struct CallLimits {
    threads: usize,
    kinds: usize,
    /// In a thread: kernels have fewer than 600.
    kinds_of_thread: usize,
    stacks: usize,
}

const LIMITS: CallLimits = CallLimits {
    threads: 1 << 18,
    kinds: 1 << 20,
    kinds_of_thread: 4096,
    stacks: 1 << 20,
};

impl CallingThreads {
    /// None yet. Calls are added up only if that is wanted.
    pub(crate) fn new(has_totals: bool) -> Self {
        Self {
            all: Vec::new(),
            living: HashMap::default(),
            has_totals,
            unused: Vec::new(),
            others: None,
            limits: LIMITS,
            n_kinds: 0,
            n_stacks: 0,
        }
    }

    /// Notes what a thread is called.
    pub(crate) fn name(&mut self, (pid, tid): (i32, i32), comm: u32) {
        let row = self.row(pid, tid);
        if let Some(thread) = self.all.get_mut(row)
            && thread.task.is_some()
        {
            thread.comm = comm;
        }
    }

    /// Adds a call; returns the row of its thread.
    pub(crate) fn add(&mut self, call: &Syscall<Option<CallStackId>>) -> usize {
        let row = self.row(call.pid, call.tid);
        if self.has_totals
            && let Some(thread) = self.all.get_mut(row)
        {
            let limits = &self.limits;
            let calls = &mut thread.calls;
            let has_room = calls.len() < limits.kinds_of_thread && self.n_kinds < limits.kinds;
            let id = Some(call.id).filter(|_| has_room || calls.contains_key(&Some(call.id)));
            let n_before = calls.len();
            let kind = calls.entry(id).or_default();
            kind.totals.add(call);
            if let Some(stack) = call.entry.as_ref().and_then(|entry| entry.stack) {
                let stacks = &mut kind.stacks;
                let has_room = self.n_stacks < limits.stacks;
                let stack = Some(stack).filter(|_| has_room || stacks.contains_key(&Some(stack)));
                let n_before = stacks.len();
                let (n, total_ns) = stacks.entry(stack).or_default();
                *n += 1;
                *total_ns = total_ns.saturating_add(call.ns().unwrap_or(0));
                self.n_stacks += stacks.len() - n_before;
            }
            self.n_kinds += calls.len() - n_before;
        }
        row
    }

    /// A thread has ended.
    pub(crate) fn end(&mut self, tid: i32) {
        if let Some((_, row)) = self.living.remove(&tid)
            && !self.has_totals
        {
            self.unused.push(row);
        }
    }

    fn row(&mut self, pid: i32, tid: i32) -> usize {
        match self.living.get(&tid) {
            Some(&(of_pid, row)) if of_pid == pid => return row,
            // Its end was not recorded.
            Some(_) => self.end(tid),
            None => {}
        }
        let thread = |task| CallingThread {
            task,
            comm: NO_COMM,
            calls: HashMap::default(),
        };
        let task = Some((pid, tid));
        let row = match self.unused.pop() {
            Some(row) => row,
            None if self.all.len() >= self.limits.threads || self.n_kinds >= self.limits.kinds => {
                let Self { all, others, .. } = self;
                return *others.get_or_insert_with(|| {
                    all.push(thread(None));
                    all.len() - 1
                });
            }
            None => {
                self.all.push(thread(task));
                self.all.len() - 1
            }
        };
        if let Some(reused) = self.all.get_mut(row) {
            *reused = thread(task);
        }
        self.living.insert(tid, (pid, row));
        row
    }
}

impl CallingThread {
    /// How many calls, and how many of them failed.
    pub(crate) fn n_calls(&self) -> (u64, u64) {
        let mut sums = (0u64, 0u64);
        for kind in self.calls.values() {
            sums.0 = sums.0.saturating_add(kind.totals.n());
            sums.1 = sums.1.saturating_add(kind.totals.n_errors);
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_syscalls::{SyscallEnd, SyscallResult};

    fn call(pid: i32, tid: i32, number: i64) -> Syscall<Option<CallStackId>> {
        Syscall {
            pid,
            tid,
            id: SyscallId::new(number, false),
            entry: None,
            end: SyscallEnd::Returned {
                time_ns: 1,
                result: SyscallResult(0),
            },
        }
    }

    #[test]
    fn an_id_of_another_process_is_another_thread() {
        let mut threads = CallingThreads::new(true);
        let rows = [(1, 9), (1, 9), (2, 9), (1, 9)].map(|(pid, tid)| {
            threads.name((pid, tid), 7);
            threads.add(&call(pid, tid, 0))
        });
        assert_eq!(rows, [0, 0, 1, 2]);
        assert_eq!(threads.all[0].n_calls(), (2, 0));
    }

    #[test]
    fn lines_remember_only_threads_that_live() {
        let mut threads = CallingThreads::new(false);
        for tid in 0..1000 {
            threads.name((tid, tid), 7);
            let row = threads.add(&call(tid, tid, 0));
            assert_eq!(threads.all[row].comm, 7);
            assert!(threads.all[row].calls.is_empty());
            threads.end(tid);
        }
        assert_eq!(threads.all.len(), 1);
    }

    #[test]
    fn what_has_no_room_is_added_up_together() {
        let mut threads = CallingThreads::new(true);
        threads.limits = CallLimits {
            threads: 2,
            kinds: 100,
            kinds_of_thread: 3,
            stacks: 0,
        };
        for tid in 0..5 {
            threads.name((tid, tid), 7);
            (0..10).for_each(|number| _ = threads.add(&call(tid, tid, number)));
        }
        assert_eq!(threads.all.len(), 3);
        assert_eq!((threads.all[2].task, threads.all[2].comm), (None, NO_COMM));
        let counts = threads.all.iter().map(|thread| thread.n_calls().0);
        assert_eq!(counts.collect::<Vec<_>>(), [10, 10, 30]);
        let others = &threads.all[0].calls[&None];
        assert_eq!((others.totals.n(), threads.all[0].calls.len()), (7, 4));
        // A number of any value is one that a file can have.
        threads.add(&call(0, 0, i64::MIN));
        assert_eq!(threads.all[0].calls[&None].totals.n(), 8);
        // Of all threads together.
        threads.limits.kinds = 0;
        threads.limits.threads = 100;
        threads.add(&call(77, 77, 0));
        assert_eq!(threads.all[2].n_calls().0, 31);
    }
}
