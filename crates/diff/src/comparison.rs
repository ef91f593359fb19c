//! Recordings compared: events, rows, and what is beyond noise.

use crate::assemble;
use crate::compute::{Compute, Weights};
use crate::error::DiffError;
use crate::gate::{Condition, GateResult, Gates, level};
use crate::judge::Judge;
use crate::naming::{NameMatching, Naming};
use crate::notes;
use crate::per::{Divisor, Per};
use crate::recordings::{Recordings, event_of};
use crate::rows::{CountedEvent, count};
use crate::statistics::Estimate;
use rprof_profile::difference::Side;
use rprof_profile::run::RunEvent;
use rprof_profile::view::SortKey;
use rprof_profile::{EventKind, SampleCount};

/// What percentages are of, where a filter leaves samples out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DiffShare {
    /// All samples.
    #[default]
    Absolute,
    /// Those in rows.
    Relative,
}

/// How to compare.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// What tells rows apart.
    pub keys: Vec<SortKey>,
    /// What amounts are divided by; what suits the recordings if nobody says.
    pub per: Option<Per>,
    /// The share of false discoveries among what is marked, at most.
    pub alpha: f64,
    /// How functions are found to be the same.
    pub matching: NameMatching,
    /// What rows are ordered by.
    pub compute: Compute,
    /// Rows go by what is computed, or by the share before.
    pub order: RowOrder,
    /// Rows that only one side has.
    pub one_sided: OneSided,
    /// What perf's percentages are of.
    pub share: DiffShare,
    /// When to fail.
    pub conditions: Vec<Condition>,
}

/// perf's `-o`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RowOrder {
    /// By the share before.
    Baseline,
    /// By what is computed.
    #[default]
    Computed,
}

/// Whether rows are shown that only one side has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OneSided {
    /// They are.
    #[default]
    Shown,
    /// They are not: perf's `-b`.
    Hidden,
}

/// What changed.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What amounts are divided by.
    pub per: Per,
    /// The share of false discoveries among what is marked, at most.
    pub alpha: f64,
    /// How many recordings there are before and after.
    pub n_runs: (usize, usize),
    /// What tells rows apart.
    pub keys: Vec<SortKey>,
    /// Events that both sides have.
    pub events: Vec<ComparedEvent>,
    /// What a reader must know of the recordings. One sentence each.
    pub notes: Vec<String>,
    /// What became of conditions.
    pub gates: Vec<GateResult>,
}

/// One event.
#[derive(Clone, Debug)]
pub struct ComparedEvent {
    /// Its name.
    pub name: String,
    /// What it counts.
    pub kind: EventKind,
    /// All samples before and after.
    pub all: (SampleCount, SampleCount),
    /// All of it; none of shares.
    pub total: Option<Judged>,
    /// Whether rows have sums with what they called.
    pub has_children: bool,
    /// What changed, in the order that was asked for.
    pub rows: Vec<ComparedRow>,
}

/// One row.
#[derive(Clone, Debug)]
pub struct ComparedRow {
    /// What it is, by sort key.
    pub cells: Vec<String>,
    /// What it weighs.
    pub weights: Weights,
    /// What became of its own samples.
    pub own: Judged,
    /// What became of them with what it called.
    pub children: Option<Judged>,
    /// Whether a compiler inlines it on one side only.
    pub inlining: Option<Inlining>,
    /// Whether it has another name on the other side.
    pub is_renamed: bool,
}

/// What a compiler does otherwise than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inlining {
    /// It inlines the function.
    Begun,
    /// It does not any more.
    Ended,
}

/// An estimate among others.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// How much it changed.
    pub estimate: Estimate,
    /// The smallest bound of false discoveries at which it is one; 1 with too few samples.
    pub q_value: f64,
    /// Whether it is beyond noise.
    pub is_sure: bool,
}

impl Judged {
    pub(crate) fn unsure(estimate: Estimate) -> Self {
        Self {
            estimate,
            q_value: 1.0,
            is_sure: false,
        }
    }
}

/// Compares recordings.
///
/// # Errors
/// [`DiffError`] where they cannot be compared as asked.
pub fn compare(recordings: &Recordings, options: &CompareOptions) -> Result<Comparison, DiffError> {
    let per = options.per.clone();
    let per = per.unwrap_or_else(|| Per::default_of(recordings));
    let names = common_events(recordings)?;
    let mut naming = Naming::of(recordings, options.matching);
    let mut events = Vec::with_capacity(names.len());
    let mut gates = Vec::new();
    for name in names {
        if matches!(&per, Per::Count(event) if *event == name) {
            continue;
        }
        let numbers: Vec<usize> = recordings
            .all()
            .map(|(_, one)| event_of(&one.run, &name).unwrap_or(usize::MAX))
            .collect();
        let counted = count(recordings, &numbers, &options.keys, &mut naming);
        let divisors = divisors(recordings, &numbers, &per)?;
        let mut judge = Judge::new(recordings, divisors, counted.total.clone(), options.alpha);
        judge.learn(counted.rows.iter().map(|row| &row.own));
        if events.is_empty() {
            gates = ask_gates(recordings, options, (&judge, &per, &numbers), &mut naming)?;
        }
        events.push(assemble::event(options, name, counted, &judge, &naming));
        if let Some(event) = events.last_mut() {
            event.kind = kind_of(recordings, &numbers);
            event.total = judge.total(&per).map(Judged::unsure);
        }
    }
    assemble::mark(&mut events, options);
    Ok(Comparison {
        notes: notes::of(recordings, &per, naming.renamed_program()),
        per,
        alpha: options.alpha,
        n_runs: recordings.counts(),
        keys: options.keys.clone(),
        events,
        gates,
    })
}

/// Events that all recordings have, by the names of the first.
fn common_events(recordings: &Recordings) -> Result<Vec<String>, DiffError> {
    let first = recordings.before.first().map(|one| &one.run.events[..]);
    let has_it = |event: &&RunEvent| {
        let mut all = recordings.all();
        all.all(|(_, one)| event_of(&one.run, &event.name).is_some())
    };
    let common = first.unwrap_or_default().iter().filter(has_it);
    let common: Vec<String> = common.map(|event| event.name.clone()).collect();
    if !common.is_empty() {
        return Ok(common);
    }
    let names = |side: Side| {
        let events = recordings.of(side).iter().flat_map(|one| &one.run.events);
        let mut names: Vec<&str> = events.map(|event| event.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        match names.is_empty() {
            true => "none".to_owned(),
            false => names.join(", "),
        }
    };
    Err(DiffError::NoCommonEvent {
        before: names(Side::Before),
        after: names(Side::After),
    })
}

fn kind_of(recordings: &Recordings, numbers: &[usize]) -> EventKind {
    let first = recordings.before.first().zip(numbers.first());
    let event = first.and_then(|(one, &number)| one.run.events.get(number));
    event.map(|event| event.kind).unwrap_or_default()
}

fn divisors(
    recordings: &Recordings,
    numbers: &[usize],
    per: &Per,
) -> Result<Vec<Divisor>, DiffError> {
    let runs = recordings.all().zip(numbers);
    let divisors = runs.filter_map(|((_, one), &number)| {
        let event = one.run.events.get(number)?;
        Some(per.divisor(one, event))
    });
    divisors.collect()
}

/// What becomes of conditions: of the first event.
fn ask_gates(
    recordings: &Recordings,
    options: &CompareOptions,
    (judge, per, numbers): (&Judge<'_>, &Per, &[usize]),
    naming: &mut Naming,
) -> Result<Vec<GateResult>, DiffError> {
    if options.conditions.is_empty() {
        return Ok(Vec::new());
    }
    let shares = divisors(recordings, numbers, &Per::Event)?;
    let shares = Judge::new(recordings, shares, judge.all().clone(), options.alpha);
    let gates = Gates {
        judge,
        shares: &shares,
        per,
        alpha: level(options.alpha, options.conditions.len()),
    };
    let conditions = options.conditions.iter();
    let conditions: Vec<Condition> = conditions.map(|one| naming.resolved(one)).collect();
    let mut rows = |keys: &[SortKey]| -> (CountedEvent, Vec<String>) {
        let event = count(recordings, numbers, keys, naming);
        let cell = |cells: &[u32]| {
            cells
                .first()
                .map_or("", |&cell| naming.text(cell))
                .to_owned()
        };
        let names = event.rows.iter().map(|row| cell(&row.cells)).collect();
        (event, names)
    };
    let conditions = conditions.iter();
    conditions.map(|one| gates.ask(one, &mut rows)).collect()
}
