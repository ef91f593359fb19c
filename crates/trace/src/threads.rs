//! The calls of each thread, added up.

use crate::stacks::CallStackId;
use foldhash::HashMap;
use rprof_syscalls::{Syscall, SyscallId, SyscallTotals};

/// Threads with their calls.
#[derive(Debug, Default)]
pub(crate) struct CallingThreads {
    pub(crate) all: Vec<CallingThread>,
    /// The rows of threads that have not ended, by id.
    living: HashMap<i32, usize>,
}

/// A thread: an id that is used again is another one.
#[derive(Debug)]
pub(crate) struct CallingThread {
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    /// Number of its name as it was called at last.
    pub(crate) comm: u32,
    pub(crate) calls: HashMap<SyscallId, CallsOfKind>,
}

/// Calls with one number.
#[derive(Debug, Default)]
pub(crate) struct CallsOfKind {
    pub(crate) totals: SyscallTotals,
    /// By stack: how many, and how long all took, nanoseconds.
    pub(crate) stacks: HashMap<CallStackId, (u64, u64)>,
}

/// Numbers of calls that are told apart in a thread: kernels have fewer than 600.
const MOST_KINDS: usize = 4096;

/// Stands for more.
pub(crate) const OTHER_KINDS: SyscallId = SyscallId {
    number: i64::MIN,
    is_32_bit: false,
};

impl CallingThreads {
    /// Notes what a thread is called.
    pub(crate) fn name(&mut self, (pid, tid): (i32, i32), comm: u32) {
        let row = self.row(pid, tid);
        self.all[row].comm = comm;
    }

    /// Adds a call; returns the row of its thread.
    pub(crate) fn add(&mut self, call: &Syscall<Option<CallStackId>>) -> usize {
        let row = self.row(call.pid, call.tid);
        let calls = &mut self.all[row].calls;
        let id = if calls.len() < MOST_KINDS || calls.contains_key(&call.id) {
            call.id
        } else {
            OTHER_KINDS
        };
        let kind = calls.entry(id).or_default();
        kind.totals.add(call);
        if let Some(stack) = call.entry.as_ref().and_then(|entry| entry.stack) {
            let (n, total_ns) = kind.stacks.entry(stack).or_default();
            *n += 1;
            *total_ns = total_ns.saturating_add(call.ns().unwrap_or(0));
        }
        row
    }

    /// A thread has ended.
    pub(crate) fn end(&mut self, tid: i32) {
        self.living.remove(&tid);
    }

    fn row(&mut self, pid: i32, tid: i32) -> usize {
        let next = self.all.len();
        let row = *self.living.entry(tid).or_insert(next);
        if row == next {
            self.all.push(CallingThread {
                pid,
                tid,
                comm: u32::MAX,
                calls: HashMap::default(),
            });
        }
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
