//! Which part of the time of threads is counted.

use crate::EventKind;

/// Which part of the time of threads is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Account {
    /// Samples as they were recorded: most are of time on a CPU.
    #[default]
    OnCpu,
    /// Time off the CPU: waits, from one context switch to another.
    OffCpu,
    /// Both; weights are nanoseconds.
    Wall,
}

/// The time that an account counts, nanoseconds of the recording's clock, whatever its records are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedTime {
    /// From then on. What was before has been counted.
    pub since_ns: u64,
    /// Up to then, though it may have no record of it.
    pub until_ns: u64,
    /// Bytes of records at the beginning that say which waits went on then.
    pub waits_bytes: u64,
}

impl Account {
    /// The option that asks for it.
    pub const fn option(self) -> &'static str {
        match self {
            Self::OnCpu => "--on-cpu",
            Self::OffCpu => "--off-cpu",
            Self::Wall => "--wall",
        }
    }

    /// The event that its samples are of, and what that counts; `None` where these are the recorded ones. The name of
    /// time off the CPU is perf's.
    pub const fn event(self) -> Option<(&'static str, EventKind)> {
        match self {
            Self::OnCpu => None,
            Self::OffCpu => Some(("offcpu-time", EventKind::OffCpuTime)),
            Self::Wall => Some(("wall-time", EventKind::WallTime)),
        }
    }
}
