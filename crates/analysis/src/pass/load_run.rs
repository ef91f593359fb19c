//! A recording to a run: what each function counted, by block of time.

use super::blocks::{BlockCounts, Blocks, LoggedStacks, have_times};
use super::counts::Counts;
use super::dimensions::Grouping;
use super::finish::{is_left_out, lost_sideband};
use super::group_key::GroupKey;
use super::load::{Options, Progress, count_stacks, query_of};
use super::places::Naming;
use super::query::{Query, WantedFrames};
use super::stacks::ROOM;
use super::used_images::used_images;
use crate::Error;
use crate::about;
use crate::index::SampleOrder;
use crate::recording::Recording;
use crate::samples::check_filter;
use crate::symbolize::Symbols;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_perfdata::Reader;
use rprof_profile::run::{CountedBlocks, Run, RunEvent, RunRows};
use rprof_profile::{Group, NodeKey, SampleCount, Tally, Tree};

/// Reads, symbolizes and counts a recording by blocks of time, of equal length; samples count, never branches.
/// `progress` is told how far it is.
///
/// # Errors
/// [`Error`] if it cannot be read at all; what is damaged in it becomes a warning.
pub fn load_run(
    reader: &Reader,
    options: &Options,
    n_blocks: u32,
    progress: &mut Progress<'_>,
) -> Result<Run, Error> {
    check_filter(reader, &options.filter)?;
    let recording = Recording::open(reader, &options.locator, SampleOrder::AnyWithTimes)?;
    let frames = if options.stacks {
        WantedFrames::All
    } else {
        WantedFrames::Innermost
    };
    let (mut query, request) = query_of(&recording, options, (frames, NodeKey::Function))?;
    if have_times(reader)
        && let Some(times) = query.samples.asked_times()
    {
        query.blocks = Blocks::of(&times, n_blocks);
    }
    let grouping = Grouping::of(&recording, &options.group_by)?;
    // Stacks have as much room as in a profile, and what blocks counted as much again.
    let room = if query.blocks.are_several() {
        2 * ROOM
    } else {
        ROOM
    };
    let (mut symbols, counts) = count_stacks(&query, &grouping, request, room, progress)?;
    Ok(run_of(&query, &grouping, &mut symbols, counts))
}

/// Makes a run of all that was counted; names and functions move into it.
fn run_of(
    query: &Query<'_>,
    grouping: &Grouping<'_>,
    symbols: &mut Symbols,
    counts: Counts,
) -> Run {
    let recording = query.recording;
    let mut run = Run {
        about: about::about(recording.reader),
        strings: std::mem::take(&mut symbols.strings),
        frames: std::mem::take(&mut symbols.functions),
        unwound: counts.ends.named(&recording.index.history),
        warnings: std::mem::take(&mut symbols.warnings),
        ..Run::default()
    };
    run.warnings.extend(counts.ignored.warnings());
    run.warnings.extend(grouping.warnings());
    let events = counts.tallies.into_iter().zip(counts.blocks);
    for (idx, (tally, blocks)) in events.enumerate() {
        let counted = (tally, blocks, &*counts.logs);
        add_event((query, idx), (grouping, symbols), counted, &mut run);
    }
    run.images = used_images(recording, &run.frames, &run.strings);
    run.warnings.extend(recording.warnings());
    run
}

fn add_event(
    (query, idx): (&Query<'_>, usize),
    (grouping, symbols): (&Grouping<'_>, &Symbols),
    (tally, mut blocks, logs): (Tally<GroupKey>, BlockCounts, &[LoggedStacks]),
    run: &mut Run,
) {
    let recording = query.recording;
    let Some(event) = recording.reader.events().get(idx) else {
        return;
    };
    let loss = recording.index.losses.get(idx).copied().unwrap_or_default();
    if is_left_out(event, tally.samples()) {
        run.warnings.extend(lost_sideband(loss));
        return;
    }
    let counted = tally.into_parts();
    let mut naming = Naming {
        recording,
        symbols,
        frames: &run.frames,
        strings: &mut run.strings,
    };
    // What keys tell apart may have one name.
    let mut groups: Interner<u32, Group, RandomState> = Interner::default();
    let group_of_key = counted.groups.iter().map(|key| {
        let group = key.in_profile(grouping, &mut naming, &mut run.values);
        groups.intern(group)
    });
    let group_of_key: Vec<u32> = group_of_key.collect();
    let all = SampleCount {
        samples: counted.samples,
        weight: counted.weight,
    };
    let n_blocks = query.blocks.len();
    blocks.totals.resize(n_blocks, SampleCount::default());
    let has_stacks = query.stacks.chains.stacks && recording.reader.has_call_chains();
    let rows = CountedBlocks {
        tree: &counted.tree,
        n_blocks,
        groups: &group_of_key,
        has_stacks,
        self_time: query.self_time,
    };
    let names = (&run.frames, &run.strings);
    let RunRows { rows, namesakes } = if query.blocks.are_several() {
        RunRows::of(
            rows,
            |block, nodes| add_block((idx, block), (&blocks, logs), nodes),
            names,
        )
    } else {
        blocks.totals = vec![all];
        RunRows::of(rows, |_, nodes| add_own(&counted.tree, nodes), names)
    };
    run.events.push(RunEvent {
        name: event.name.clone().into_raw(),
        kind: about::kind_of(&event.attr),
        sampling: about::sampling_of(&event.attr),
        all,
        loss,
        has_stacks,
        blocks: query.blocks.counted(&blocks.totals),
        rows,
        namesakes,
        groups: groups.into_values(),
    });
}

/// Adds what a block of an event counted at each node.
pub(super) fn add_block(
    (event, block): (usize, usize),
    (blocks, logs): (&BlockCounts, &[LoggedStacks]),
    nodes: &mut [SampleCount],
) {
    let counted = blocks.nodes.get(block).into_iter().flatten();
    for (sum, &count) in nodes.iter_mut().zip(counted) {
        sum.add(count);
    }
    let block = u32::try_from(block).unwrap_or(u32::MAX);
    logs.iter()
        .for_each(|logged| logged.add_to((event, block), nodes));
}

/// Adds what was counted at each node in all.
fn add_own(tree: &Tree, nodes: &mut [SampleCount]) {
    for (sum, node) in nodes.iter_mut().zip(tree.nodes()) {
        sum.add(SampleCount {
            samples: node.self_samples,
            weight: node.self_weight,
        });
    }
}

#[cfg(test)]
mod tests;
