//! Samples in slow spans, or in fast ones.

use super::FilterError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whose samples count: those in spans that took longer than a limit, or those in the other spans.
#[derive(Clone, Debug, PartialEq)]
pub struct SpanSpeed {
    /// Only spans of this name have one; `None` for all.
    pub name: Option<String>,
    /// What divides them.
    pub limit: SpanLimit,
    /// On which side of it they are.
    pub side: SpanSide,
}

/// What divides slow spans from fast ones.
#[derive(Clone, Debug, PartialEq)]
pub enum SpanLimit {
    /// Nanoseconds.
    Ns(u64),
    /// What so many percent of the spans of a name do not exceed.
    Percentile(f64),
    /// The same, nanoseconds, of several recordings together: by the names of spans.
    OfNames(Arc<BTreeMap<String, u64>>),
}

/// A side of the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanSide {
    /// They took longer.
    Slower,
    /// They did not.
    Others,
}

impl SpanSpeed {
    /// Reads `p99`, `10ms` or `NAME:p99`: spans that took longer.
    ///
    /// # Errors
    /// If it is none of these.
    pub fn slower(text: &str) -> Result<Self, FilterError> {
        Self::parse(text, SpanSide::Slower)
    }

    /// The same of those that did not.
    ///
    /// # Errors
    /// If it is none of these.
    pub fn faster(text: &str) -> Result<Self, FilterError> {
        Self::parse(text, SpanSide::Others)
    }

    fn parse(text: &str, side: SpanSide) -> Result<Self, FilterError> {
        // Names may have colons, too.
        let (name, limit) = match text.rsplit_once(':') {
            Some((name, limit)) => (Some(name.to_owned()), limit),
            None => (None, text),
        };
        let limit = SpanLimit::parse(limit).ok_or_else(|| {
            let what =
                "expected a percentile or a time with its unit, such as p99, 10ms or NAME:p99";
            FilterError(what.to_owned())
        })?;
        Ok(Self { name, limit, side })
    }

    /// The same limit, the other side.
    pub fn other_side(&self) -> Self {
        let side = match self.side {
            SpanSide::Slower => SpanSide::Others,
            SpanSide::Others => SpanSide::Slower,
        };
        Self {
            side,
            ..self.clone()
        }
    }

    /// The option that asks for it.
    pub const fn option(&self) -> &'static str {
        match self.side {
            SpanSide::Slower => "--slower-than",
            SpanSide::Others => "--faster-than",
        }
    }
}

impl SpanLimit {
    fn parse(text: &str) -> Option<Self> {
        if let Some(percent) = text.strip_prefix('p') {
            let percent = percent.parse().ok()?;
            return (0.0..100.0)
                .contains(&percent)
                .then_some(Self::Percentile(percent));
        }
        const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
        let (number, ns) = UNITS
            .iter()
            .find_map(|(unit, ns)| Some((text.strip_suffix(unit)?, ns)))?;
        let number: f64 = number.parse().ok()?;
        let ns = number * ns;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between 0 and 2^53"
        )]
        (0.0..9e15).contains(&ns).then_some(Self::Ns(ns as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_times_and_percentiles() {
        let slower = |text: &str| {
            let speed = SpanSpeed::slower(text).ok()?;
            Some((speed.name, speed.limit))
        };
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(slower("p99"), Some((None, SpanLimit::Percentile(99.0))));
        assert_eq!(slower("p99.9"), Some((None, SpanLimit::Percentile(99.9))));
        assert_eq!(slower("10ms"), Some((None, SpanLimit::Ns(10_000_000))));
        assert_eq!(slower("1.5us"), Some((None, SpanLimit::Ns(1500))));
        let of_name = slower("a:b:2s");
        assert_eq!(of_name, Some((named("a:b"), SpanLimit::Ns(2_000_000_000))));
        for bad in [
            "", "p", "p100", "p-1", "pNaN", "10", "ms", "-1ms", "1e9s", "infs",
        ] {
            assert_eq!(slower(bad), None, "{bad}");
        }
        let fast = SpanSpeed::faster("p99").unwrap();
        assert_eq!(fast.other_side(), SpanSpeed::slower("p99").unwrap());
    }
}
