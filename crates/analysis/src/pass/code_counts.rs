//! Stacks of code, counted by thread, CPU and event: without times, and without samples one by one.
//!
//! Locations have names before their stacks are counted, so that memory follows the program. All is numbered in the
//! order of first samples: which thread read what does not show.

mod counts;
#[cfg(test)]
mod tests;

use super::blocks::have_times;
use super::code_nodes::{CodeNodes, code_query};
use super::counts::{Counts, OptionalImage, UnnamedWeights, new_tallies};
use super::dimensions::{GroupBy, Grouping};
use super::driver::{Pass, ResolvedSample, TaskSample, run};
use super::finish::{event_numbers, profile_of};
use super::group_key::GroupKey;
use super::load::{Options, Progress, progress_of};
use super::locations::find_locations;
use super::query::Query;
use super::sampled::NO_TIMES;
use crate::Error;
use crate::index::SampleOrder;
use crate::locations::{LocationCache, ShownTasks};
use crate::recording::Recording;
use crate::samples::{DecodedSample, check_filter};
use crate::stacks::StackEndCounts;
use crate::symbolize::Symbols;
use counts::{CodeCounts, NONE};
use rprof_perfdata::Reader;
use rprof_profile::{CountedStacks, FrameId, Tally};

/// Reads, names and counts a recording by stacks of code locations, threads, CPUs and events; `progress` is told how
/// far it is.
///
/// # Errors
/// [`Error`] if it cannot be read at all; what is damaged in it becomes a warning.
pub fn load_counted_stacks(
    reader: &Reader,
    options: &Options,
    progress: &mut Progress<'_>,
) -> Result<CountedStacks, Error> {
    check_filter(reader, &options.filter)?;
    let recording = Recording::open(reader, &options.locator, SampleOrder::Any)?;
    let (query, request) = code_query(&recording, options)?;
    let n_chunks = recording.index.chunks.len();
    let mut first = |done| progress(progress_of(0.1, 0.4, done, n_chunks));
    let found = find_locations(&query, |_, _| {}, &mut first)?;
    let mut symbols = query.symbolize(found.locations, request)?;
    let nodes = CodeNodes::new(&symbols);
    let pass = CodePass {
        query: &query,
        symbols: &symbols,
        nodes: &nodes,
    };
    let mut second = |done| progress(progress_of(0.6, 0.4, done, n_chunks));
    let result = run(&query, &pass, &mut second)?;
    let mut counts = Counts::new(reader.events().len());
    counts.ignored = result.ignored;
    let mut counted = CodeCounts::default();
    for local in result.locals {
        counts.merge(Counts {
            tallies: local.tallies,
            unnamed: local.unnamed,
            ends: local.ends,
            ..Counts::default()
        });
        counted.merge(local.counted);
    }
    let events = event_numbers(reader, &counts);
    let grouping = Grouping::of(&recording, &GroupBy::default())?;
    let mut stacks = CountedStacks {
        profile: profile_of(&query, &grouping, &mut symbols, counts),
        ..CountedStacks::default()
    };
    let has_times = have_times(reader);
    stacks.span_ns = counted
        .span_ns
        .filter(|_| has_times)
        .map(|[first, last]| first..=last);
    counted.fill(&query, &events, &mut stacks);
    let (history, strings) = (&recording.index.history, &mut stacks.profile.strings);
    stacks.code = nodes.describe(&mut stacks.stacks, (history, &symbols), strings);
    if !has_times && !stacks.counts.is_empty() {
        stacks.profile.warnings.push(NO_TIMES.to_owned());
    }
    Ok(stacks)
}

struct CodePass<'a> {
    query: &'a Query<'a>,
    symbols: &'a Symbols,
    nodes: &'a CodeNodes,
}

/// A thread's counts.
struct Local {
    /// Totals by event.
    tallies: Vec<Tally<GroupKey>>,
    unnamed: UnnamedWeights,
    ends: StackEndCounts,
    counted: CodeCounts,
    shown: ShownTasks,
    locations: LocationCache,
    path: Vec<FrameId>,
}

/// Where a stack is counted.
#[derive(Clone, Copy, Default)]
struct CodeStack {
    /// `None` if it is not shown.
    node: Option<u32>,
    unnamed: OptionalImage,
    /// Whether its samples count for totals only now that it has a name.
    in_totals: bool,
}

/// The group of samples that are not shown.
const HIDDEN: u64 = 1;

impl Pass for CodePass<'_> {
    type Local = Local;
    type Stack = CodeStack;

    fn local(&self) -> Local {
        Local {
            tallies: new_tallies(self.query.recording.reader.events().len()),
            unnamed: UnnamedWeights::default(),
            ends: StackEndCounts::default(),
            counted: CodeCounts::default(),
            shown: ShownTasks::default(),
            locations: LocationCache::new(),
            path: Vec::new(),
        }
    }

    #[inline]
    fn group(&self, local: &mut Local, sample: &TaskSample<'_, '_>) -> Option<u64> {
        let decoded = sample.decoded;
        let filter = self.query.samples.filter;
        if !filter.hide_unresolved {
            add_sample(self.query, &mut local.tallies, decoded)?;
        }
        let id = (decoded.pid, decoded.tid);
        let history = &self.query.recording.index.history;
        let is_shown =
            local.shown.has(filter, history, id, sample.task) && self.query.samples.shows(decoded);
        // Equal stacks of different threads are one.
        if is_shown {
            Some(0)
        } else {
            filter.hide_unresolved.then_some(HIDDEN)
        }
    }

    #[inline]
    fn sample(
        &self,
        local: &mut Local,
        sample: &ResolvedSample<'_, '_>,
        known: Option<CodeStack>,
    ) -> Option<CodeStack> {
        local.ends.add(sample.end);
        let stack = known.unwrap_or_else(|| self.stack(local, sample));
        if stack.in_totals {
            add_sample(self.query, &mut local.tallies, sample.decoded)?;
        }
        if let Some(node) = stack.node {
            let weight = self.query.weight(sample.decoded);
            local.unnamed.add(stack.unnamed.image(), weight);
            local.counted.add_sample(sample, node, weight);
        }
        Some(stack)
    }
}

/// Counts a sample for the totals of its event; `None` if there is no such event.
fn add_sample(
    query: &Query<'_>,
    tallies: &mut [Tally<GroupKey>],
    decoded: &DecodedSample<'_>,
) -> Option<()> {
    let tally = tallies.get_mut(decoded.event)?;
    tally.add_samples(1, query.weight(decoded));
    Some(())
}

impl CodePass<'_> {
    /// Puts a stack into the tree, if it is shown.
    fn stack(&self, local: &mut Local, sample: &ResolvedSample<'_, '_>) -> CodeStack {
        let Local {
            locations, path, ..
        } = local;
        path.clear();
        let mut innermost = None;
        let history = &self.query.recording.index.history;
        sample.for_each_address(|address| {
            let find = |location| self.symbols.number(location);
            let location = locations.value(history, sample.mappings, address, find);
            path.extend(match innermost {
                None => self.nodes.sampled(location),
                Some(_) => self.nodes.caller(location),
            });
            innermost.get_or_insert(location);
        });
        let is_shown = match innermost {
            Some(location) => self.symbols.accepts(location),
            // Without an address it is in no function, and a filter of functions is not for it.
            None => !self.query.samples.filter.has_functions(),
        };
        let tree = &mut local.counted.tree;
        let node = (is_shown && sample.group != HIDDEN).then(|| {
            let frames = path.iter().rev();
            let node = frames.fold(None, |outer, &frame| Some(tree.child(outer, 0, frame)));
            node.unwrap_or(NONE)
        });
        let unnamed = innermost.and_then(|location| self.symbols.unnamed_image(location));
        CodeStack {
            node,
            unnamed: OptionalImage::of(unnamed),
            in_totals: innermost.is_some_and(|location| self.symbols.adds_to_totals(location)),
        }
    }
}
