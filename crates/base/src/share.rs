//! Parts of a whole, in percent: the one place for rounding them.

use std::fmt;

/// A part of a whole. Shown in percent with any number of decimals, it is rounded to the nearest, as perf does: 100
/// unless a digit that is shown says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Share {
    percent: f64,
}

impl Share {
    /// Decimals that are shown unless others are asked for.
    const DECIMALS: usize = 2;

    /// `part` of `whole`; 0 of nothing is 0.
    #[expect(
        clippy::cast_precision_loss,
        reason = "percentages are shown with two decimals"
    )]
    pub fn of(part: u64, whole: u64) -> Self {
        let percent = match (part, whole) {
            (_, 0) => 0.0,
            // Large numbers that differ by little are the same as floating point.
            _ if part == whole => 100.0,
            _ if part < whole => {
                let percent = 100.0 * part as f64 / whole as f64;
                percent.min(100.0_f64.next_down())
            }
            _ => 100.0 * part as f64 / whole as f64,
        };
        Self { percent }
    }

    /// A share of this percentage.
    pub const fn from_percent(percent: f64) -> Self {
        Self { percent }
    }

    /// How many percent it is.
    pub const fn percent(self) -> f64 {
        self.percent
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = f.precision().unwrap_or(Self::DECIMALS);
        let width = f.width().unwrap_or(0);
        let percent = self.percent;
        write!(f, "{percent:width$.decimals$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_nothing_is_zero() {
        assert_eq!(Share::of(0, 0), Share::from_percent(0.0));
        assert_eq!(Share::of(1, 8), Share::from_percent(12.5));
        assert!(Share::of(1, 8) < Share::from_percent(12.6));
        assert!((Share::of(3, 4).percent() - 75.0).abs() < 1e-9);
    }

    #[test]
    fn all_is_said_unless_a_digit_that_is_shown_says_otherwise() {
        assert_eq!(Share::of(7, 7).to_string(), "100.00");
        assert_eq!(Share::of(99_999, 100_000).to_string(), "100.00");
        assert_eq!(Share::of(99_994, 100_000).to_string(), "99.99");
        assert_eq!(format!("{:.1}", Share::of(99_999, 100_000)), "100.0");
        assert_eq!(format!("{:.1}", Share::of(9994, 10_000)), "99.9");
        assert_eq!(format!("{:.0}", Share::of(999, 1000)), "100");
        assert!(Share::of(u64::MAX - 1, u64::MAX) < Share::of(1, 1));
        assert_eq!(Share::of(2, 3).to_string(), "66.67");
        assert_eq!(
            format!("{:>7.2}|{:6.1}", Share::of(1, 3), Share::of(1, 1)),
            "  33.33| 100.0"
        );
        assert_eq!(Share::of(3, 2).to_string(), "150.00");
    }
}
