//! The times of a profile.

use rprof_profile::SampledProfile;

/// Times count from the first thing that is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
}

impl Clock {
    pub(super) fn of(sampled: &SampledProfile) -> Self {
        let threads = sampled.threads.iter();
        let losses = sampled.losses.iter().map(|loss| loss.time_ns);
        let starts = threads.clone().map(|thread| thread.start_ns);
        let ends = threads.map(|thread| thread.end_ns);
        Self {
            start_ns: starts.chain(losses.clone()).min().unwrap_or(0),
            end_ns: ends.chain(losses).max().unwrap_or(0),
        }
    }

    /// Nanoseconds from the start.
    pub(super) fn since(self, time_ns: u64) -> u64 {
        time_ns.saturating_sub(self.start_ns)
    }
}
