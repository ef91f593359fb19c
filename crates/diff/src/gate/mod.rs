//! Conditions on which a comparison fails: `total>+3%`.
//!
//! One fires only if the whole interval is beyond its limit: what may be noise fails nobody's build. If the estimate is
//! beyond it and the interval is not, it is undecided, and more runs decide. The level is shared among conditions
//! (Bonferroni).

mod ask;
mod named;
mod parse;

pub(crate) use ask::{Asked, ask_all};
pub use parse::ConditionError;

use crate::error::DiffError;
use crate::judge::Judge;
use crate::per::Per;
use crate::rows::{CountedEvent, RunCounts};
use named::NamedRows;
use rprof_profile::view::SortKey;

/// What a condition is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// All of the event.
    Total,
    /// Own samples of the rows with a cell.
    Row(SortKey, String),
    /// Samples of a function with what it called.
    Children(String),
}

/// On which side of its limit a condition is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparator {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

/// What a change is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Of the amount before.
    Percent(f64),
    /// Of the share of the event.
    Points(f64),
    /// In what amounts are.
    Amount(f64),
}

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// As it was typed.
    pub text: String,
    /// What is compared.
    pub subject: Subject,
    /// How.
    pub comparator: Comparator,
    /// With what.
    pub limit: Limit,
}

impl Condition {
    fn is_of_function(&self) -> bool {
        matches!(
            self.subject,
            Subject::Row(SortKey::Symbol, _) | Subject::Children(_)
        )
    }

    /// The same of what `name` calls its function.
    pub(crate) fn renamed(&self, name: impl Fn(&str) -> String) -> Self {
        let mut renamed = self.clone();
        if let Subject::Row(SortKey::Symbol, one) | Subject::Children(one) = &mut renamed.subject {
            *one = name(one);
        }
        renamed
    }
}

/// What became of a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct GateResult {
    /// As it was typed.
    pub condition: String,
    /// Whether it is true.
    pub outcome: GateOutcome,
    /// The change, as its limit is: percent, percentage points, an amount.
    pub change: f64,
    /// Where it lies.
    pub bounds: (f64, f64),
    /// What that is.
    pub unit: &'static str,
}

/// Whether a condition is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateOutcome {
    /// It is, beyond noise.
    Fired,
    /// It may be: more runs tell.
    Undecided,
    /// It is not.
    Held,
    /// Nothing to compare: no recording has a sample of it.
    NoSamples,
}

impl GateResult {
    /// Of what has no sample in any recording.
    pub(crate) fn without_samples(condition: &Condition) -> Self {
        Self {
            condition: condition.text.clone(),
            outcome: GateOutcome::NoSamples,
            change: 0.0,
            bounds: (f64::NEG_INFINITY, f64::INFINITY),
            unit: match condition.limit {
                Limit::Percent(_) => "%",
                Limit::Points(_) => " pp",
                Limit::Amount(_) => "",
            },
        }
    }

    /// In words: the change, its interval, the condition.
    pub fn sentence(&self) -> String {
        let Self {
            condition,
            change,
            bounds: (low, high),
            unit,
            ..
        } = self;
        let decimals = if unit.is_empty() { 0 } else { 2 };
        let what = match self.outcome {
            GateOutcome::Fired => "beyond the limit",
            GateOutcome::Undecided => "may be beyond the limit, or noise: more runs would decide",
            GateOutcome::Held => "within the limit",
            GateOutcome::NoSamples => {
                return format!("{condition}: not checked, as no recording has samples in it");
            }
        };
        format!(
            "{condition}: {change:+.decimals$}{unit} [{low:+.decimals$}, {high:+.decimals$}], {what}"
        )
    }
}

/// Counts rows by some keys; with what each is called by the first of them.
pub(crate) type CountRows<'r> = dyn FnMut(&[SortKey]) -> (CountedEvent, Vec<String>) + 'r;

/// What conditions are asked of.
pub(crate) struct Gates<'a> {
    pub(crate) judge: &'a Judge<'a>,
    /// The same where amounts are shares.
    pub(crate) shares: &'a Judge<'a>,
    pub(crate) per: &'a Per,
    /// The level of each.
    pub(crate) alpha: f64,
}

impl Gates<'_> {
    /// What becomes of a condition; `rows` counts by other keys.
    pub(crate) fn ask(
        &self,
        condition: &Condition,
        rows: &mut CountRows<'_>,
    ) -> Result<GateResult, DiffError> {
        let bad = |why: String| DiffError::BadCondition {
            condition: condition.text.clone(),
            why,
        };
        let unknown = |condition: &Condition, name: &str, alike| DiffError::UnknownName {
            condition: condition.text.clone(),
            name: name.to_owned(),
            is_function: condition.is_of_function(),
            alike,
        };
        let counts = match &condition.subject {
            Subject::Total if *self.per == Per::Event => {
                return Err(bad(
                    "the total of shares is always 100 %: use --per run, time or an event"
                        .to_owned(),
                ));
            }
            Subject::Total => self.judge.all().clone(),
            Subject::Row(key, name) => {
                let rows = NamedRows::of(rows(&[*key]), name);
                rows.own()
                    .map_err(|alike| unknown(condition, name, alike))?
            }
            Subject::Children(name) => {
                let rows = NamedRows::of(rows(&[SortKey::Symbol]), name);
                rows.has_children(name).map_err(bad)?;
                let children = rows.children();
                children.map_err(|alike| unknown(condition, name, alike))?
            }
        };
        if counts.samples() == 0 {
            return Ok(GateResult::without_samples(condition));
        }
        let (change, bounds, limit, unit) = self.change(&counts, condition.limit);
        let outcome = condition.comparator.outcome(change, bounds, limit);
        Ok(GateResult {
            condition: condition.text.clone(),
            outcome,
            change,
            bounds,
            unit,
        })
    }

    fn change(&self, counts: &RunCounts, limit: Limit) -> (f64, (f64, f64), f64, &'static str) {
        match limit {
            Limit::Percent(limit) => {
                let change = 100.0 * self.judge.estimate(counts).change();
                let bounds = self.judge.bounds(counts, self.alpha);
                let bounds = bounds.map_or_else(
                    || self.one_sided(counts, change),
                    |(low, high)| (100.0 * low, 100.0 * high),
                );
                (change, bounds, limit, "%")
            }
            Limit::Points(limit) => {
                let (change, (low, high)) = self.shares.difference(counts, self.alpha);
                (100.0 * change, (100.0 * low, 100.0 * high), limit, " pp")
            }
            Limit::Amount(limit) => {
                let (change, bounds) = self.judge.difference(counts, self.alpha);
                (change, bounds, limit, "")
            }
        }
    }

    /// Of what is new or vanished: no percentage can be said, but whether it is so.
    fn one_sided(&self, counts: &RunCounts, change: f64) -> (f64, f64) {
        let (_, (low, high)) = self.judge.difference(counts, self.alpha);
        if low > 0.0 || high < 0.0 {
            (change, change)
        } else {
            (-100.0, f64::INFINITY)
        }
    }
}

impl Comparator {
    fn outcome(self, change: f64, (low, high): (f64, f64), limit: f64) -> GateOutcome {
        let is_true = |value: f64| match self {
            Self::Above => value > limit,
            Self::AtLeast => value >= limit,
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
        };
        let nearest = match self {
            Self::Above | Self::AtLeast => low,
            Self::Below | Self::AtMost => high,
        };
        match (is_true(nearest), is_true(change)) {
            (true, _) => GateOutcome::Fired,
            (false, true) => GateOutcome::Undecided,
            (false, false) => GateOutcome::Held,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wholly_beyond_the_limit_fires() {
        use Comparator::{Above, AtLeast, Below};
        for (comparator, change, bounds, outcome) in [
            (Above, 5.0, (3.5, 6.5), GateOutcome::Fired),
            (Above, 5.0, (2.5, 7.5), GateOutcome::Undecided),
            (Above, 2.0, (-1.0, 5.0), GateOutcome::Held),
            (Above, 3.0, (3.0, 3.0), GateOutcome::Held),
            (AtLeast, 3.0, (3.0, 3.0), GateOutcome::Fired),
            (Below, -5.0, (-6.0, -4.0), GateOutcome::Held),
        ] {
            let limit = if comparator == Below { -5.0 } else { 3.0 };
            assert_eq!(
                comparator.outcome(change, bounds, limit),
                outcome,
                "{change}"
            );
        }
        assert_eq!(Below.outcome(-8.0, (-9.0, -6.0), -5.0), GateOutcome::Fired);
    }
}
