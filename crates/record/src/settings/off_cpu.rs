//! Time off the CPU.

use std::time::Duration;

/// How off-CPU time is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffCpu {
    /// Waits that last longer get their user stacks; zero for all.
    pub threshold: Duration,
}

impl Default for OffCpu {
    /// A millisecond.
    fn default() -> Self {
        Self {
            threshold: Duration::from_millis(1),
        }
    }
}
