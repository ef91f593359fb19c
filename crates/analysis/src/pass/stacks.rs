//! The stacks pass: samples counted by stacks of code locations, which have no names yet. It finds the locations, too,
//! so that only chunks whose stacks have no room are read again.

mod by_function;
mod kept;

pub(super) use by_function::count_by_function;
use kept::{KeptStack, KeptStacks};

use super::blocks::{BlockCounts, BlockCursor};
use super::counts::{Counts, GroupedTallies, group_number};
use super::dimensions::Grouping;
use super::driver::{Pass, ResolvedSample, TaskSample, run_over};
use super::group_key::GroupKey;
use super::query::Query;
use crate::Error;
use crate::locations::{Location, LocationCache, distinct};
use crate::samples::IgnoredSamples;
use crate::stacks::StackEndCounts;
use crate::symbolize::Symbols;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::{SampleCount, Tally, TallyParts};
use std::marker::PhantomData;
use std::sync::Arc;

/// Bytes of stacks that are kept, by all threads together: some 700,000 of 40 frames. Those of the chunks at hand may
/// come on top.
pub(super) const ROOM: usize = 128 << 20;

/// What a thread counts of the stacks that it keeps, by their numbers.
pub(super) trait StackCounts: Default + Send + Sync {
    /// Counts a sample of a stack, which is in a block of time.
    fn add_sample(
        &mut self,
        stack: u32,
        sample: &ResolvedSample<'_, '_>,
        block: u32,
        count: SampleCount,
    );

    /// Bytes that they take.
    fn bytes(&self) -> usize;

    /// Puts them in order, once all is counted.
    fn finish(&mut self);
}

/// What the stacks pass found.
pub(super) struct FoundStacks<C> {
    pub(super) threads: Vec<ThreadStacks<C>>,
    /// Chunks whose samples are not counted yet.
    left: Vec<usize>,
    /// What could not be used, in chunks that are left, too.
    pub(super) ignored: IgnoredSamples,
}

/// What a thread found.
pub(super) struct ThreadStacks<C> {
    /// By number.
    locations: Vec<Location>,
    kept: KeptStacks,
    /// What the kept stacks counted.
    pub(super) counts: Arc<C>,
    /// Totals and groups by event; their trees are empty.
    events: Vec<TallyParts<GroupKey>>,
    /// Totals by event and block; empty if there is one block.
    blocks: Vec<BlockCounts>,
    ends: StackEndCounts,
}

impl<C> FoundStacks<C> {
    /// All locations, sorted.
    pub(super) fn locations(&self) -> Vec<Location> {
        distinct(self.threads.iter().flat_map(|thread| &thread.locations))
    }
}

impl<C> ThreadStacks<C> {
    /// Adds what does not depend on names.
    pub(super) fn add_totals(&self, counts: &mut Counts) {
        for (tally, event) in counts.tallies.iter_mut().zip(&self.events) {
            tally.add_samples(event.samples, event.weight);
        }
        for (all, blocks) in counts.blocks.iter_mut().zip(&self.blocks) {
            for (block, &count) in (0..).zip(&blocks.totals) {
                all.add_samples(block, count);
            }
        }
        counts.ends.merge(&self.ends);
    }

    /// The numbers among symbols of the locations that stacks consist of.
    pub(super) fn numbers(&self, symbols: &Symbols) -> Vec<u32> {
        let locations = self.locations.iter();
        locations.map(|&one| symbols.number(one)).collect()
    }

    /// A kept stack.
    #[inline]
    pub(super) fn stack(&self, number: usize) -> Option<FoundStack<'_>> {
        let (KeptStack { group, .. }, locations) = self.kept.of(number)?;
        let event = usize::try_from(group >> 32).ok()?;
        let groups = &self.events.get(event)?.groups;
        Some(FoundStack {
            group,
            event,
            key: *groups.get(group_number(group) as usize)?,
            locations,
        })
    }
}

/// A stack that was kept.
pub(super) struct FoundStack<'s> {
    /// As [`Pass::group`] said.
    pub(super) group: u64,
    pub(super) event: usize,
    pub(super) key: GroupKey,
    /// Numbers, innermost first.
    pub(super) locations: &'s [u32],
}

/// The pass, for what is counted of each stack.
pub(super) struct StacksPass<'a, C> {
    query: &'a Query<'a>,
    grouping: &'a Grouping<'a>,
    /// Bytes of stacks that a thread keeps.
    room: usize,
    /// Whether chunks that are left are read for their locations.
    finds_all: bool,
    counts: PhantomData<fn() -> C>,
}

impl<'a, C: StackCounts> StacksPass<'a, C> {
    /// All threads together keep stacks of `room` bytes.
    pub(super) fn new(query: &'a Query<'a>, grouping: &'a Grouping<'a>, room: usize) -> Self {
        Self {
            query,
            grouping,
            room: room / query.samples.chunks().1,
            finds_all: true,
            counts: PhantomData,
        }
    }

    /// Counts all samples by stack, while there is room for stacks, and finds all locations.
    pub(super) fn find(&self, done: &mut dyn FnMut(usize)) -> Result<FoundStacks<C>, Error> {
        let all: Vec<usize> = (0..self.query.samples.chunks().0).collect();
        self.find_in(&all, done)
    }

    /// Calls `count` with all stacks, now that locations have names: those that were found, then those of chunks that
    /// were left, as many at a time as there is room for.
    pub(super) fn count_all(
        mut self,
        mut found: FoundStacks<C>,
        done: &mut dyn FnMut(usize, usize),
        mut count: impl FnMut(Vec<ThreadStacks<C>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.finds_all = false;
        let n_left = found.left.len();
        loop {
            count(std::mem::take(&mut found.threads))?;
            if found.left.is_empty() {
                return Ok(());
            }
            let n_before = n_left - found.left.len();
            let mut done = |n| done(n_before + n, n_left);
            found = self.find_in(&found.left, &mut done)?;
        }
    }

    fn find_in(
        &self,
        chunks: &[usize],
        done: &mut dyn FnMut(usize),
    ) -> Result<FoundStacks<C>, Error> {
        let result = run_over(self.query, chunks, self, done)?;
        let mut left = Vec::new();
        let mut threads = Vec::with_capacity(result.locals.len());
        for mut local in result.locals {
            left.extend(local.left);
            local.counts.finish();
            let (tallies, mut blocks) = local.tallies.into_parts();
            if !self.query.blocks.are_several() {
                blocks.clear();
            }
            threads.push(ThreadStacks {
                locations: local.numbers.into_values(),
                kept: local.kept,
                counts: Arc::new(local.counts),
                events: tallies.into_iter().map(Tally::into_parts).collect(),
                blocks,
                ends: local.ends,
            });
        }
        left.sort_unstable();
        Ok(FoundStacks {
            threads,
            left,
            ignored: result.ignored,
        })
    }
}

/// A thread's stacks.
pub(super) struct Local<C> {
    numbers: Interner<u32, Location, RandomState>,
    cache: LocationCache,
    tallies: GroupedTallies,
    kept: KeptStacks,
    counts: C,
    ends: StackEndCounts,
    cursor: BlockCursor,
    left: Vec<usize>,
}

impl<C: StackCounts> Pass for StacksPass<'_, C> {
    type Local = Local<C>;
    /// The number of the kept stack.
    type Stack = u32;

    fn local(&self) -> Local<C> {
        Local {
            numbers: Interner::default(),
            cache: LocationCache::new(),
            tallies: GroupedTallies::of(self.query),
            kept: KeptStacks::default(),
            counts: C::default(),
            ends: StackEndCounts::default(),
            cursor: BlockCursor::default(),
            left: Vec::new(),
        }
    }

    fn start_chunk(&self, local: &mut Local<C>, chunk: usize) -> bool {
        let bytes = local.kept.bytes() + local.counts.bytes();
        // A thread that is not to find locations takes at least one chunk: so reading ends.
        if bytes < self.room || (bytes == 0 && !self.finds_all) {
            return true;
        }
        if local.left.is_empty() {
            self.query.samples.source.remember_values(chunk);
        }
        local.left.push(chunk);
        self.finds_all
    }

    #[inline]
    fn group(&self, local: &mut Local<C>, sample: &TaskSample<'_, '_>) -> Option<u64> {
        if local.left.is_empty() {
            let tallied = sample.into();
            local.tallies.take(self.query, self.grouping, &tallied)
        } else {
            local.tallies.find_places(self.grouping, &sample.into());
            Some(u64::MAX)
        }
    }

    #[inline]
    fn sample(
        &self,
        local: &mut Local<C>,
        sample: &ResolvedSample<'_, '_>,
        known: Option<u32>,
    ) -> Option<u32> {
        let is_kept = local.left.is_empty();
        let weight = self.query.weight(sample.decoded);
        if is_kept {
            local.ends.add(sample.end);
        }
        let block = local
            .cursor
            .at(&self.query.blocks, sample.decoded.head.time_ns);
        let count = SampleCount::one(weight);
        if let Some(known) = known {
            if is_kept {
                local.counts.add_sample(known, sample, block, count);
            }
            return None;
        }
        let history = &self.query.recording.index.history;
        let chains = self.query.stacks.chains;
        let (numbers, cache) = (&mut local.numbers, &mut local.cache);
        let kept = &mut local.kept;
        sample.for_each_address(|address| {
            let number = cache.value(history, sample.mappings, address, |location| {
                numbers.intern(chains.counted(location))
            });
            if is_kept {
                kept.locations.push(number);
            }
        });
        Some(if is_kept {
            let number = kept.end_stack(sample.group);
            local.counts.add_sample(number, sample, block, count);
            number
        } else {
            u32::MAX
        })
    }
}

#[cfg(test)]
mod tests;
