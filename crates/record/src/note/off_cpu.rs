//! How off-CPU time is recorded.

use std::fmt;

/// What tells when threads do not run, and why; the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffCpuMethod {
    /// `sched:sched_switch` and `sched:sched_waking`, for which `CAP_PERFMON` is needed.
    Tracepoints,
    /// The event `context-switches`, which the kernel lets those sample who may look into it, and SWITCH records.
    SwitchSamples,
    /// SWITCH records, which all may have.
    SwitchRecords,
}

impl fmt::Display for OffCpuMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tracepoints => "recording switches with stacks, and wake-ups",
            Self::SwitchSamples => "recording switches with stacks, but no wake-ups and states",
            Self::SwitchRecords => "recording only when threads run, not where and why they wait",
        })
    }
}
