//! The one place for percentages.

use std::fmt;

/// A share in percent. Shown with any number of decimals, it is 100 only where nothing is missing.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Percent(pub f64);

/// `part` of `whole`; 0 of nothing is 0.
#[expect(
    clippy::cast_precision_loss,
    reason = "percentages are shown with two decimals"
)]
pub fn percent(part: u64, whole: u64) -> Percent {
    Percent(match (part, whole) {
        (_, 0) => 0.0,
        // Large numbers that differ by little are the same as floating point.
        _ if part == whole => 100.0,
        _ => 100.0 * part as f64 / whole as f64,
    })
}

impl Percent {
    /// Decimals that are shown unless others are asked for.
    const DECIMALS: usize = 2;
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = f.precision().unwrap_or(Self::DECIMALS);
        let width = f.width().unwrap_or(0);
        let below_all = 100.0 - 0.1_f64.powi(i32::try_from(decimals).unwrap_or(i32::MAX));
        let shown = match self.0 {
            share if share < 100.0 => share.min(below_all),
            share => share,
        };
        write!(f, "{shown:width$.decimals$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_nothing_is_zero() {
        assert_eq!(percent(0, 0), Percent(0.0));
        assert_eq!(percent(1, 8), Percent(12.5));
    }

    #[test]
    fn all_is_said_only_of_all() {
        assert_eq!(percent(7, 7).to_string(), "100.00");
        assert_eq!(percent(99_999, 100_000).to_string(), "99.99");
        assert_eq!(format!("{:.1}", percent(99_999, 100_000)), "99.9");
        assert_eq!(format!("{:.0}", percent(999, 1000)), "99");
        assert_eq!(format!("{:.1}", percent(9994, 10_000)), "99.9");
        assert_eq!(percent(2, 3).to_string(), "66.67");
        assert_eq!(
            format!("{:>7.2}|{:6.1}", percent(1, 3), percent(1, 1)),
            "  33.33| 100.0"
        );
        assert_eq!(percent(3, 2).to_string(), "150.00");
    }
}
