//! Noise for tests: seeded, so that it is the same each time.

use super::numbers::Numbers;

/// A stream of noise.
pub(crate) fn numbers(seed: u64) -> Numbers {
    Numbers::of(seed)
}

/// A number from the standard normal distribution: the sum of twelve uniform ones, less six.
pub(crate) fn normal(numbers: &mut Numbers) -> f64 {
    let uniform = |numbers: &mut Numbers| f64::from(numbers.below(1 << 30)) / f64::from(1 << 30);
    (0..12).map(|_| uniform(numbers)).sum::<f64>() - 6.0
}

/// A count from the Poisson distribution: how many uniform numbers can be multiplied (Knuth, The Art of Computer
/// Programming, 3.4.1).
pub(crate) fn counted(mean: f64, numbers: &mut Numbers) -> f64 {
    let least = (-mean).exp();
    let (mut count, mut product) = (0.0, 1.0);
    loop {
        product *= f64::from(numbers.below(1 << 30)) / f64::from(1 << 30);
        if product <= least {
            return count;
        }
        count += 1.0;
    }
}
