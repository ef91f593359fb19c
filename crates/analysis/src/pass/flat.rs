//! The flat pass: samples counted by the code location that each was taken at. For tables without stacks one pass both
//! finds the locations and counts them.

use super::alike_places::AlikePlaces;
use super::counts::{Counts, GroupedTallies, group_number, is_counted};
use super::dimensions::Grouping;
use super::driver::{Pass, ResolvedSample, TaskSample, run};
use super::group_key::GroupKey;
use super::query::Query;
use crate::Error;
use crate::locations::{Location, LocationCache, distinct};
use crate::samples::IgnoredSamples;
use crate::symbolize::Symbols;
use foldhash::HashMap;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::{FrameId, SampleCount, Tally, TallyParts};

/// Samples counted by location, by each thread apart.
#[derive(Debug)]
pub(crate) struct FlatCounts {
    threads: Vec<ThreadCounts>,
    pub(crate) ignored: IgnoredSamples,
}

#[derive(Debug)]
struct ThreadCounts {
    /// By event. Frames are positions in `locations`.
    events: Vec<TallyParts<GroupKey>>,
    locations: Vec<Location>,
}

/// Counts all samples by location.
pub(crate) fn count_flat(
    query: &Query<'_>,
    grouping: &Grouping<'_>,
    done: &mut dyn FnMut(usize),
) -> Result<FlatCounts, Error> {
    let pass = FlatPass { query, grouping };
    let result = run(query, &pass, done)?;
    let threads = result.locals.into_iter();
    let threads = threads.map(|local| (local.tallies, local.numbers.into_values()));
    Ok(FlatCounts::of(threads, result.ignored))
}

impl FlatCounts {
    /// Of the threads' tallies, and the locations that their frames are numbers of.
    pub(super) fn of(
        threads: impl Iterator<Item = (GroupedTallies, Vec<Location>)>,
        ignored: IgnoredSamples,
    ) -> Self {
        let threads = threads.map(|(tallies, locations)| {
            let events = tallies.into_tallies().into_iter();
            ThreadCounts {
                events: events.map(Tally::into_parts).collect(),
                locations,
            }
        });
        Self {
            threads: threads.collect(),
            ignored,
        }
    }

    /// All locations, sorted.
    pub(crate) fn locations(&self) -> Vec<Location> {
        distinct(self.threads.iter().flat_map(|thread| &thread.locations))
    }

    /// The weight of the samples at each location, all events together.
    pub(crate) fn weights(&self) -> HashMap<Location, u64> {
        let mut weights: HashMap<Location, u64> = HashMap::default();
        for thread in &self.threads {
            for node in thread.events.iter().flat_map(|event| event.tree.nodes()) {
                if let Some(&location) = thread.locations.get(node.frame.number() as usize) {
                    let sum = weights.entry(location).or_default();
                    *sum = sum.saturating_add(node.self_weight);
                }
            }
        }
        weights
    }

    /// The same counts by function.
    pub(super) fn by_function(
        self,
        query: &Query<'_>,
        grouping: &Grouping<'_>,
        symbols: &Symbols,
    ) -> Counts {
        let alike = AlikePlaces::of(grouping, symbols);
        let mut all = Counts::new(query.recording.reader.events().len());
        all.ignored = self.ignored;
        for thread in self.threads {
            let locations = thread.locations.iter();
            let numbers: Vec<u32> = locations.map(|&one| symbols.number(one)).collect();
            for (tally, event) in all.tallies.iter_mut().zip(thread.events) {
                tally.add_samples(event.samples, event.weight);
                for node in event.tree.nodes() {
                    let location = numbers.get(node.frame.number() as usize);
                    let group = event.groups.get(node.group as usize);
                    let (Some(&location), Some(group)) = (location, group) else {
                        continue;
                    };
                    let count = node.own();
                    if !is_counted((symbols, location), tally, group, count) {
                        continue;
                    }
                    all.unnamed
                        .add(symbols.unnamed_image(location), count.weight);
                    let group = tally.group(alike.first(group, (symbols, location)));
                    let frames = symbols.frames(location).iter().rev().copied();
                    tally.add_stack(group, frames, count);
                }
            }
        }
        all
    }
}

struct FlatPass<'a> {
    query: &'a Query<'a>,
    grouping: &'a Grouping<'a>,
}

/// A thread's counts.
struct Local {
    tallies: GroupedTallies,
    numbers: Interner<u32, Location, RandomState>,
    cache: LocationCache,
}

impl Pass for FlatPass<'_> {
    type Local = Local;
    /// The node that the stack was counted at.
    type Stack = u32;

    fn local(&self) -> Local {
        Local {
            tallies: GroupedTallies::of(self.query),
            numbers: Interner::default(),
            cache: LocationCache::new(),
        }
    }

    #[inline]
    fn group(&self, local: &mut Local, sample: &TaskSample<'_, '_>) -> Option<u64> {
        let tallied = sample.into();
        local.tallies.take(self.query, self.grouping, &tallied)
    }

    #[inline]
    fn sample(
        &self,
        local: &mut Local,
        sample: &ResolvedSample<'_, '_>,
        known: Option<u32>,
    ) -> Option<u32> {
        let decoded = sample.decoded;
        let weight = self.query.weight(decoded);
        let tally = local.tallies.of_event(decoded.event)?;
        if let Some(node) = known {
            tally.count(node, SampleCount::one(weight));
            return None;
        }
        let history = &self.query.recording.index.history;
        let (numbers, cache) = (&mut local.numbers, &mut local.cache);
        let mut frame = None;
        sample.for_each_address(|address| {
            let number = cache.value(history, sample.mappings, address, |one| numbers.intern(one));
            frame.get_or_insert(FrameId::from_number(number));
        });
        tally.add_stack(
            group_number(sample.group),
            frame.into_iter(),
            SampleCount::one(weight),
        )
    }
}
