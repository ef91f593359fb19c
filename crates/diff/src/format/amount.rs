//! Amounts with their units, and changes of them: those of a column have one unit.

use super::trimmed;
use crate::per::Per;
use rprof_profile::EventKind;

/// The unit of changes that stand in one column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangeUnit {
    /// How much an amount of 1 of it is.
    size: f64,
    name: &'static str,
    /// Digits behind the point; `None` for numbers so small that each has an exponent.
    decimals: Option<usize>,
}

impl ChangeUnit {
    /// The one in which the largest change has four digits.
    pub(crate) fn of(changes: impl Iterator<Item = f64>, kind: EventKind) -> Self {
        const OF_TIME: &[(f64, &str)] = &[(1e9, " s"), (1e6, " ms"), (1e3, " us"), (1.0, " ns")];
        const OF_COUNTS: &[(f64, &str)] = &[(1.0, "")];
        let units = if kind.is_time() { OF_TIME } else { OF_COUNTS };
        let changes = changes.map(f64::abs).filter(|change| change.is_finite());
        let largest = changes.fold(0.0, f64::max);
        let unit = units.iter().find(|(size, _)| largest >= *size);
        let (size, name) = unit.or(units.last()).copied().unwrap_or((1.0, ""));
        let decimals = match largest / size {
            1000.0.. => Some(0),
            100.0.. => Some(1),
            10.0.. => Some(2),
            0.01.. | 0.0 => Some(3),
            _ => None,
        };
        Self {
            size,
            name,
            decimals,
        }
    }

    /// A change with its sign; what is rounded to zero has none.
    pub(crate) fn text(self, change: f64) -> String {
        let Self {
            size,
            name,
            decimals,
        } = self;
        let number = change.abs() / size;
        let number = match decimals {
            Some(decimals) => format!("{number:.decimals$}"),
            None if number > 0.0 => format!("{number:.3e}"),
            None => "0".to_owned(),
        };
        let is_zero = number.bytes().all(|digit| matches!(digit, b'0' | b'.'));
        let sign = match change {
            _ if is_zero => "",
            ..0.0 => "-",
            _ => "+",
        };
        format!("{sign}{number}{name}")
    }
}

/// An amount with its unit.
pub(super) fn amount(value: f64, kind: EventKind, per: &Per) -> String {
    match (kind, per) {
        (kind, Per::Run | Per::Time | Per::CpuTime) if kind.is_time() => {
            format!("{:.3} s", value / 1e9)
        }
        (kind, Per::Count(_)) if kind.is_time() => format!("{:.3} us", value / 1e3),
        _ if value >= 1000.0 => format!("{value:.0}"),
        _ if value >= 1.0 || value == 0.0 => trimmed(value),
        _ => format!("{value:.3e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_a_column_have_the_unit_of_the_largest_and_zero_no_sign() {
        let texts = |changes: &[f64], kind| -> Vec<String> {
            let unit = ChangeUnit::of(changes.iter().copied(), kind);
            changes.iter().map(|&change| unit.text(change)).collect()
        };
        let time = EventKind::CpuTime;
        for (changes, expected) in [
            (
                &[-1.2e9, 4e5, -4e5, 0.0][..],
                &["-1.200 s", "0.000 s", "0.000 s", "0.000 s"][..],
            ),
            (
                &[2.0708e7, -4e3, 1.6e6],
                &["+20.71 ms", "0.00 ms", "+1.60 ms"],
            ),
            (&[f64::INFINITY, 1.5e5], &["+inf us", "+150.0 us"]),
            (&[0.5, -0.25], &["+0.500 ns", "-0.250 ns"]),
            (&[0.0], &["0.000 ns"]),
        ] {
            assert_eq!(texts(changes, time), expected);
        }
        let counts = EventKind::Counter;
        assert_eq!(texts(&[-123_456.0, 7.4], counts), ["-123456", "+7"]);
        assert_eq!(texts(&[12.0, -0.5], counts), ["+12.00", "-0.50"]);
        assert_eq!(
            texts(&[2e-6, -1e-7, 0.0], counts),
            ["+2.000e-6", "-1.000e-7", "0"]
        );
    }
}
