//! A recording to a run: what each function counted, by block of time.

use super::blocks::{BlockCounts, Blocks, have_times};
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
    let frames = match options.stacks {
        true => WantedFrames::All,
        false => WantedFrames::Innermost,
    };
    let (mut query, request) = query_of(&recording, options, (frames, NodeKey::Function))?;
    if have_times(reader)
        && let Some(times) = query.samples.asked_times()
    {
        query.blocks = Blocks::of(&times, n_blocks);
    }
    let grouping = Grouping::of(&recording, &options.group_by)?;
    // Stacks have as much room as in a profile, and what blocks counted as much again.
    let room = match query.blocks.are_several() {
        true => 2 * ROOM,
        false => ROOM,
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
    for (idx, counted) in events.enumerate() {
        add_event((query, idx), (grouping, symbols), counted, &mut run);
    }
    run.images = used_images(recording, &run.frames, &run.strings);
    run.warnings.extend(recording.warnings());
    run
}

fn add_event(
    (query, idx): (&Query<'_>, usize),
    (grouping, symbols): (&Grouping<'_>, &Symbols),
    (tally, blocks): (Tally<GroupKey>, BlockCounts),
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
    let (totals, counts) = by_block(query, (all, &counted.tree), blocks);
    let has_stacks = query.stacks.chains.stacks && recording.reader.has_call_chains();
    let rows = CountedBlocks {
        tree: &counted.tree,
        counts,
        groups: &group_of_key,
        has_stacks,
    };
    let RunRows { rows, namesakes } = RunRows::of(rows, &run.frames, &run.strings);
    run.events.push(RunEvent {
        name: event.name.clone().into_raw(),
        kind: about::kind_of(&event.attr),
        sampling: about::sampling_of(&event.attr),
        all,
        loss,
        has_stacks,
        blocks: query.blocks.counted(&totals),
        rows,
        namesakes,
        groups: groups.into_values(),
    });
}

/// What each block counted in all, and at each node of a tree.
fn by_block(
    query: &Query<'_>,
    (all, tree): (SampleCount, &Tree),
    mut blocks: BlockCounts,
) -> (Vec<SampleCount>, Vec<Vec<SampleCount>>) {
    if !query.blocks.are_several() {
        let own = tree.nodes().iter().map(|node| SampleCount {
            samples: node.self_samples,
            weight: node.self_weight,
        });
        return (vec![all], vec![own.collect()]);
    }
    let n = query.blocks.len();
    blocks.totals.resize(n, SampleCount::default());
    blocks.nodes.resize_with(n, Vec::new);
    (blocks.totals, blocks.nodes)
}

#[cfg(test)]
mod tests;
