//! Many recordings, each compared with the same ones before: which of them regressed.

use crate::assemble;
use crate::comparison::{
    CompareOptions, ComparedEvent, ComparedRow, Comparison, Judged, compare_unmarked,
};
use crate::error::DiffError;
use crate::per::Per;
use crate::recordings::{NamedRun, Recordings};

/// A recording, compared with those before.
#[derive(Clone, Debug)]
pub struct ComparedRecording {
    /// What it is called.
    pub name: String,
    /// What changed.
    pub comparison: Comparison,
}

impl ComparedRecording {
    /// Whether a total or a function is beyond noise, and more than before.
    pub fn has_regressed(&self) -> bool {
        self.comparison
            .events
            .iter()
            .any(ComparedEvent::has_regressed)
    }
}

impl ComparedEvent {
    /// All that was judged of it.
    fn judged(&self) -> impl Iterator<Item = &Judged> {
        let rows = self.rows.iter();
        let rows = rows.flat_map(|row| [&row.own].into_iter().chain(&row.children));
        self.total.iter().chain(rows)
    }

    /// Whether something of it is more than before, beyond noise.
    pub(crate) fn has_regressed(&self) -> bool {
        self.judged().any(is_more)
    }

    /// How many functions changed beyond noise: by their own samples, or where none did so, with their callees. Callers
    /// inherit a change of what they call, so the two are not added.
    pub(crate) fn sure_rows(&self) -> SureRows {
        let count = |is_it: fn(&Judged) -> bool, with_callees: bool| {
            let judged = self.rows.iter().filter_map(|row| {
                if with_callees {
                    row.children.as_ref()
                } else {
                    Some(&row.own)
                }
            });
            judged.filter(|one| is_it(one)).count()
        };
        let rows = |with_callees| SureRows {
            n_more: count(is_more, with_callees),
            n_less: count(is_less, with_callees),
            with_callees,
        };
        let own = rows(false);
        if own.n() > 0 { own } else { rows(true) }
    }

    /// The row with the largest significant increase, else the largest significant decrease: of those that
    /// [`Self::sure_rows`] counts.
    pub(crate) fn most_changed(&self) -> Option<(&ComparedRow, &Judged)> {
        let sure = self.sure_rows();
        let is_it = if sure.n_more > 0 { is_more } else { is_less };
        // Of equal ones the last is taken, and that is to be the first row.
        let judged = self.rows.iter().rev().filter_map(|row| {
            let judged = if sure.with_callees {
                row.children.as_ref()?
            } else {
                &row.own
            };
            is_it(judged).then_some((row, judged))
        });
        judged.max_by(|(_, one), (_, other)| {
            let of = |judged: &Judged| judged.estimate.moved().abs();
            of(one).total_cmp(&of(other))
        })
    }
}

/// Rows that changed beyond noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SureRows {
    pub(crate) n_more: usize,
    pub(crate) n_less: usize,
    /// Whether they are counted with what they call, as none changed by itself.
    pub(crate) with_callees: bool,
}

impl SureRows {
    pub(crate) fn n(self) -> usize {
        self.n_more + self.n_less
    }
}

fn is_more(judged: &Judged) -> bool {
    judged.is_sure && judged.estimate.moved() > 0.0
}

fn is_less(judged: &Judged) -> bool {
    judged.is_sure && judged.estimate.moved() < 0.0
}

/// Compares each recording after with all before, in their order. False discoveries are bounded over all of them, and
/// conditions are asked of each.
///
/// # Errors
/// [`DiffError`] where one of them cannot be compared as asked.
pub fn compare_each(
    recordings: &Recordings,
    options: &CompareOptions,
) -> Result<Vec<ComparedRecording>, DiffError> {
    let per = options.per.clone();
    let options = CompareOptions {
        per: Some(per.unwrap_or_else(|| Per::default_of(recordings))),
        n_comparisons: recordings.after.len(),
        ..options.clone()
    };
    let mut pair = Recordings {
        before: recordings.before.clone(),
        after: Vec::new(),
    };
    let mut compared = Vec::with_capacity(recordings.after.len());
    for one in &recordings.after {
        compared.push(compared_alone(&mut pair, one.clone(), &options)?);
    }
    let events = compared.iter_mut();
    assemble::mark(events.flat_map(|one| &mut one.comparison.events), &options);
    let comparisons = compared.iter_mut().map(|one| &mut one.comparison);
    comparisons.for_each(Comparison::say_of_events);
    Ok(compared)
}

fn compared_alone(
    pair: &mut Recordings,
    one: NamedRun,
    options: &CompareOptions,
) -> Result<ComparedRecording, DiffError> {
    let name = one.name.clone();
    pair.after = vec![one];
    match compare_unmarked(pair, options) {
        Ok(comparison) => Ok(ComparedRecording { name, comparison }),
        // Who asks for the function knows of which recording it is.
        Err(error @ DiffError::UnknownName { .. }) => Err(error),
        Err(why) => Err(DiffError::Each {
            recording: name,
            why: Box::new(why),
        }),
    }
}
