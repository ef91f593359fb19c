//! Which samples of an event are kept, and what each of them then stands for.
//!
//! Systematic sampling with probabilities proportional to size (Madow, Ann. Math. Statist. 20, 1949): periods are
//! added up, and each time that the sum passes another multiple of an interval, that sample is kept and stands for the
//! interval. The sum begins at a random place. So a sample is kept with the probability period / interval, whatever
//! came before: the expectation of every sum of kept periods is the sum of all, and the sum over an event is exact to
//! one interval while that does not change.

use std::hash::{BuildHasher, RandomState};

/// Decides sample by sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selection {
    /// What a kept sample stands for. Samples with a period of at least this are all kept as they are.
    interval: u64,
    /// How much of the interval has been counted, from 0 to 1. It stays the same when the interval changes: so it stays
    /// uniformly distributed, provided that changes depend on what arrived, not on what was kept.
    phase: f64,
}

impl Selection {
    /// Keeps everything at first. `phase` is from 0 to 1.
    pub(super) fn new(phase: f64) -> Self {
        Self { interval: 0, phase }
    }

    /// Takes a sample; `None` if it is dropped, else what it stands for.
    pub(super) fn take(&mut self, period: u64) -> Option<u64> {
        if period >= self.interval {
            return Some(period);
        }
        self.phase += self.probability(period);
        if self.phase < 1.0 {
            return None;
        }
        self.phase -= 1.0;
        Some(self.interval)
    }

    /// The probability that a sample is kept.
    pub(super) fn probability(&self, period: u64) -> f64 {
        if period >= self.interval {
            1.0
        } else {
            float(period) / float(self.interval)
        }
    }

    pub(super) fn interval(&self) -> u64 {
        self.interval
    }

    pub(super) fn set_interval(&mut self, interval: u64) {
        self.interval = interval;
    }
}

/// A random number from 0 to 1.
pub(super) fn random() -> f64 {
    const STEPS: u64 = 1 << 53;
    float(RandomState::new().hash_one(0) % STEPS) / float(STEPS)
}

#[expect(clippy::cast_precision_loss, reason = "statistics are not exact")]
pub(super) fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_kept_each_time_that_an_interval_is_full() {
        let mut selection = Selection::new(0.5);
        assert_eq!(
            [7, 0].map(|period| selection.take(period)),
            [Some(7), Some(0)]
        );
        selection.set_interval(8);
        let taken = [2, 1, 1, 7, 8, 900, 1].map(|period| selection.take(period));
        let expected = [None, None, Some(8), None, Some(8), Some(900), Some(8)];
        assert_eq!(taken, expected);
    }

    #[test]
    fn random_phases_differ_and_are_below_one() {
        let phases: Vec<f64> = (0..64).map(|_| random()).collect();
        assert!(phases.iter().all(|phase| (0.0..1.0).contains(phase)));
        assert!(phases.iter().any(|&phase| phase != phases[0]));
    }
}
