//! What one run says of its own noise: differences of blocks of time that follow each other.
//!
//! Programs have phases. How blocks differ from the mean is mostly that; how they differ from their neighbours is noise:
//! von Neumann, Ann. Math. Statist. 12, 1941. Noise that lasts longer than a block is seen where blocks are taken
//! together; the largest answer counts (Allan, Proc. IEEE 54, 1966).

use super::float;

/// At least as many blocks remain when they are taken together.
const FEWEST: usize = 16;

/// The variance of the sum of blocks.
pub(crate) fn variance_of_sum(blocks: &[f64]) -> f64 {
    let mut blocks = blocks.to_vec();
    let mut most = by_neighbours(&blocks);
    while blocks.len() >= 2 * FEWEST {
        blocks = blocks
            .chunks_exact(2)
            .map(|pair| pair[0] + pair[1])
            .collect();
        most = most.max(by_neighbours(&blocks));
    }
    most
}

fn by_neighbours(blocks: &[f64]) -> f64 {
    let pairs = blocks.windows(2);
    let n_pairs = pairs.len();
    let squares: f64 = pairs.map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    match n_pairs {
        0 => 0.0,
        _ => squares / (2.0 * float(n_pairs)) * float(blocks.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::variance_of_sum;

    #[test]
    fn phases_are_no_noise() {
        let flat = [10.0; 64];
        assert!(variance_of_sum(&flat) < 1e-12);
        let ramp: Vec<f64> = (0..64).map(f64::from).collect();
        let sum: f64 = ramp.iter().sum();
        // Its blocks differ from the mean by as much as the mean.
        assert!(variance_of_sum(&ramp).sqrt() / sum < 0.05);
    }

    #[test]
    fn noise_is() {
        let noisy: Vec<f64> = (0..64).map(|at| [9.0, 11.0][at % 2]).collect();
        let variance = variance_of_sum(&noisy);
        assert!((variance - 2.0 * 64.0).abs() < 1e-9, "{variance}");
    }

    #[test]
    fn of_one_block_nothing_is_known() {
        assert!(variance_of_sum(&[5.0]) < 1e-12);
        assert!(variance_of_sum(&[]) < 1e-12);
    }
}
