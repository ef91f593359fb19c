//! [`SyscallTotals`]: calls of one kind, added up.

use crate::{Syscall, SyscallEnd};
use rprof_base::Delays;

/// Calls, counted and added up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyscallTotals {
    /// Those that returned.
    pub n_returned: u64,
    /// Those of them that failed.
    pub n_errors: u64,
    /// Those without a return.
    pub n_unfinished: u64,
    /// How long those took of which both ends were recorded.
    pub times: Delays,
}

impl SyscallTotals {
    /// Adds a call.
    pub fn add<S>(&mut self, call: &Syscall<S>) {
        match call.end {
            SyscallEnd::Returned { time_ns, result } => {
                self.n_returned += 1;
                self.n_errors += u64::from(result.is_error());
                if let Some(ns) = call.ns() {
                    self.times.add(ns, time_ns);
                }
            }
            SyscallEnd::Unfinished(_) => self.n_unfinished += 1,
        }
    }

    /// All calls.
    pub fn n(&self) -> u64 {
        self.n_returned.saturating_add(self.n_unfinished)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SyscallEntry, SyscallId, SyscallResult, Unfinished};

    #[test]
    fn calls_are_added_up() {
        let mut totals = SyscallTotals::default();
        let entry = |time_ns| {
            Some(SyscallEntry {
                time_ns,
                args: [0; 6],
                stack: (),
            })
        };
        let returned = |time_ns, result| SyscallEnd::Returned {
            time_ns,
            result: SyscallResult(result),
        };
        let mut add = |entry, end| {
            totals.add(&Syscall {
                pid: 1,
                tid: 1,
                id: SyscallId {
                    number: 0,
                    is_32_bit: false,
                },
                entry,
                end,
            });
        };
        add(entry(10), returned(17, 3));
        add(entry(20), returned(21, -11));
        add(None, returned(30, 0));
        add(entry(40), SyscallEnd::Unfinished(Unfinished::ThreadEnded));
        let SyscallTotals {
            n_returned,
            n_errors,
            n_unfinished,
            times,
        } = totals;
        assert_eq!((n_returned, n_errors, n_unfinished), (3, 1, 1));
        assert_eq!((times.n, times.total_ns, times.max_ns), (2, 8, 7));
    }
}
