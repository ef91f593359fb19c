//! Times as perf sched prints them, and lengths of time for people.

use std::fmt;

/// Nanoseconds as milliseconds with three digits, which are cut, not rounded.
#[derive(Clone, Copy, Debug)]
pub struct Millis(pub u64);

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0 / 1000;
        f.pad(&format!("{}.{:03}", micros / 1000, micros % 1000))
    }
}

/// A moment in seconds with six digits, which are cut.
#[derive(Clone, Copy, Debug)]
pub struct Seconds(pub u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0 / 1000;
        f.pad(&format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000))
    }
}

/// Nanoseconds in the unit that suits them, with as many decimals as they have, at most `decimals`, which are cut.
///
/// For lengths that stand alone. Those that are compared with each other have one unit, and are rounded: by `rprof diff` in
/// a column, by `rprof tui` on an axis.
#[derive(Clone, Copy, Debug)]
pub struct TimeLength {
    /// Nanoseconds.
    pub ns: u64,
    /// The most decimals.
    pub decimals: usize,
}

impl TimeLength {
    /// To the nanosecond.
    pub fn exact(ns: u64) -> Self {
        Self { ns, decimals: 9 }
    }
}

impl fmt::Display for TimeLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 3] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
        let unit = UNITS.iter().find(|(unit, _)| self.ns >= *unit);
        let &(unit, name) = unit.unwrap_or(&(1, "ns"));
        let digits = unit.ilog10() as usize;
        let fraction = match digits {
            0 => String::new(),
            _ => format!("{:0digits$}", self.ns % unit),
        };
        let fraction = fraction.get(..self.decimals.min(digits));
        let whole = self.ns / unit;
        f.pad(&match fraction.unwrap_or_default().trim_end_matches('0') {
            "" => format!("{whole} {name}"),
            fraction => format!("{whole}.{fraction} {name}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_cut() {
        assert_eq!(format!("{:>9}", Millis(1_234_567_999)), " 1234.567");
        assert_eq!(format!("{:<7}|", Millis(999)), "0.000  |");
        assert_eq!(Seconds(25_870_360_188_999).to_string(), "25870.360188");
    }

    #[test]
    fn lengths_have_the_unit_that_suits_them() {
        for (ns, decimals, expected) in [
            (0, 9, "0 ns"),
            (999, 1, "999 ns"),
            (1_500, 9, "1.5 us"),
            (100_000_000, 9, "100 ms"),
            (1_250_000_000, 9, "1.25 s"),
            (1_250_000_000, 1, "1.2 s"),
            (36_999_999, 1, "36.9 ms"),
            (1_000_000_001, 9, "1.000000001 s"),
            (1_000_000_001, 1, "1 s"),
        ] {
            assert_eq!(TimeLength { ns, decimals }.to_string(), expected);
        }
        assert_eq!(format!("{:>8}", TimeLength::exact(1_500)), "  1.5 us");
    }
}
