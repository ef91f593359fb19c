//! Where and when samples are missing.

/// What is missing of one CPU, thread or second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Records that were lost.
    pub lost: u64,
    /// How often the kernel stopped an event because it sampled too often.
    pub throttles: u64,
    /// For how long, nanoseconds.
    pub throttled_ns: u64,
}

/// What is missing of a recording, as far as its records say it: LOST, THROTTLE, UNTHROTTLE. What is
/// lost at the end has no record, so the kernel's own count of losses may be larger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// By CPU.
    pub cpus: Vec<(u32, Gap)>,
    /// By the thread that ran, the worst first.
    pub threads: Vec<(i32, Gap)>,
    /// By second of the recording's clock, the worst first.
    pub seconds: Vec<(u64, Gap)>,
}

impl Gap {
    /// Adds what is missing elsewhere.
    pub fn add(&mut self, other: Self) {
        self.lost = self.lost.saturating_add(other.lost);
        self.throttles = self.throttles.saturating_add(other.throttles);
        self.throttled_ns = self.throttled_ns.saturating_add(other.throttled_ns);
    }

    /// How bad it is: by records, then by time.
    pub fn severity(&self) -> (u64, u64, u64) {
        (self.lost, self.throttled_ns, self.throttles)
    }
}
