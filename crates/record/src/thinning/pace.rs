//! How many samples may be kept: so many an hour on average, and not many more in a burst.
//!
//! What is decided here depends on what arrives, and never on which samples were kept: what counts is the expected
//! number of kept samples. Else not every place of an interval would have the same chance, and sums would be biased.

use super::selection::float;

/// Once in this time, intervals are fitted to the load.
const DECISION_NS: u64 = 1_000_000_000;

/// The load that is expected rises with it at once, and falls in this time, seconds.
const CALM_S: f64 = 10.0;

/// What was not kept may be kept later, up to the samples of this time, seconds.
const CREDIT_S: f64 = 10.0;

/// In this time, what was kept too much is made up for, and what was kept too little is spent, seconds.
const SETTLING_S: f64 = 10.0;

/// Even a recording of a second has a few samples.
const LEAST_CREDIT: f64 = 10.0;

/// How many samples may be kept.
#[derive(Debug)]
pub(super) struct Pace {
    per_second: f64,
    /// Samples that may be kept beside those of the pace; negative after a burst.
    credit: f64,
    /// Samples since intervals were last changed.
    since_change: f64,
    /// When intervals were last fitted.
    decided_ns: Option<u64>,
    loads: Vec<Load>,
}

/// What arrives of an event.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// Samples, and the sum of their periods, since the last decision.
    samples: u64,
    weight: u64,
    /// What is expected, per second.
    samples_per_s: f64,
    weight_per_s: f64,
}

impl Pace {
    pub(super) fn new(per_hour: u64, n_events: usize) -> Self {
        let per_second = float(per_hour) / 3600.0;
        Self {
            per_second,
            credit: most_credit(per_second),
            since_change: 0.0,
            decided_ns: None,
            loads: vec![Load::default(); n_events],
        }
    }

    /// Notes a sample of an event, with the number of kept ones that is expected of it. Returns whether far more are
    /// kept than may be: then its interval is to be doubled at once.
    pub(super) fn is_burst(&mut self, event: usize, period: u64, expected: f64) -> bool {
        if let Some(load) = self.loads.get_mut(event) {
            load.samples += 1;
            load.weight = load.weight.saturating_add(period);
        }
        self.credit -= expected;
        self.since_change += expected;
        let is_burst = self.since_change > most_credit(self.per_second) / 4.0;
        if is_burst {
            self.since_change = 0.0;
        }
        is_burst
    }

    /// The intervals of the events, if it is time to change them.
    pub(super) fn intervals(&mut self, now_ns: u64) -> Option<Vec<u64>> {
        let before_ns = *self.decided_ns.get_or_insert(now_ns);
        let passed_ns = now_ns.saturating_sub(before_ns);
        if passed_ns < DECISION_NS {
            return None;
        }
        self.decided_ns = Some(now_ns);
        self.since_change = 0.0;
        let passed_s = float(passed_ns) / 1e9;
        let credit = self.credit + self.per_second * passed_s;
        self.credit = credit.min(most_credit(self.per_second));
        for load in &mut self.loads {
            load.expect_more_of_it(passed_s, self.credit);
        }
        // Debts may last for long, but something is always kept.
        let fitted = self.per_second + self.credit / SETTLING_S;
        let least = self.per_second / 8.0;
        Some(self.divided(fitted.max(least)))
    }

    /// The intervals with which this many samples a second are kept. Events get equal parts; what one does not need is
    /// for the others.
    fn divided(&self, per_second: f64) -> Vec<u64> {
        let mut by_need: Vec<usize> = (0..self.loads.len()).collect();
        let need = |event: usize| self.loads.get(event).copied().unwrap_or_default();
        by_need.sort_by(|&a, &b| need(a).samples_per_s.total_cmp(&need(b).samples_per_s));
        let (mut left, mut n_left) = (per_second, self.loads.len());
        let mut intervals = vec![0; n_left];
        for event in by_need {
            let part = left / float(n_left as u64);
            let load = need(event);
            left -= load.samples_per_s.min(part);
            n_left -= 1;
            if load.samples_per_s > part
                && let Some(interval) = intervals.get_mut(event)
            {
                // Samples that all stand for nothing are dropped, too.
                *interval = whole(load.weight_per_s / part).max(1);
            }
        }
        intervals
    }
}

impl Load {
    /// Expects as much as there was just now, or a little less than before. While more was kept than may be, it expects
    /// no less.
    fn expect_more_of_it(&mut self, passed_s: f64, credit: f64) {
        let falls_by = if credit < 0.0 {
            0.0
        } else {
            1.0 - (-passed_s / CALM_S).exp()
        };
        let follow = |expected: &mut f64, now: f64| {
            *expected = now.max(*expected + (now - *expected) * falls_by);
        };
        follow(&mut self.samples_per_s, float(self.samples) / passed_s);
        follow(&mut self.weight_per_s, float(self.weight) / passed_s);
        (self.samples, self.weight) = (0, 0);
    }
}

fn most_credit(per_second: f64) -> f64 {
    (per_second * CREDIT_S).max(LEAST_CREDIT)
}

/// The next whole number; the largest one for what is larger.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts of floating-point numbers saturate"
)]
fn whole(number: f64) -> u64 {
    number.ceil() as u64
}
