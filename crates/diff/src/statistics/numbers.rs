//! SplitMix64: the same numbers on every machine. Steele, Lea, Flood: Fast splittable pseudorandom number generators,
//! OOPSLA 2014, figure 17.

/// A stream of pseudorandom numbers.
#[derive(Clone, Debug)]
pub(crate) struct Numbers(u64);

impl Numbers {
    /// The stream of a seed.
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound: the upper half of a product.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        let product = u128::from(self.next()) * u128::from(bound);
        u32::try_from(product >> 64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::Numbers;

    #[test]
    fn the_stream_is_that_of_the_paper() {
        let mut numbers = Numbers::of(1_234_567);
        let first = [numbers.next(), numbers.next(), numbers.next()];
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn all_numbers_below_a_bound_come_about_as_often() {
        let mut numbers = Numbers::of(1);
        let mut seen = [0; 7];
        for _ in 0..70_000 {
            seen[numbers.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|n| (9_500..10_500).contains(n)), "{seen:?}");
    }
}
