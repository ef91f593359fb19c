//! [`Delays`]: how long something took, many times.

use std::collections::BTreeMap;

/// How often something took how long: sums and the longest are exact, percentiles within 1/64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// How many.
    pub n: u64,
    /// All together, nanoseconds.
    pub total_ns: u64,
    /// The longest, nanoseconds.
    pub max_ns: u64,
    /// When the longest ended, nanoseconds.
    pub max_end_ns: u64,
    /// By [`bucket`]: only those that have any.
    buckets: BTreeMap<u16, u64>,
}

/// Bits of a number that are kept: buckets are within 1/32 of each other, so their middle is within 1/64.
const BITS: u32 = 5;

impl Delays {
    /// Adds one that ended at `end_ns`.
    pub fn add(&mut self, ns: u64, end_ns: u64) {
        self.n += 1;
        self.total_ns = self.total_ns.saturating_add(ns);
        if ns > self.max_ns {
            (self.max_ns, self.max_end_ns) = (ns, end_ns);
        }
        *self.buckets.entry(bucket(ns)).or_default() += 1;
    }

    /// Adds all of others.
    pub fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        if other.max_ns > self.max_ns {
            (self.max_ns, self.max_end_ns) = (other.max_ns, other.max_end_ns);
        }
        for (&bucket, n) in &other.buckets {
            *self.buckets.entry(bucket).or_default() += n;
        }
    }

    /// The mean, nanoseconds; 0 without any.
    pub fn mean_ns(&self) -> u64 {
        self.total_ns.checked_div(self.n).unwrap_or(0)
    }

    /// What `percent` of all do not exceed, nanoseconds; 0 without any.
    pub fn percentile_ns(&self, percent: u64) -> u64 {
        let wanted = (self.n.saturating_mul(percent)).div_ceil(100).max(1);
        if wanted >= self.n {
            return self.max_ns;
        }
        let mut n = 0;
        for (&bucket, count) in &self.buckets {
            n += count;
            if n >= wanted {
                return middle(bucket).min(self.max_ns);
            }
        }
        self.max_ns
    }
}

/// Numbers below `2^BITS` each have one of their own, larger ones share it by their highest bits.
fn bucket(ns: u64) -> u16 {
    let shift = (u64::BITS - ns.leading_zeros()).saturating_sub(BITS + 1);
    let bucket = (u64::from(shift) << BITS) + (ns >> shift);
    u16::try_from(bucket).unwrap_or(u16::MAX)
}

/// The middle of a bucket.
fn middle(bucket: u16) -> u64 {
    let bucket = u64::from(bucket);
    let shift = (bucket >> BITS).saturating_sub(1);
    let first = (bucket - (shift << BITS)) << shift;
    first + ((1 << shift) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{prop_assert, proptest};

    proptest! {
        #[test]
        fn a_buckets_middle_is_near(ns: u64) {
            let middle = middle(bucket(ns));
            prop_assert!(middle.abs_diff(ns) <= ns / 64 + 1, "{ns} -> {middle}");
        }
    }

    #[test]
    fn percentiles_are_those_of_all() {
        let mut delays = Delays::default();
        (1..=1000).for_each(|n| delays.add(n * 1000, n));
        let near = |percent, ns: u64| delays.percentile_ns(percent).abs_diff(ns) <= ns / 64;
        assert!(near(50, 500_000) && near(99, 990_000));
        assert_eq!(delays.percentile_ns(100), 1_000_000);
        assert_eq!((delays.max_ns, delays.max_end_ns), (1_000_000, 1000));
        assert_eq!(delays.mean_ns(), 500_500);
        let mut all = Delays::default();
        all.merge(&delays);
        assert_eq!(all, delays);
        assert_eq!(Delays::default().percentile_ns(99), 0);
    }
}
