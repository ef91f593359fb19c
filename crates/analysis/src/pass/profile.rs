//! The profile pass: stacks counted by function, of chunks that the stacks pass left.

use super::blocks::BlockCursor;
use super::counts::{
    Counts, GroupedTallies, OptionalImage, UnnamedWeights, group_number, is_counted,
};
use super::dimensions::Grouping;
use super::driver::{Pass, ResolvedSample, TaskSample, run_over};
use super::query::Query;
use crate::Error;
use crate::locations::LocationCache;
use crate::stacks::StackEndCounts;
use crate::symbolize::Symbols;
use rprof_profile::{FrameId, SampleCount};

/// Counts the samples of some chunks by function; all locations are symbolized. What could not be used was counted by
/// the pass before.
pub(super) fn count(
    query: &Query<'_>,
    chunks: &[usize],
    symbols: &Symbols,
    grouping: &Grouping<'_>,
    done: &mut dyn FnMut(usize),
) -> Result<Counts, Error> {
    let pass = ProfilePass {
        query,
        symbols,
        grouping,
    };
    let result = run_over(query, chunks, &pass, done)?;
    let mut all = Counts::new(query.recording.reader.events().len());
    for local in result.locals {
        let (tallies, blocks) = local.tallies.into_parts();
        all.merge(Counts {
            tallies,
            blocks,
            unnamed: local.unnamed,
            ends: local.ends,
            ..Counts::default()
        });
    }
    Ok(all)
}

struct ProfilePass<'a> {
    query: &'a Query<'a>,
    symbols: &'a Symbols,
    grouping: &'a Grouping<'a>,
}

/// A thread's counts.
struct Local {
    tallies: GroupedTallies,
    unnamed: UnnamedWeights,
    ends: StackEndCounts,
    locations: LocationCache,
    frames: Vec<FrameId>,
    cursor: BlockCursor,
}

/// Where a stack was counted.
#[derive(Clone, Copy, Default)]
struct CountedStack {
    node: u32,
    unnamed: OptionalImage,
}

impl Pass for ProfilePass<'_> {
    type Local = Local;
    type Stack = CountedStack;

    fn local(&self) -> Local {
        Local {
            tallies: GroupedTallies::of(self.query),
            unnamed: UnnamedWeights::default(),
            ends: StackEndCounts::default(),
            locations: LocationCache::new(),
            frames: Vec::new(),
            cursor: BlockCursor::default(),
        }
    }

    #[inline]
    fn group(&self, local: &mut Local, sample: &TaskSample<'_, '_>) -> Option<u64> {
        let entry = sample.into();
        local.tallies.take(self.query, self.grouping, &entry)
    }

    #[inline]
    fn sample(
        &self,
        local: &mut Local,
        sample: &ResolvedSample<'_, '_>,
        known: Option<CountedStack>,
    ) -> Option<CountedStack> {
        local.ends.add(sample.end);
        let count = SampleCount::one(self.query.weight(sample.decoded));
        if let Some(known) = known {
            let event = sample.decoded.event;
            let tally = local.tallies.of_event(event)?;
            tally.count(known.node, count);
            if self.symbols.hides_unresolved {
                tally.add_samples(1, count.weight);
            }
            local.unnamed.add(known.unnamed.image(), count.weight);
            let in_total = self.symbols.hides_unresolved;
            self.count_block(local, sample, (in_total, Some(known.node)));
            return None;
        }
        let innermost = self.find_frames(local, sample)?;
        let tally = local.tallies.of_event(sample.decoded.event)?;
        let group = group_number(sample.group);
        let key = *tally.group_of(group)?;
        let is_counted = is_counted((self.symbols, innermost), tally, &key, count);
        let node = if is_counted {
            tally.add_stack(group, local.frames.iter().rev().copied(), count)
        } else {
            None
        };
        let in_total = self.symbols.adds_to_totals(innermost);
        self.count_block(local, sample, (in_total, node));
        if !is_counted {
            return None;
        }
        let unnamed = self.symbols.unnamed_image(innermost);
        local.unnamed.add(unnamed, count.weight);
        Some(CountedStack {
            node: node?,
            unnamed: OptionalImage::of(unnamed),
        })
    }
}

impl ProfilePass<'_> {
    /// Finds the frames of a sample, innermost first. Returns its innermost location.
    #[inline]
    fn find_frames(&self, local: &mut Local, sample: &ResolvedSample<'_, '_>) -> Option<u32> {
        let (symbols, frames) = (self.symbols, &mut local.frames);
        frames.clear();
        let mut innermost = None;
        let history = &self.query.recording.index.history;
        sample.for_each_address(|address| {
            let locations = &mut local.locations;
            let find = |location| symbols.number(location);
            let location = locations.value(history, sample.mappings, address, find);
            innermost.get_or_insert(location);
            frames.extend_from_slice(symbols.frames(location));
        });
        innermost
    }

    /// Counts a sample in its block, if there are several: for the totals, and at a node.
    #[inline]
    fn count_block(
        &self,
        local: &mut Local,
        sample: &ResolvedSample<'_, '_>,
        (in_total, node): (bool, Option<u32>),
    ) {
        if !self.query.blocks.are_several() {
            return;
        }
        let decoded = sample.decoded;
        let count = SampleCount::one(self.query.weight(decoded));
        let block = local.cursor.at(&self.query.blocks, decoded.head.time_ns);
        let Some(blocks) = local.tallies.blocks_of(decoded.event) else {
            return;
        };
        if in_total {
            blocks.add_samples(block, count);
        }
        if let Some(node) = node {
            blocks.count(block, node, count);
        }
    }
}
