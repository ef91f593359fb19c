//! Which samples of an event are kept, and what each of them then stands for.
//!
//! Periods are added up, and the sum is divided into intervals of one length. In each interval a place is drawn at
//! random, and the sample in which the sum passes it is kept and stands for the interval: stratified sampling, with one
//! draw a stratum. So every place of the sum has the same chance, and the expectation of every sum of kept periods is
//! the sum of all. As each interval has one place, the sum over an event is exact to one interval while their length
//! does not change. Places at equal distances (Madow, Ann. Math. Statist. 20, 1949) would need one draw in all, but
//! always meet the same part of a loop that takes as long as an interval.

use super::random::Numbers;

/// Decides sample by sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selection {
    /// What a kept sample stands for. Samples with a period of at least this are all kept as they are.
    interval: u64,
    /// How much of the interval has been counted, from 0 to 1.
    phase: f64,
    /// The place in it, from 0 to 1. Both stay the same when the interval changes: sums stay unbiased, provided that
    /// changes depend on what arrived, not on what was kept.
    place: f64,
    numbers: Numbers,
}

impl Selection {
    /// Keeps everything at first.
    pub(super) fn new(mut numbers: Numbers) -> Self {
        Self {
            interval: 0,
            phase: 0.0,
            place: numbers.share(),
            numbers,
        }
    }

    /// Takes a sample; `None` if it is dropped, else what it stands for.
    pub(super) fn take(&mut self, period: u64) -> Option<u64> {
        if period >= self.interval {
            return Some(period);
        }
        let before = self.phase;
        self.phase += self.expected_hits(period);
        let mut hits = u64::from(before <= self.place && self.place < self.phase);
        if self.phase >= 1.0 {
            self.phase -= 1.0;
            self.place = self.numbers.share();
            hits += u64::from(self.place < self.phase);
        }
        (hits > 0).then(|| self.interval.saturating_mul(hits))
    }

    /// In how many intervals a sample is expected to be the kept one, from 0 to 1. It can be that in two, if it
    /// reaches into the next.
    pub(super) fn expected_hits(&self, period: u64) -> f64 {
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

#[expect(clippy::cast_precision_loss, reason = "statistics are not exact")]
pub(super) fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With its first place in the middle of an interval of 8.
    fn selection() -> Selection {
        let mut selection = Selection::new(Numbers::with_seed(1));
        selection.place = 0.5;
        selection.interval = 8;
        selection
    }

    #[test]
    fn the_sample_that_passes_the_place_is_kept() {
        let mut selection = selection();
        let taken = [2, 1, 0, 1, 8, 900, 1, 1, 0, 1].map(|period| selection.take(period));
        let mut expected = [None; 10];
        expected[4..7].copy_from_slice(&[Some(8), Some(900), Some(8)]);
        assert_eq!(taken, expected);
    }

    #[test]
    fn phase_and_place_grow_with_the_interval() {
        let mut selection = selection();
        assert_eq!(selection.take(2), None);
        selection.set_interval(80);
        let taken = [19, 2, 38].map(|period| selection.take(period));
        assert_eq!(taken, [None, Some(80), None]);
    }

    #[test]
    fn each_interval_is_kept_once_and_two_may_meet_in_a_sample() {
        let mut selection = selection();
        let kept: Vec<u64> = (0..8000).map(|_| selection.take(5).unwrap_or(0)).collect();
        assert_eq!(kept.iter().sum::<u64>(), 5 * 8000);
        assert!([0, 8, 16].iter().all(|weight| kept.contains(weight)));
    }
}
