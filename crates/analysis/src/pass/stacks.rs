//! The stacks pass: samples counted by stacks of code locations, which have no names yet. It finds the locations, too,
//! so that only chunks whose stacks have no room are read again.

mod by_function;

use super::block_log::BlockLog;
use super::blocks::{BlockCounts, BlockCursor};
use super::counts::{Counts, GroupedTallies};
use super::dimensions::Grouping;
use super::driver::{Pass, ResolvedSample, TaskSample, run};
use super::group_key::GroupKey;
use super::query::Query;
use crate::Error;
use crate::locations::{Location, LocationCache, distinct};
use crate::samples::IgnoredSamples;
use crate::stacks::StackEndCounts;
use crate::symbolize::Symbols;
use foldhash::fast::RandomState;
use rprof_base::{Interner, parallel};
use rprof_profile::{SampleCount, Tally, TallyParts};
use std::sync::Arc;

/// Bytes of stacks that are kept, by all threads together: some 700,000 of 40 frames. Those of the chunks at hand may
/// come on top.
pub(super) const ROOM: usize = 128 << 20;

/// What the stacks pass found.
pub(super) struct FoundStacks {
    threads: Vec<ThreadStacks>,
    /// Chunks whose samples are not counted yet.
    pub(super) left: Vec<usize>,
    ignored: IgnoredSamples,
}

/// What a thread found.
struct ThreadStacks {
    /// By number.
    locations: Vec<Location>,
    kept: KeptStacks,
    /// What the kept stacks counted, by number.
    log: Arc<BlockLog>,
    /// Totals and groups by event; their trees are empty.
    events: Vec<TallyParts<GroupKey>>,
    /// Totals by event and block; empty if there is one block.
    blocks: Vec<BlockCounts>,
    ends: StackEndCounts,
}

/// Counts all samples by stack, while there is room for stacks (bytes), and finds all locations.
pub(super) fn find_stacks(
    query: &Query<'_>,
    grouping: &Grouping<'_>,
    room: usize,
    done: &mut dyn FnMut(usize),
) -> Result<FoundStacks, Error> {
    // What counters gained is known only if all chunks are read, one after the other.
    let room = if query.samples.need_order() {
        0
    } else {
        room / parallel::n_cpus()
    };
    let pass = StacksPass {
        query,
        grouping,
        room,
    };
    let result = run(query, &pass, done)?;
    let mut left = Vec::new();
    let mut threads = Vec::with_capacity(result.locals.len());
    for mut local in result.locals {
        left.extend(local.left);
        let mut log = std::mem::take(&mut local.kept.counts);
        log.sort();
        let (tallies, mut blocks) = local.tallies.into_parts();
        if !query.blocks.are_several() {
            blocks.clear();
        }
        threads.push(ThreadStacks {
            locations: local.numbers.into_values(),
            kept: local.kept,
            log: Arc::new(log),
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

impl FoundStacks {
    /// All locations, sorted.
    pub(super) fn locations(&self) -> Vec<Location> {
        distinct(self.threads.iter().flat_map(|thread| &thread.locations))
    }

    /// What was kept, by function.
    pub(super) fn by_function(self, query: &Query<'_>, symbols: &Symbols) -> Result<Counts, Error> {
        let new_counts = || Counts::new(query.recording.reader.events().len());
        let add = |counts: &mut Counts, nth: usize| -> Result<(), Error> {
            if let Some(thread) = self.threads.get(nth) {
                thread.add_to(counts, symbols);
            }
            Ok(())
        };
        let work = (self.threads.len(), parallel::n_cpus());
        let mut counted = parallel::for_each(work, new_counts, add, &mut |_| {})?.into_iter();
        let mut all = counted.next().unwrap_or_else(new_counts);
        counted.for_each(|counts| all.merge(counts));
        for thread in self.threads {
            all.ends.merge(thread.ends);
        }
        all.ignored = self.ignored;
        Ok(all)
    }
}

/// Stacks that a thread keeps, each with its samples.
#[derive(Default)]
struct KeptStacks {
    stacks: Vec<KeptStack>,
    /// Numbers of the locations of all stacks, innermost first.
    locations: Vec<u32>,
    /// By number of the stack.
    counts: BlockLog,
}

struct KeptStack {
    /// As [`Pass::group`] said.
    group: u64,
    /// The end of its locations; they start where those of the stack before end.
    end: usize,
}

impl KeptStacks {
    fn bytes(&self) -> usize {
        size_of_val(&*self.stacks) + size_of_val(&*self.locations) + self.counts.bytes()
    }

    /// Ends a stack, whose locations are there. Returns its number.
    fn end_stack(&mut self, group: u64) -> u32 {
        let number = self.stacks.len();
        self.stacks.push(KeptStack {
            group,
            end: self.locations.len(),
        });
        u32::try_from(number).unwrap_or(u32::MAX)
    }
}

struct StacksPass<'a> {
    query: &'a Query<'a>,
    grouping: &'a Grouping<'a>,
    /// Bytes of stacks that a thread keeps.
    room: usize,
}

/// A thread's stacks.
struct Local {
    numbers: Interner<u32, Location, RandomState>,
    cache: LocationCache,
    tallies: GroupedTallies,
    kept: KeptStacks,
    ends: StackEndCounts,
    cursor: BlockCursor,
    left: Vec<usize>,
}

impl Pass for StacksPass<'_> {
    type Local = Local;
    /// The number of the kept stack.
    type Stack = u32;

    fn local(&self) -> Local {
        Local {
            numbers: Interner::default(),
            cache: LocationCache::new(),
            tallies: GroupedTallies::of(self.query),
            kept: KeptStacks::default(),
            ends: StackEndCounts::default(),
            cursor: BlockCursor::default(),
            left: Vec::new(),
        }
    }

    fn start_chunk(&self, local: &mut Local, chunk: usize) {
        if local.kept.bytes() >= self.room {
            local.left.push(chunk);
        }
    }

    #[inline]
    fn group(&self, local: &mut Local, sample: &TaskSample<'_, '_>) -> Option<u64> {
        if local.left.is_empty() {
            let entry = sample.into();
            local.tallies.take(self.query, self.grouping, &entry)
        } else {
            local.tallies.find_places(self.grouping, &sample.into());
            Some(u64::MAX)
        }
    }

    #[inline]
    fn sample(
        &self,
        local: &mut Local,
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
                local.kept.counts.add(known, block, count);
            }
            return None;
        }
        let history = &self.query.recording.index.history;
        let in_stacks = self.query.stacks.chains.stacks;
        let (numbers, cache) = (&mut local.numbers, &mut local.cache);
        let kept = &mut local.kept;
        sample.for_each_address(|address| {
            let number = cache.value(history, sample.mappings, address, |location| {
                numbers.intern(if in_stacks {
                    location.in_stacks()
                } else {
                    location
                })
            });
            if is_kept {
                kept.locations.push(number);
            }
        });
        Some(if is_kept {
            let number = kept.end_stack(sample.group);
            kept.counts.add(number, block, count);
            number
        } else {
            u32::MAX
        })
    }
}

#[cfg(test)]
mod tests;
