//! How long spans of threads' time took.

use rprof_untrusted::Untrusted;

/// The spans of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanTimes {
    /// Their name.
    pub name: Untrusted<String>,
    /// How long each took that ended, nanoseconds; ascending.
    ns: Vec<u64>,
    /// How many had not ended.
    pub n_open: u64,
}

impl SpanTimes {
    /// Of durations in any order.
    pub fn new(name: Untrusted<String>, mut ns: Vec<u64>, n_open: u64) -> Self {
        ns.sort_unstable();
        Self { name, ns, n_open }
    }

    /// How many ended.
    pub fn n(&self) -> u64 {
        self.ns.len() as u64
    }

    /// All of them together, nanoseconds.
    pub fn total_ns(&self) -> u64 {
        self.ns.iter().fold(0, |sum, &ns| sum.saturating_add(ns))
    }

    /// The mean, nanoseconds; 0 without any.
    pub fn mean_ns(&self) -> u64 {
        self.total_ns().checked_div(self.n()).unwrap_or(0)
    }

    /// What `percent` of them do not exceed, nanoseconds: one of them (the nearest rank); 0 without any.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank is at most as large as the number of spans"
    )]
    pub fn percentile_ns(&self, percent: f64) -> u64 {
        // 99 percent of 200 are 198, not a little more.
        let rank = (self.ns.len() as f64 * percent / 100.0 - 1e-9).ceil();
        let at = (rank as usize).saturating_sub(1);
        self.ns.get(at).or(self.ns.last()).copied().unwrap_or(0)
    }

    /// The longest, nanoseconds; 0 without any.
    pub fn max_ns(&self) -> u64 {
        self.ns.last().copied().unwrap_or(0)
    }

    /// Adds those of the same name in another recording.
    pub fn add(&mut self, other: &Self) {
        self.ns.extend_from_slice(&other.ns);
        self.ns.sort_unstable();
        self.n_open = self.n_open.saturating_add(other.n_open);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(ns: Vec<u64>) -> SpanTimes {
        SpanTimes::new(Untrusted::new("request".to_owned()), ns, 1)
    }

    #[test]
    fn percentiles_are_spans_and_exact() {
        let mut spans = times((1..=200).rev().collect());
        let percentiles = [50.0, 99.0, 99.5, 0.0].map(|percent| spans.percentile_ns(percent));
        assert_eq!(percentiles, [100, 198, 199, 1]);
        assert_eq!(
            (spans.n(), spans.max_ns(), spans.mean_ns()),
            (200, 200, 100)
        );
        spans.add(&times(vec![1000]));
        assert_eq!((spans.n(), spans.max_ns(), spans.n_open), (201, 1000, 2));
        let none = times(Vec::new());
        assert_eq!((none.percentile_ns(99.0), none.mean_ns()), (0, 0));
    }
}
