//! Conditions on which a comparison fails: `total>+3%`.
//!
//! One fires only if the whole interval is beyond its limit: what may be noise fails nobody's build. If the estimate is
//! beyond it and the interval is not, it is undecided, and more runs decide. The level is shared among conditions
//! (Bonferroni).

mod parse;

pub use parse::ConditionError;

use crate::error::DiffError;
use crate::judge::Judge;
use crate::per::Per;
use crate::rows::{CountedEvent, Counts};
use crate::statistics::float;
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
}

impl GateResult {
    /// In words: the change, its interval, the condition.
    pub fn sentence(&self) -> String {
        let Self {
            condition,
            change,
            bounds: (low, high),
            unit,
            ..
        } = self;
        let decimals = match unit.is_empty() {
            true => 0,
            false => 2,
        };
        let what = match self.outcome {
            GateOutcome::Fired => "beyond the limit",
            GateOutcome::Undecided => "may be beyond the limit, or noise: more runs tell",
            GateOutcome::Held => "not beyond the limit",
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
        let counts = match &condition.subject {
            Subject::Total if *self.per == Per::Event => {
                return Err(bad(
                    "of shares the total is always 100 %: --per run, time or an event".to_owned(),
                ));
            }
            Subject::Total => self.judge.all().clone(),
            Subject::Row(key, name) => sum_of(rows(&[*key]), name, false).map_err(bad)?,
            Subject::Children(name) => sum_of(rows(&[SortKey::Symbol]), name, true).map_err(bad)?,
        };
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

    fn change(&self, counts: &Counts, limit: Limit) -> (f64, (f64, f64), f64, &'static str) {
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
    fn one_sided(&self, counts: &Counts, change: f64) -> (f64, f64) {
        let (_, (low, high)) = self.judge.difference(counts, self.alpha);
        match low > 0.0 || high < 0.0 {
            true => (change, change),
            false => (-100.0, f64::INFINITY),
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

/// The level of each of some conditions.
pub(crate) fn level(alpha: f64, n_conditions: usize) -> f64 {
    alpha / float(n_conditions.max(1))
}

/// What the rows with a name count together.
fn sum_of(
    (event, names): (CountedEvent, Vec<String>),
    name: &str,
    with_children: bool,
) -> Result<Counts, String> {
    if with_children && !event.has_children {
        return Err("the recordings have no stacks: sym:NAME is of own samples".to_owned());
    }
    let rows = event.rows.iter().zip(&names);
    let found: Vec<_> = rows.filter(|(_, cell)| is_called(cell, name)).collect();
    if with_children && found.len() > 1 {
        // Both may be in one stack, whose samples a sum would have twice.
        let cells: Vec<&str> = found.iter().map(|(_, cell)| cell.as_str()).collect();
        return Err(format!(
            "'{name}' is several functions; name one of them: {}",
            cells.join(", ")
        ));
    }
    let found = found.into_iter();
    let found: Vec<&Counts> = found
        .map(|(row, _)| match with_children {
            true => &row.children,
            false => &row.own,
        })
        .collect();
    let n_runs = event.total.runs.len();
    let mut sum = Counts::of(n_runs);
    for one in &found {
        sum.merge(one);
    }
    match found.is_empty() {
        false => Ok(sum),
        true => Err(not_there(name, &names)),
    }
}

/// Whether a cell is what was typed: symbols are typed without the sign of their level.
fn is_called(cell: &str, name: &str) -> bool {
    cell == name || without_sign(cell) == name
}

fn without_sign(cell: &str) -> &str {
    match cell.split_at_checked(4) {
        Some((sign, rest)) if sign.starts_with('[') && sign.ends_with("] ") => rest,
        _ => cell,
    }
}

fn not_there(name: &str, names: &[String]) -> String {
    let names = names.iter().map(|cell| without_sign(cell));
    let mut alike: Vec<&str> = names
        .filter(|cell| !cell.is_empty() && cell.contains(name))
        .collect();
    alike.sort_by_key(|cell| (cell.len(), *cell));
    alike.dedup();
    alike.truncate(3);
    match alike.is_empty() {
        true => format!("'{name}' is in no recording"),
        false => format!(
            "'{name}' is in no recording; there are {}",
            alike.join(", ")
        ),
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

    #[test]
    fn names_that_are_like_one_are_said() {
        let names = ["[.] parse_line".to_owned(), "[k] clear_page".to_owned()];
        assert!(is_called(&names[0], "parse_line"));
        assert_eq!(
            not_there("parse", &names),
            "'parse' is in no recording; there are parse_line"
        );
        assert_eq!(not_there("x", &names), "'x' is in no recording");
    }
}
