//! A stack that goes on after the end of its dump.

use rprof_ringbuf::sys::Clock;
use std::ops::Range;

/// A stack whose dump is too small.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TruncatedStack<'d> {
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    /// When the dump was made.
    pub(crate) time_ns: u64,
    /// The clock of that.
    pub(crate) clock: Clock,
    /// Where the dump begins (AVMA).
    pub(crate) start: u64,
    pub(crate) dump: &'d [u8],
}

impl TruncatedStack<'_> {
    /// Those of the dump (AVMA).
    pub(super) fn addresses(&self) -> Range<u64> {
        self.start..self.dump_end()
    }

    /// Where the dump ends (AVMA).
    pub(super) fn dump_end(&self) -> u64 {
        self.start.saturating_add(self.dump.len() as u64)
    }
}
