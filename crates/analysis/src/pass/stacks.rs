//! The stacks pass: samples counted by stacks of code locations, which have no names yet. It finds the locations, too,
//! so that only chunks whose stacks have no room are read again.

use super::counts::{Counts, GroupedTallies, group_number, is_counted};
use super::dimensions::Grouping;
use super::driver::{Pass, ResolvedSample, TaskSample, run};
use super::group_key::GroupKey;
use super::query::Query;
use crate::Error;
use crate::locations::{Location, LocationCache, distinct};
use crate::samples::IgnoredSamples;
use crate::stacks::StackEndCounts;
use crate::symbolize::Symbols;
use crate::threads::{self, Threads};
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::{SampleCount, Tally, TallyParts};

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
    /// Totals and groups by event; their trees are empty.
    events: Vec<TallyParts<GroupKey>>,
    ends: StackEndCounts,
}

/// Counts all samples by stack, while there is room for stacks (bytes), and finds all locations.
pub(super) fn find_stacks(
    query: &Query<'_>,
    grouping: &Grouping<'_>,
    room: usize,
    done: &mut dyn FnMut(usize),
) -> Result<FoundStacks, Error> {
    let room = match query.samples.chunks() {
        (_, Threads::All) => room / threads::n_cpus(),
        // What counters gained is known only if all chunks are read, one after the other.
        (_, Threads::One) => 0,
    };
    let pass = StacksPass {
        query,
        grouping,
        room,
    };
    let result = run(query, &pass, done)?;
    let mut left = Vec::new();
    let mut threads = Vec::with_capacity(result.locals.len());
    for local in result.locals {
        left.extend(local.left);
        let events = local.tallies.into_tallies().into_iter();
        threads.push(ThreadStacks {
            locations: local.numbers.into_values(),
            kept: local.kept,
            events: events.map(Tally::into_parts).collect(),
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
        let add = |counts: &mut Counts, nth: usize| {
            if let Some(thread) = self.threads.get(nth) {
                thread.add_to(counts, symbols);
            }
            Ok(())
        };
        let work = (self.threads.len(), Threads::All);
        let mut all = new_counts();
        for counts in threads::for_each(work, new_counts, add, &mut |_| {})? {
            all.merge(counts);
        }
        for thread in self.threads {
            all.ends.merge(thread.ends);
        }
        all.ignored = self.ignored;
        Ok(all)
    }
}

impl ThreadStacks {
    fn add_to(&self, counts: &mut Counts, symbols: &Symbols) {
        for (tally, event) in counts.tallies.iter_mut().zip(&self.events) {
            tally.add_samples(event.samples, event.weight);
        }
        let locations = self.locations.iter();
        let numbers: Vec<u32> = locations.map(|&one| symbols.number(one)).collect();
        let mut path = Path::default();
        let mut start = 0;
        for stack in &self.kept.stacks {
            let frames = self.kept.locations.get(start..stack.end);
            start = stack.end;
            let frames = frames.unwrap_or_default().iter();
            let mut frames = frames.filter_map(|&one| numbers.get(one as usize).copied());
            let Some(innermost) = frames.clone().next() else {
                continue;
            };
            let event = usize::try_from(stack.group >> 32).unwrap_or(usize::MAX);
            let key = self.events.get(event).map(|event| &event.groups);
            let key = key.and_then(|groups| groups.get(group_number(stack.group) as usize));
            let (Some(tally), Some(&key)) = (counts.tallies.get_mut(event), key) else {
                continue;
            };
            if !is_counted((symbols, innermost), tally, &key, stack.count) {
                continue;
            }
            let image = symbols.unnamed_image(innermost);
            counts.unnamed.add(image, stack.count.weight);
            let group = tally.group(key);
            path.turn_to(stack.group, frames.by_ref().rev(), |outer, location| {
                let frames = symbols.frames(location).iter().rev().copied();
                tally.extend_stack(outer, group, frames)
            });
            if let Some(node) = path.innermost() {
                tally.count(node, stack.count);
            }
        }
    }
}

/// The stack added last, outermost first: the next one mostly begins with the same frames.
#[derive(Default)]
struct Path {
    group: u64,
    /// Locations, each with the node of its innermost frame.
    steps: Vec<(u32, Option<u32>)>,
}

impl Path {
    /// Makes it the path of another stack; `step` says the node of a location below another.
    fn turn_to(
        &mut self,
        group: u64,
        locations: impl Iterator<Item = u32>,
        mut step: impl FnMut(Option<u32>, u32) -> Option<u32>,
    ) {
        if self.group != group {
            self.steps.clear();
            self.group = group;
        }
        let mut n_same = 0;
        for location in locations {
            let known = self.steps.get(n_same).map(|&(known, _)| known);
            if known != Some(location) {
                self.steps.truncate(n_same);
                let node = step(self.innermost(), location);
                self.steps.push((location, node));
            }
            n_same += 1;
        }
        self.steps.truncate(n_same);
    }

    fn innermost(&self) -> Option<u32> {
        self.steps.last().and_then(|&(_, node)| node)
    }
}

/// Stacks that a thread keeps, each with its samples.
#[derive(Default)]
struct KeptStacks {
    stacks: Vec<KeptStack>,
    /// Numbers of the locations of all stacks, innermost first.
    locations: Vec<u32>,
}

struct KeptStack {
    /// As [`Pass::group`] said.
    group: u64,
    /// The end of its locations; they start where those of the stack before end.
    end: usize,
    count: SampleCount,
}

impl KeptStacks {
    fn bytes(&self) -> usize {
        size_of_val(&*self.stacks) + size_of_val(&*self.locations)
    }

    /// Ends a stack, whose locations are there, with its first sample. Returns its number.
    fn end_stack(&mut self, group: u64, weight: u64) -> u32 {
        let number = self.stacks.len();
        self.stacks.push(KeptStack {
            group,
            end: self.locations.len(),
            count: SampleCount::one(weight),
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
        match local.left.is_empty() {
            true => {
                let entry = sample.into();
                local.tallies.take(self.query, self.grouping, &entry)
            }
            false => {
                local.tallies.find_places(self.grouping, &sample.into());
                Some(u64::MAX)
            }
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
        if let Some(known) = known {
            if let Some(stack) = local.kept.stacks.get_mut(known as usize) {
                stack.count.samples += 1;
                stack.count.weight = stack.count.weight.saturating_add(weight);
            }
            return None;
        }
        let history = &self.query.recording.index.history;
        let in_stacks = self.query.stacks.chains.stacks;
        let (numbers, cache) = (&mut local.numbers, &mut local.cache);
        let kept = &mut local.kept;
        sample.for_each_address(|address| {
            let number = cache.value(history, sample.mappings, address, |location| {
                numbers.intern(match in_stacks {
                    true => location.in_stacks(),
                    false => location,
                })
            });
            if is_kept {
                kept.locations.push(number);
            }
        });
        Some(match is_kept {
            true => kept.end_stack(sample.group, weight),
            false => u32::MAX,
        })
    }
}

#[cfg(test)]
mod tests;
