//! Threads that are off, and what is known of them.

use crate::drain::blocked::{BlockedThread, SampleOf};
use crate::drain::waited_files::Descriptor;

/// When the owner of an id last began and ended, in whatever order rings tell.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Life {
    pub(super) began_ns: u64,
    pub(super) ended_ns: u64,
}

impl Life {
    pub(super) fn has_ended_at(self, time_ns: u64) -> bool {
        (self.began_ns + 1..=time_ns).contains(&self.ended_ns)
    }
}

/// A thread that is off.
#[derive(Debug)]
pub(super) struct Held {
    /// When it was switched out.
    pub(super) time_ns: u64,
    pub(super) pid: i32,
    pub(super) event: usize,
    pub(super) switch: Switch,
    /// When it was first seen to run again.
    pub(super) runs_ns: Option<u64>,
    pub(super) stack: Option<ReadStack>,
}

/// How a thread was switched out.
#[derive(Debug)]
pub(super) enum Switch {
    /// It was sampled.
    Sample { record: Vec<u8>, sp: u64 },
    /// A record says so; a sample is made if the wait is long.
    Record(SampleOf),
}

/// A stack as it was read.
#[derive(Debug)]
pub(super) struct ReadStack {
    pub(super) bytes: Vec<u8>,
    /// Of a thread that was not sampled.
    pub(super) thread: Option<BlockedThread>,
    /// What it waits for.
    pub(super) waited: Option<Descriptor>,
    /// It was read by then.
    pub(super) until_ns: u64,
}
