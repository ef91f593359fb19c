//! The profile pass: stacks counted by function, of chunks that the stacks pass left.

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
        all.merge(Counts {
            tallies: local.tallies.into_tallies(),
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
        let weight = self.query.weight(sample.decoded);
        local.ends.add(sample.end);
        let tally = local.tallies.of_event(sample.decoded.event)?;
        let count = SampleCount::one(weight);
        if let Some(known) = known {
            tally.count(known.node, count);
            if self.symbols.hides_unresolved {
                tally.add_samples(1, weight);
            }
            local.unnamed.add(known.unnamed.image(), weight);
            return None;
        }
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
        let innermost = innermost?;
        let group = group_number(sample.group);
        let key = *tally.group_of(group)?;
        if !is_counted((symbols, innermost), tally, &key, count) {
            return None;
        }
        let unnamed = symbols.unnamed_image(innermost);
        let node = tally.add_stack(group, frames.iter().rev().copied(), count);
        local.unnamed.add(unnamed, weight);
        Some(CountedStack {
            node: node?,
            unnamed: OptionalImage::of(unnamed),
        })
    }
}
