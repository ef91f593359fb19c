//! Samples that could not be used.

use rprof_base::Counted;
use rprof_perfdata::Warning;

/// What could not be used of the samples of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IgnoredSamples {
    /// Samples that could not be decoded.
    pub(crate) n_bad: u64,
    /// Samples whose user chain was to come later and never did.
    pub(crate) n_unjoined: u64,
    /// Counter values of events that the file does not list.
    pub(crate) n_unknown: u64,
}

impl IgnoredSamples {
    pub(crate) fn add(&mut self, other: Self) {
        self.n_bad += other.n_bad;
        self.n_unjoined += other.n_unjoined;
        self.n_unknown += other.n_unknown;
    }

    /// What to say of it.
    pub fn warnings(self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.n_bad > 0 {
            let records = self.n_bad;
            warnings.push(Warning::Undecodable { records }.to_string());
        }
        if self.n_unknown > 0 {
            warnings.push(format!(
                "{}",
                Counted::new(
                    self.n_unknown,
                    "counter value of an event that the file does not list was ignored",
                    "counter values of events that the file does not list were ignored"
                )
            ));
        }
        if self.n_unjoined > 0 {
            warnings.push(format!(
                "{}: the kernel deferred it until the thread returned to user space, and did not \
                 record it",
                Counted::new(
                    self.n_unjoined,
                    "sample lacks the user part of its stack",
                    "samples lack the user part of their stack"
                )
            ));
        }
        warnings
    }
}
