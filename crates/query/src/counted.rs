//! Samples that are selected, counted by stack.

use crate::SampleSelection;
use crate::by::{GroupCounts, Grouped};
use crate::chosen::Chosen;
use crate::focus::part_of;
use rprof_base::parallel;
use rprof_profile::{EventProfile, SampleColumns, SampleCount, SampledProfile, Tree};
use std::ops::Range;

/// Counts the samples of an event that are selected.
pub(crate) fn count(
    sampled: &mut SampledProfile,
    selection: &SampleSelection,
) -> Option<EventProfile> {
    if selection.by.is_empty() {
        return count_whole(sampled, selection);
    }
    let mut event = without_counts(sampled, selection)?;
    let chosen = Chosen::new(sampled, selection);
    let grouped = Grouped::new(sampled, &selection.by);
    let counts = by_group(sampled, &chosen, &grouped);
    let all = counts.all;
    (event.tree, event.groups) = grouped.tree_of(counts, sampled);
    Some(of_part(event, all, selection))
}

/// Counts them where samples are told apart by nothing but the names of threads.
pub(crate) fn count_whole(
    sampled: &SampledProfile,
    selection: &SampleSelection,
) -> Option<EventProfile> {
    let mut event = without_counts(sampled, selection)?;
    let counts = by_stack(sampled, &Chosen::new(sampled, selection));
    event.tree = sampled.stacks.counted(&counts.by_stack);
    event.groups = sampled.groups.clone();
    Some(of_part(event, counts.all, selection))
}

fn without_counts(sampled: &SampledProfile, selection: &SampleSelection) -> Option<EventProfile> {
    let of = sampled.profile.events.get(selection.event)?;
    Some(EventProfile {
        name: of.name.clone(),
        kind: of.kind,
        sampling: of.sampling,
        loss: of.loss,
        samples: 0,
        weight: 0,
        tree: Tree::default(),
        groups: Vec::new(),
    })
}

/// The event with its totals, and the part of the stacks that counts.
fn of_part(mut event: EventProfile, all: SampleCount, selection: &SampleSelection) -> EventProfile {
    (event.samples, event.weight) = (all.samples, all.weight);
    if let Some(focus) = selection.focus {
        event.tree = part_of(&event.tree, focus);
    }
    event
}

/// What samples count.
struct StackCounts {
    /// All of the totals.
    all: SampleCount,
    /// By node.
    by_stack: Vec<SampleCount>,
}

fn by_stack(sampled: &SampledProfile, chosen: &Chosen) -> StackCounts {
    let n_nodes = sampled.stacks.nodes().len();
    let samples = &sampled.samples;
    let mut parts = in_parts(chosen.range.clone(), |range| {
        let columns = samples.columns(range);
        match columns.weights {
            Some(weights) => weighed(chosen, columns, weights, n_nodes),
            None => {
                let each = samples.weight_of_each(chosen.event).unwrap_or(0);
                alike(chosen, columns, each, n_nodes)
            }
        }
    })
    .into_iter();
    let mut counts = parts.next().unwrap_or(StackCounts {
        all: SampleCount::default(),
        by_stack: Vec::new(),
    });
    for part in parts {
        counts.all.add(part.all);
        let all = counts.by_stack.iter_mut().zip(part.by_stack);
        all.for_each(|(all, one)| all.add(one));
    }
    for (stack, count) in (0u32..).zip(&mut counts.by_stack) {
        if !chosen.has_stack(stack) {
            *count = SampleCount::default();
        }
    }
    counts
}

/// Samples of which each counts for the same: half the memory to go through, and more.
fn alike(chosen: &Chosen, columns: SampleColumns<'_>, each: u64, n_nodes: usize) -> StackCounts {
    let mut counts = vec![0u32; n_nodes];
    let mut n_all = 0u64;
    chosen.for_each(columns, |at, is_shown| {
        n_all += 1;
        if is_shown && let Some(count) = counts.get_mut(columns.stacks[at] as usize) {
            *count += 1;
        }
    });
    let count = |samples: u64| SampleCount {
        samples,
        weight: samples.saturating_mul(each),
    };
    StackCounts {
        all: count(n_all),
        by_stack: counts.into_iter().map(|n| count(n.into())).collect(),
    }
}

fn weighed(
    chosen: &Chosen,
    columns: SampleColumns<'_>,
    weights: &[u64],
    n_nodes: usize,
) -> StackCounts {
    let mut counts = StackCounts {
        all: SampleCount::default(),
        by_stack: vec![SampleCount::default(); n_nodes],
    };
    chosen.for_each(columns, |at, is_shown| {
        let one = SampleCount::one(weights[at]);
        counts.all.add(one);
        let stack = columns.stacks[at] as usize;
        if is_shown && let Some(count) = counts.by_stack.get_mut(stack) {
            count.add(one);
        }
    });
    counts
}

fn by_group(sampled: &SampledProfile, chosen: &Chosen, grouped: &Grouped<'_>) -> GroupCounts {
    let n_nodes = sampled.stacks.nodes().len();
    let samples = &sampled.samples;
    let each = samples.weight_of_each(chosen.event).unwrap_or(0);
    let parts = in_parts(chosen.range.clone(), |range| {
        let columns = samples.columns(range);
        let of = (chosen, columns);
        let key = |at: usize| grouped.key(columns.threads[at], columns.cpus[at]);
        match columns.weights {
            None => GroupCounts::of(of, n_nodes, key, |key| (key, SampleCount::one(each))),
            Some(weights) => {
                let item = |at| (key(at), weights[at]);
                GroupCounts::of(of, n_nodes, item, |(key, weight)| {
                    (key, SampleCount::one(weight))
                })
            }
        }
    });
    let mut counts = GroupCounts::default();
    parts.into_iter().for_each(|part| counts.merge(part));
    counts
}

/// Samples that are worth a thread.
const PART: usize = 1 << 20;

/// Does work on parts of a range, several at once if it is long. Parts come back in order.
fn in_parts<R: Send>(range: Range<usize>, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let n_parts = (range.len() / PART).min(parallel::n_cpus());
    parallel::in_parts(range, n_parts, work)
}
