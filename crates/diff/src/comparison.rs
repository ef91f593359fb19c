//! Recordings compared: events, rows, and what is beyond noise.

use crate::assemble;
use crate::compute::{Compute, Weights};
use crate::error::DiffError;
use crate::gate::{Asked, Condition, GateResult, ask_all};
use crate::judge::Judge;
use crate::naming::{NameMatching, Naming};
use crate::notes;
use crate::per::{Divisor, Per};
use crate::recordings::{Recordings, event_of};
use crate::rows::count;
use crate::statistics::Estimate;
use foldhash::HashMap;
use rprof_base::Counted;
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
    /// What perf's column has.
    pub compute: Compute,
    /// What rows are ordered by.
    pub order: RowOrder,
    /// Rows that only one side has.
    pub one_sided: OneSided,
    /// What perf's percentages are of.
    pub share: DiffShare,
    /// When to fail.
    pub conditions: Vec<Condition>,
    /// Functions of conditions that are known to be there, though they may have no samples.
    pub known_functions: Vec<String>,
    /// In how many comparisons conditions are asked: `alpha` is that of all of them.
    pub n_comparisons: usize,
}

impl CompareOptions {
    /// The usual [`CompareOptions::alpha`].
    pub const ALPHA: f64 = 0.05;

    /// How `rprof diff` compares if nothing else is said: functions of images.
    pub fn by_function(per: Option<Per>) -> Self {
        Self {
            keys: vec![SortKey::Dso, SortKey::Symbol],
            per,
            alpha: Self::ALPHA,
            matching: NameMatching::Similar,
            compute: Compute::default(),
            order: RowOrder::default(),
            one_sided: OneSided::default(),
            share: DiffShare::default(),
            conditions: Vec::new(),
            known_functions: Vec::new(),
            n_comparisons: 1,
        }
    }
}

/// What rows are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RowOrder {
    /// By how much amounts changed, divided as they are ([`Per`]). Significant changes come first: those of own samples,
    /// then those with callees.
    #[default]
    Amount,
    /// perf's `-o 0`: by the share before.
    Baseline,
    /// perf's `-o 1`: by what is computed; by sizes of differences ([`Compute::DeltaAbs`]), significant ones come first.
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
    /// What rows are ordered by.
    pub order: RowOrder,
    /// Events that both sides have.
    pub events: Vec<ComparedEvent>,
    /// What a reader must know of the recordings. One sentence each.
    pub notes: Vec<String>,
    /// What became of conditions.
    pub gates: Vec<GateResult>,
    /// The same by shares, unless that is what is compared: where a side had less of the machine, all its amounts are
    /// less.
    pub(crate) by_share: Option<Box<Self>>,
    /// Events that amounts are divided by.
    divided_by: Vec<String>,
    /// What functions are called in stacks, by their cells of image and symbol.
    pub(crate) stack_labels: HashMap<(String, String), String>,
}

impl Comparison {
    /// Adds what a reader must know of what was compared; rows are those that are left.
    pub(crate) fn say_of_events(&mut self) {
        let notes = notes::of_events(&self.events, &self.divided_by, self.gates.len());
        self.notes.extend(notes);
    }
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

impl ComparedRow {
    /// What it is ordered by, where rows go by amounts, and in which group: callers inherit a change of what they call, so
    /// they come after what changed itself.
    pub(crate) fn ordered_by(&self) -> (u8, &Judged) {
        match &self.children {
            _ if self.own.is_sure => (0, &self.own),
            Some(children) if children.is_sure => (1, children),
            _ => (2, &self.own),
        }
    }
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
    /// Whether it is one of the tests among which false discoveries are bounded.
    pub is_tested: bool,
    /// Whether it is beyond noise.
    pub is_sure: bool,
}

impl Judged {
    pub(crate) fn tested(estimate: Estimate) -> Self {
        Self {
            is_tested: true,
            ..Self::untested(estimate)
        }
    }

    pub(crate) fn untested(estimate: Estimate) -> Self {
        Self {
            estimate,
            q_value: 1.0,
            is_tested: false,
            is_sure: false,
        }
    }
}

/// Compares recordings.
///
/// # Errors
/// [`DiffError`] where they cannot be compared as asked.
pub fn compare(recordings: &Recordings, options: &CompareOptions) -> Result<Comparison, DiffError> {
    let mut comparison = compare_marked(recordings, options)?;
    if comparison.per != Per::Event {
        let options = CompareOptions {
            per: Some(Per::Event),
            conditions: Vec::new(),
            ..options.clone()
        };
        let by_share = compare_marked(recordings, &options);
        comparison.by_share = by_share.ok().map(Box::new);
    }
    comparison.say_of_events();
    Ok(comparison)
}

/// The same without what is said of it.
pub(crate) fn compare_marked(
    recordings: &Recordings,
    options: &CompareOptions,
) -> Result<Comparison, DiffError> {
    let mut comparison = compare_unmarked(recordings, options)?;
    assemble::mark(comparison.events.iter_mut(), options);
    Ok(comparison)
}

/// The same before anything is marked: what is marked depends on all that is tested.
pub(crate) fn compare_unmarked(
    recordings: &Recordings,
    options: &CompareOptions,
) -> Result<Comparison, DiffError> {
    let per = options.per.clone();
    let per = per.unwrap_or_else(|| Per::default_of(recordings));
    let names = common_events(recordings)?;
    let mut naming = Naming::of(recordings, options.matching);
    let mut events = Vec::with_capacity(names.len());
    let mut gates = Vec::new();
    let mut divided_by = Vec::new();
    for name in names {
        let numbers: Vec<usize> = recordings
            .all()
            .map(|(_, one)| event_of(&one.run, &name).unwrap_or(usize::MAX))
            .collect();
        if is_divisor(recordings, &numbers, &per)? {
            divided_by.push(name);
            continue;
        }
        let counted = count(recordings, &numbers, &options.keys, &mut naming);
        let divisors = divisors(recordings, &numbers, &per)?;
        let mut judge = Judge::new(recordings, divisors, counted.total.clone(), options.alpha);
        judge.learn(counted.rows.iter().map(|row| &row.own));
        if events.is_empty() {
            let asked = Asked {
                judge: &judge,
                per: &per,
                numbers: &numbers,
                rows: &counted.rows,
            };
            gates = ask_all(recordings, options, &asked, &mut naming)?;
        }
        let total = assemble::total(&judge, &per);
        events.push(assemble::event(options, name, counted, &judge, &naming));
        if let Some(event) = events.last_mut() {
            event.kind = kind_of(recordings, &numbers);
            event.total = total;
        }
    }
    if events.is_empty() {
        return Err(DiffError::NothingLeft {
            per: per.to_string(),
        });
    }
    Ok(Comparison {
        notes: notes::of(recordings, &per, naming.renamed_program()),
        divided_by,
        per,
        alpha: options.alpha,
        n_runs: recordings.counts(),
        keys: options.keys.clone(),
        order: options.order,
        events,
        gates,
        by_share: None,
        stack_labels: naming.into_stack_labels(),
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
    Err(DiffError::NoCommonEvent {
        events: events_by_recording(recordings),
    })
}

/// Which recordings have which events: those that have the same are said together.
fn events_by_recording(recordings: &Recordings) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (_, one) in recordings.all() {
        let mut names: Vec<&str> = one.run.events.iter().map(|event| &*event.name).collect();
        names.sort_unstable();
        let events = if names.is_empty() {
            "no event".to_owned()
        } else {
            names.join(", ")
        };
        match groups.iter_mut().find(|(known, _)| *known == events) {
            Some((_, files)) => files.push(&one.name),
            None => groups.push((events, vec![&one.name])),
        }
    }
    let said = groups.iter().map(|(events, files)| match &files[..] {
        [only] => format!("{only} has {events}"),
        [first, others @ ..] => {
            let others = Counted::new(others.len() as u64, "other", "others");
            format!("{first} and {others} have {events}")
        }
        [] => String::new(),
    });
    said.collect::<Vec<_>>().join("; ")
}

fn kind_of(recordings: &Recordings, numbers: &[usize]) -> EventKind {
    let first = recordings.before.first().zip(numbers.first());
    let event = first.and_then(|(one, &number)| one.run.events.get(number));
    event.map(|event| event.kind).unwrap_or_default()
}

/// Whether an event is what amounts are divided by: of itself there is always as much.
fn is_divisor(recordings: &Recordings, numbers: &[usize], per: &Per) -> Result<bool, DiffError> {
    for ((_, one), &number) in recordings.all().zip(numbers) {
        if per.event(one)? == Some(number) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What the amounts of an event are divided by in each recording.
pub(crate) fn divisors(
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
