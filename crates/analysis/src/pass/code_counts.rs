//! Stacks of code, counted by thread, CPU and event: without times, and without samples one by one.
//!
//! All is numbered in the order of first samples: which thread read what does not show.

mod counts;
#[cfg(test)]
mod tests;

use super::blocks::have_times;
use super::code_nodes::{CodeNodes, code_query};
use super::counts::Counts;
use super::dimensions::Grouping;
use super::finish::{event_numbers, profile_of};
use super::group_by::GroupBy;
use super::load::{Options, Progress, progress_of};
use super::sampled::NO_TIMES;
use super::stacks::{ROOM, StacksPass};
use crate::Error;
use crate::index::SampleOrder;
use crate::recording::Recording;
use crate::samples::check_filter;
use counts::{NodeCounts, TaskCounts};
use rprof_perfdata::Reader;
use rprof_profile::CountedStacks;

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
    // Equal stacks of different threads are one.
    let nothing = GroupBy {
        names: false,
        ..GroupBy::default()
    };
    let grouping = Grouping::of(&recording, &nothing)?;
    let n_chunks = recording.index.chunks.len();
    let mut first = |done| progress(progress_of(0.1, 0.4, done, n_chunks));
    let pass: StacksPass<'_, TaskCounts> = StacksPass::new(&query, &grouping, ROOM);
    let mut found = pass.find(&mut first)?;
    let mut symbols = query.symbolize(found.locations(), request)?;
    let nodes = CodeNodes::new(&symbols);
    let mut counts = Counts::new(reader.events().len());
    counts.ignored = std::mem::take(&mut found.ignored);
    let mut counted = NodeCounts::new(&query, &symbols, &nodes);
    let mut second = |done, left| progress(progress_of(0.6, 0.4, done, left));
    pass.count_all(found, &mut second, |threads| {
        for thread in threads {
            counted.add(&thread, &mut counts);
        }
        Ok(())
    })?;
    let mut stacks = CountedStacks::default();
    let events = event_numbers(&query, &counts);
    let counted = counted.into_counts();
    stacks.profile = profile_of(&query, &grouping, &mut symbols, counts);
    counted.fill(&query, &events, &mut stacks);
    let (history, strings) = (&recording.index.history, &mut stacks.profile.strings);
    stacks.code = nodes.describe(&mut stacks.stacks, (history, &symbols), strings);
    if !have_times(reader) {
        stacks.span_ns = None;
        if !stacks.counts.is_empty() {
            stacks.profile.warnings.push(NO_TIMES.to_owned());
        }
    }
    Ok(stacks)
}
