//! The one place for percentages.

/// `part` of `whole` in percent; 0 of nothing is 0.
#[expect(
    clippy::cast_precision_loss,
    reason = "percentages are shown with two decimals"
)]
pub fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    100.0 * part as f64 / whole as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_nothing_is_zero() {
        assert!(percent(0, 0).abs() < f64::EPSILON);
        assert!((percent(1, 8) - 12.5).abs() < f64::EPSILON);
    }
}
