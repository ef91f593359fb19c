//! A recording to a run: what each function counted, by block of time.

use super::blocks::{BlockCounts, Blocks, LoggedStacks, have_times};
use super::counts::Counts;
use super::dimensions::Grouping;
use super::finish::{is_left_out, loss_of, lost_sideband, sampling_of};
use super::group_key::GroupKey;
use super::load::{Options, Progress, count_stacks, query_of};
use super::places::Naming;
use super::query::Query;
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
use rprof_perfdata::{Reader, RecordedEvent};
use rprof_profile::run::{CountedBlocks, Run, RunEvent, RunRows};
use rprof_profile::{Group, Loss, SampleCount, TallyParts, Tree};

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
    let (mut query, request) = query_of(&recording, options, options.frames())?;
    if have_times(reader)
        && let Some(blocks) = Blocks::of(&query.samples.asked_times(), n_blocks)
    {
        query.blocks = blocks;
    }
    let grouping = Grouping::of(&recording, &options.group_by)?.with_sizes_of_frames(&query);
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
        times_ns: query.blocks.times_ns(),
        strings: std::mem::take(&mut symbols.strings),
        frames: std::mem::take(&mut symbols.functions),
        unwound: counts.ends.named(&recording.index.history),
        warnings: std::mem::take(&mut symbols.warnings),
        ..Run::default()
    };
    run.warnings.extend(counts.ignored.warnings());
    run.warnings.extend(grouping.warnings());
    run.warnings.extend(query.samples.source.warnings());
    run.warnings
        .extend_from_slice(query.samples.speed_warnings());
    let events = recording.reader.events().iter().zip(counts.tallies);
    for (number, ((event, tally), blocks)) in events.zip(counts.blocks).enumerate() {
        let loss = loss_of(query, number);
        if is_left_out(query, number, tally.samples()) {
            run.warnings.extend(lost_sideband(query, number, loss));
            continue;
        }
        let counts = EventCounts {
            number,
            event,
            loss,
            tally: tally.into_parts(),
            blocks,
            logs: &counts.logs,
        };
        let named = counts.named(query, grouping, symbols, &mut run);
        run.events.push(named);
    }
    run.images = used_images(recording, &run.frames, &run.strings);
    run.warnings.extend(recording.warnings());
    run
}

/// What was counted of an event.
struct EventCounts<'a> {
    /// Its number in the recording.
    number: usize,
    event: &'a RecordedEvent,
    loss: Loss,
    tally: TallyParts<GroupKey>,
    blocks: BlockCounts,
    /// Of all events.
    logs: &'a [LoggedStacks],
}

impl EventCounts<'_> {
    /// The event of a run, which gets the names of its groups.
    fn named(
        mut self,
        query: &Query<'_>,
        grouping: &Grouping<'_>,
        symbols: &Symbols,
        run: &mut Run,
    ) -> RunEvent {
        let mut naming = Naming {
            recording: query.recording,
            symbols,
            frames: &run.frames,
            strings: &mut run.strings,
            demangling: query.demangling,
        };
        // What keys tell apart may have one name.
        let mut groups: Interner<u32, Group, RandomState> = Interner::default();
        let group_of_key = self.tally.groups.iter().map(|key| {
            let group = key.in_profile(grouping, &mut naming, &mut run.values);
            groups.intern(group)
        });
        let group_of_key: Vec<u32> = group_of_key.collect();
        let has_stacks = query.stacks.chains.stacks && query.recording.reader.has_call_chains();
        let counted = CountedBlocks {
            tree: &self.tally.tree,
            n_blocks: query.blocks.len(),
            groups: &group_of_key,
            has_stacks,
            self_time: query.self_time,
        };
        let names = (&run.frames, &run.strings);
        let RunRows { rows, namesakes } = if query.blocks.are_several() {
            RunRows::of(counted, |block, nodes| self.add_block(block, nodes), names)
        } else {
            RunRows::of(counted, |_, nodes| add_own(&self.tally.tree, nodes), names)
        };
        let all = SampleCount {
            samples: self.tally.samples,
            weight: self.tally.weight,
        };
        if !query.blocks.are_several() {
            self.blocks.totals = vec![all];
        }
        self.blocks
            .totals
            .resize(query.blocks.len(), SampleCount::default());
        let (name, kind) = query.samples.source.event(self.number).unwrap_or_default();
        RunEvent {
            name: name.into_raw(),
            kind,
            sampling: sampling_of(query, self.event, &run.about),
            all,
            loss: self.loss,
            has_stacks,
            blocks: query.blocks.counted(&self.blocks.totals),
            rows,
            namesakes,
            groups: groups.into_values(),
        }
    }

    /// Adds what a block counted at each node.
    fn add_block(&self, block: usize, nodes: &mut [SampleCount]) {
        self.blocks.add_to(block, nodes);
        for logged in self.logs {
            logged.add_to(self.number, block, nodes);
        }
    }
}

/// Adds what was counted at each node in all.
fn add_own(tree: &Tree, nodes: &mut [SampleCount]) {
    for (sum, node) in nodes.iter_mut().zip(tree.nodes()) {
        sum.add(node.own());
    }
}

#[cfg(test)]
mod tests;
