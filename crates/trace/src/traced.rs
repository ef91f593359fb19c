//! What is known of the calls that were traced.

use crate::stacks::CallStacks;
use crate::threads::CallingThreads;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_syscalls::{SyscallId, SyscallNames};

/// Threads with their calls, and the texts that stand for numbers.
#[derive(Debug)]
pub(crate) struct TracedCalls {
    native: SyscallNames,
    of_32_bit: SyscallNames,
    /// Names of threads.
    pub(crate) comms: Interner<u32, String, RandomState>,
    pub(crate) stacks: CallStacks,
    pub(crate) threads: CallingThreads,
    /// The time of the first event, nanoseconds.
    pub(crate) first_ns: Option<u64>,
    /// That of the newest.
    pub(crate) newest_ns: u64,
}

impl TracedCalls {
    /// None yet.
    pub(crate) fn new(native: SyscallNames, of_32_bit: SyscallNames, has_totals: bool) -> Self {
        Self {
            native,
            of_32_bit,
            comms: Interner::default(),
            stacks: CallStacks::default(),
            threads: CallingThreads::new(has_totals),
            first_ns: None,
            newest_ns: 0,
        }
    }

    /// The names of a task's system calls.
    pub(crate) fn names(&self, id: SyscallId) -> &SyscallNames {
        if id.is_32_bit {
            &self.of_32_bit
        } else {
            &self.native
        }
    }

    /// From the first event to the last, nanoseconds.
    pub(crate) fn len_ns(&self) -> u64 {
        self.newest_ns
            .saturating_sub(self.first_ns.unwrap_or(self.newest_ns))
    }
}
