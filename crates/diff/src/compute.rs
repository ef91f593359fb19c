//! What perf diff computes of two amounts.

use crate::statistics::weight;
use rprof_profile::SampleCount;
use std::cmp::Ordering;

/// perf's `-c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Compute {
    /// Difference of shares, by size.
    #[default]
    DeltaAbs,
    /// Difference of shares.
    Delta,
    /// Weight after / weight before.
    Ratio,
    /// Weight after times the second - weight before times the first.
    WeightedDiff(i64, i64),
}

impl Compute {
    /// What is typed.
    ///
    /// # Errors
    /// What can be typed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let weights = text.strip_prefix("wdiff:").and_then(|weights| {
            let (first, second) = weights.split_once([',', ':'])?;
            Some((first.trim().parse().ok()?, second.trim().parse().ok()?))
        });
        match (text, weights) {
            ("delta-abs", _) => Ok(Self::DeltaAbs),
            ("delta", _) => Ok(Self::Delta),
            ("ratio", _) => Ok(Self::Ratio),
            (_, Some((first, second))) => Ok(Self::WeightedDiff(first, second)),
            _ => Err("delta, delta-abs, ratio or wdiff:W1,W2 (two whole numbers)".to_owned()),
        }
    }

    /// perf's heading.
    pub fn heading(self) -> &'static str {
        match self {
            Self::DeltaAbs => "Delta Abs",
            Self::Delta => "Delta",
            Self::Ratio => "Ratio",
            Self::WeightedDiff(..) => "Weighted diff",
        }
    }
}

/// What a row weighs on both sides, and all rows of the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// The row.
    pub before: SampleCount,
    /// The row.
    pub after: SampleCount,
    /// What percentages are of.
    pub all_before: u64,
    /// What percentages are of.
    pub all_after: u64,
}

impl Weights {
    /// perf's baseline: the share before, in percent; none of what was not there.
    pub fn baseline(&self) -> Option<f64> {
        self.is_before()
            .then(|| percent(self.before.weight, self.all_before))
    }

    /// Whether it was there.
    pub fn is_before(&self) -> bool {
        self.before.samples > 0
    }

    /// Whether it is there.
    pub fn is_after(&self) -> bool {
        self.after.samples > 0
    }

    /// What perf computes; nothing of what vanished, and no ratios of what is new.
    pub fn computed(&self, compute: Compute) -> Option<f64> {
        if !self.is_after() {
            return None;
        }
        let (before, after) = (self.before.weight, self.after.weight);
        match compute {
            Compute::DeltaAbs | Compute::Delta => {
                Some(percent(after, self.all_after) - percent(before, self.all_before))
            }
            Compute::Ratio => self
                .is_before()
                .then(|| weight(after) / weight(before.max(1))),
            Compute::WeightedDiff(first, second) => self.is_before().then(|| {
                let times = |amount: u64, factor: i64| i128::from(amount) * i128::from(factor);
                wide(times(after, second) - times(before, first))
            }),
        }
    }

    /// The cell of what is computed, as perf writes it.
    pub fn cell(&self, compute: Compute) -> String {
        match (self.computed(compute), compute) {
            (Some(value), Compute::DeltaAbs | Compute::Delta) => format!("{value:+.2}%"),
            (Some(value), Compute::Ratio) => format!("{value:.6}"),
            (Some(value), Compute::WeightedDiff(..)) => format!("{value:.0}"),
            (None, Compute::Ratio | Compute::WeightedDiff(..)) if self.is_after() => {
                "N/A".to_owned()
            }
            (None, _) => String::new(),
        }
    }

    /// perf's `-F`: how it is computed; of what vanished nothing.
    pub fn formula(&self, compute: Compute) -> String {
        let (before, after) = (self.before.weight, self.after.weight);
        match compute {
            _ if !self.is_after() => String::new(),
            Compute::DeltaAbs | Compute::Delta => format!(
                "({after} * 100 / {}) - ({before} * 100 / {})",
                self.all_after, self.all_before
            ),
            Compute::Ratio => format!("{after} / {before}"),
            Compute::WeightedDiff(first, second) => {
                format!("({after} * {second}) - ({before} * {first})")
            }
        }
    }

    /// By what perf orders rows: the most first, what vanished last. By sizes of differences, what vanished is where its
    /// size belongs: it may be the largest change.
    pub(crate) fn order(&self, other: &Self, compute: Compute) -> Ordering {
        if compute == Compute::DeltaAbs {
            return other.difference().total_cmp(&self.difference());
        }
        let value = |one: &Self| {
            let value = one.computed(compute);
            value.unwrap_or(f64::NEG_INFINITY)
        };
        let group = |one: &Self| (!one.is_after(), one.computed(compute).is_none());
        let groups = group(self).cmp(&group(other));
        groups.then_with(|| value(other).total_cmp(&value(self)))
    }

    /// How far the shares are apart, in percentage points.
    fn difference(&self) -> f64 {
        let before = percent(self.before.weight, self.all_before);
        (percent(self.after.weight, self.all_after) - before).abs()
    }

    /// By perf's `-o 0`: the baseline.
    pub(crate) fn order_of_baseline(&self, other: &Self) -> Ordering {
        let share = |one: &Self| one.baseline().unwrap_or(-1.0);
        share(other).total_cmp(&share(self))
    }
}

fn percent(part: u64, all: u64) -> f64 {
    match all {
        0 => 0.0,
        _ => weight(part) * 100.0 / weight(all),
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown without decimals")]
fn wide(value: i128) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(before: u64, after: u64) -> Weights {
        let count = |weight| SampleCount {
            samples: u64::from(weight > 0),
            weight,
        };
        Weights {
            before: count(before),
            after: count(after),
            all_before: 13_500_000,
            all_after: 16_500_000,
        }
    }

    #[test]
    fn cells_are_perfs() {
        let wdiff = Compute::WeightedDiff(1, 2);
        for (pair, cells) in [
            ((4_500_000, 4_000_000), ["-9.09%", "0.888889", "3500000"]),
            ((0, 1_000_000), ["+6.06%", "N/A", "N/A"]),
            ((500_000, 0), ["", "", ""]),
        ] {
            let row = weights(pair.0, pair.1);
            let found = [Compute::DeltaAbs, Compute::Ratio, wdiff].map(|one| row.cell(one));
            assert_eq!(found, cells, "{pair:?}");
        }
        let row = weights(4_500_000, 4_000_000);
        assert_eq!(row.formula(wdiff), "(4000000 * 2) - (4500000 * 1)");
        assert_eq!(row.formula(Compute::Ratio), "4000000 / 4500000");
        assert_eq!(
            row.formula(Compute::Delta),
            "(4000000 * 100 / 16500000) - (4500000 * 100 / 13500000)"
        );
    }

    #[test]
    fn what_vanished_is_last_but_by_the_size_of_changes() {
        let (changed, new, gone) = ((4_500_000, 4_000_000), (0, 1_000_000), (1_000_000, 0));
        for (compute, ordered) in [
            (Compute::DeltaAbs, [changed, gone, new]),
            (Compute::Delta, [new, changed, gone]),
        ] {
            let mut rows = [gone, new, changed];
            rows.sort_by(|a, b| weights(a.0, a.1).order(&weights(b.0, b.1), compute));
            assert_eq!(rows, ordered, "{compute:?}");
        }
    }

    #[test]
    fn what_cannot_be_computed_is_said() {
        assert_eq!(
            Compute::parse("wdiff:1,-2"),
            Ok(Compute::WeightedDiff(1, -2))
        );
        assert_eq!(Compute::parse("delta"), Ok(Compute::Delta));
        for text in ["", "cycles", "wdiff", "wdiff:1", "wdiff:1,x"] {
            assert!(Compute::parse(text).is_err(), "{text}");
        }
    }
}
