//! Pseudo-random numbers that nobody can guess from outside, and that tests can repeat.

use super::selection::float;
use std::hash::{BuildHasher, RandomState};

/// A stream of them (Steele, Lea, Flood: SplitMix64, 2014).
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers(u64);

impl Numbers {
    /// Another stream each time.
    pub(super) fn unpredictable() -> Self {
        Self(RandomState::new().hash_one(0))
    }

    #[cfg(test)]
    pub(super) fn with_seed(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The next one, from 0 to below 1.
    pub(super) fn share(&mut self) -> f64 {
        float(self.next() >> 11) / float(1 << 53)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_and_shares_are_below_one() {
        let shares: Vec<f64> = (0..64).map(|_| Numbers::unpredictable().share()).collect();
        assert!(shares.iter().all(|share| (0.0..1.0).contains(share)));
        assert!(shares.iter().any(|&share| share != shares[0]));
    }
}
