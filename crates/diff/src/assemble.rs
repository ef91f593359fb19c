//! Rows of a comparison, and which of them are beyond noise.

use crate::comparison::{
    CompareOptions, ComparedEvent, ComparedRow, DiffShare, Inlining, Judged, OneSided, RowOrder,
};
use crate::compute::{Compute, Weights};
use crate::judge::{FEWEST_SAMPLES, Judge};
use crate::naming::Naming;
use crate::per::Per;
use crate::rows::{CountedEvent, CountedRow, RunCounts};
use crate::statistics::adjusted;
use rprof_base::parallel;
use rprof_profile::difference::Side;
use rprof_profile::{EventKind, SampleCount};
use std::cmp::Ordering;

/// Fewer rows are judged before a thread has begun.
const ROWS_OF_THREAD: usize = 32;

/// The rows of an event.
pub(crate) fn event(
    options: &CompareOptions,
    name: String,
    counted: CountedEvent,
    judge: &Judge<'_>,
    naming: &Naming,
) -> ComparedEvent {
    let all = sides(&counted.total, judge);
    let whole = match options.share {
        DiffShare::Absolute => (all.0.weight, all.1.weight),
        DiffShare::Relative => {
            let rows = counted.rows.iter().map(|row| sides(&row.own, judge));
            rows.fold((0, 0), |sum: (u64, u64), (before, after)| {
                let before = sum.0.saturating_add(before.weight);
                (before, sum.1.saturating_add(after.weight))
            })
        }
    };
    let row = |row: &CountedRow| {
        let (before, after) = sides(&row.own, judge);
        let weights = Weights {
            before,
            after,
            all_before: whole.0,
            all_after: whole.1,
        };
        let children = counted.has_children.then(|| judged(&row.children, judge));
        ComparedRow {
            cells: texts(&row.cells, naming),
            weights,
            own: judged(&row.own, judge),
            children,
            inlining: inlining(row, judge).filter(|_| counted.has_children),
            is_renamed: naming.is_renamed(&options.keys, &row.cells),
        }
    };
    let n_rows = counted.rows.len();
    let n_parts = parallel::n_cpus().min(n_rows / ROWS_OF_THREAD);
    let rows = parallel::in_parts(0..n_rows, n_parts, |part| {
        counted.rows[part].iter().map(row).collect::<Vec<_>>()
    });
    ComparedEvent {
        name,
        kind: EventKind::default(),
        all,
        total: None,
        has_children: counted.has_children,
        rows: rows.into_iter().flatten().collect(),
    }
}

fn sides(counts: &RunCounts, judge: &Judge<'_>) -> (SampleCount, SampleCount) {
    let n_before = judge.n_before();
    (
        counts.side(Side::Before, n_before),
        counts.side(Side::After, n_before),
    )
}

fn texts(cells: &[u32], naming: &Naming) -> Vec<String> {
    let texts = cells.iter().map(|&cell| naming.text(cell).to_owned());
    texts.collect()
}

/// What is said of counts; with few samples nothing is sure, nor where a side has none at all.
fn judged(counts: &RunCounts, judge: &Judge<'_>) -> Judged {
    let is_tested = counts.samples() >= FEWEST_SAMPLES && judge.has_both_sides();
    if is_tested {
        Judged::tested(judge.estimate(counts))
    } else {
        Judged::untested(judge.estimate(counts))
    }
}

/// What is said of all of the event: of shares it is 1.
pub(crate) fn total(judge: &Judge<'_>, per: &Per) -> Option<Judged> {
    let judged = || judged(judge.all(), judge);
    (*per != Per::Event).then(judged)
}

/// What a compiler does otherwise: of the function's samples, how many are only where it is inlined.
fn inlining(row: &CountedRow, judge: &Judge<'_>) -> Option<Inlining> {
    let (all, standing) = (sides(&row.children, judge), sides(&row.standing, judge));
    let mostly = |all: u64, standing: u64| match all.saturating_sub(standing) {
        _ if all == 0 => None,
        inlined if inlined > all / 2 => Some(true),
        inlined if inlined <= all / 20 => Some(false),
        _ => None,
    };
    let before = mostly(all.0.weight, standing.0.weight);
    match (before, mostly(all.1.weight, standing.1.weight)) {
        (Some(false), Some(true)) => Some(Inlining::Begun),
        (Some(true), Some(false)) => Some(Inlining::Ended),
        _ => None,
    }
}

/// Marks what is beyond noise, bounding false discoveries over all rows of all events, and their totals; leaves out rows
/// that have nothing to say, and orders the others.
///
/// Rows with few samples are no tests: that depends on both sides together, and not on their difference (Bourgon,
/// Gentleman, Huber, PNAS 107, 2010).
pub(crate) fn mark<'e>(
    events: impl Iterator<Item = &'e mut ComparedEvent>,
    options: &CompareOptions,
) {
    let mut events: Vec<&mut ComparedEvent> = events.collect();
    let mut tests: Vec<&mut Judged> = Vec::new();
    for event in events.iter_mut() {
        for row in &mut event.rows {
            tests.extend([&mut row.own].into_iter().chain(&mut row.children));
        }
        tests.extend(&mut event.total);
    }
    tests.retain(|judged| judged.is_tested);
    let p_values: Vec<f64> = tests.iter().map(|one| one.estimate.p_value).collect();
    for (test, q_value) in tests.into_iter().zip(adjusted(&p_values)) {
        test.q_value = q_value;
        test.is_sure = q_value <= options.alpha;
    }
    for event in events {
        event.rows.retain(|row| is_shown(row, options));
        event.rows.sort_by(|a, b| {
            let order = match options.order {
                RowOrder::Amount => order_of_amounts(a, b),
                RowOrder::Computed => {
                    let by_weights = a.weights.order(&b.weights, options.compute);
                    order_of_marks(a, b, options).then(by_weights)
                }
                RowOrder::Baseline => a.weights.order_of_baseline(&b.weights),
            };
            order
                .then_with(|| b.weights.before.weight.cmp(&a.weights.before.weight))
                .then_with(|| a.cells.cmp(&b.cells))
        });
    }
}

/// By how much amounts changed.
fn order_of_amounts(a: &ComparedRow, b: &ComparedRow) -> Ordering {
    let place = |row: &ComparedRow| {
        let (group, judged) = row.ordered_by();
        (group, judged.estimate.moved().abs())
    };
    let ((a_group, a_moved), (b_group, b_moved)) = (place(a), place(b));
    a_group.cmp(&b_group).then(b_moved.total_cmp(&a_moved))
}

/// By sizes of differences, significant ones come first: larger ones may be chance.
fn order_of_marks(a: &ComparedRow, b: &ComparedRow, options: &CompareOptions) -> Ordering {
    let is_sure = |row: &ComparedRow| {
        row.own.is_sure || row.children.is_some_and(|children| children.is_sure)
    };
    match options.compute {
        Compute::DeltaAbs => is_sure(b).cmp(&is_sure(a)),
        _ => Ordering::Equal,
    }
}

/// Rows without samples of their own are shown if they changed with what they called.
fn is_shown(row: &ComparedRow, options: &CompareOptions) -> bool {
    let is_there = row.weights.is_before() || row.weights.is_after();
    let has_changed = row.children.is_some_and(|children| children.is_sure);
    let is_of_both = row.weights.is_before() && row.weights.is_after();
    (is_there || has_changed) && (options.one_sided == OneSided::Shown || is_of_both)
}
