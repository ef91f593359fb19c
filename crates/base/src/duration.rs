//! Times as perf sched prints them.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_cut() {
        assert_eq!(format!("{:>9}", Millis(1_234_567_999)), " 1234.567");
        assert_eq!(format!("{:<7}|", Millis(999)), "0.000  |");
        assert_eq!(Seconds(25_870_360_188_999).to_string(), "25870.360188");
    }
}
