//! Times as perf trace prints them.

use rprof_base::Millis;
use std::fmt;

/// Nanoseconds as milliseconds with three digits, which are rounded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundedMillis(pub(crate) u64);

impl fmt::Display for RoundedMillis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Those of base are cut.
        Millis(self.0.saturating_add(500)).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_rounded() {
        for (ns, text) in [
            (499, "0.000"),
            (500, "0.001"),
            (2738, "0.003"),
            (999_999_500, "1000.000"),
        ] {
            assert_eq!(RoundedMillis(ns).to_string(), text);
        }
        assert_eq!(format!("{:>8}", RoundedMillis(2738)), "   0.003");
    }
}
