//! False discoveries bounded over many tests: Benjamini, Hochberg: Controlling the false discovery rate, J. R. Statist.
//! Soc. B 57, 1995.

/// For each p-value, the smallest bound on false discoveries at which it is one.
pub(crate) fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[b].total_cmp(&p_values[a]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut least: f64 = 1.0;
    for (above, &at) in order.iter().enumerate() {
        let all = super::float(p_values.len());
        let rank = super::float(p_values.len() - above);
        least = least.min(p_values[at] * all / rank);
        adjusted[at] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::adjusted;

    #[test]
    fn values_are_those_of_the_paper() {
        // Section 3.3: four of fifteen are rejected at 0.05.
        let values = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.000,
        ];
        let found = adjusted(&values);
        assert_eq!(found.iter().filter(|&&one| one <= 0.05).count(), 4);
        assert!((found[0] - 0.0015).abs() < 1e-12);
        assert!(found.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn of_one_test_it_is_its_own() {
        assert_eq!(adjusted(&[0.03]), [0.03]);
        assert!(adjusted(&[]).is_empty());
    }
}
