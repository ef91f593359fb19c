//! The profile pass: stacks counted by function.

use super::counts::{Counts, UnnamedWeights, new_tallies};
use super::dimensions::GroupKey;
use super::driver::{Pass, ResolvedSample, TaskSample, run};
use super::query::Query;
use crate::Error;
use crate::locations::{LocationCache, ShownTasks};
use crate::symbolize::Symbols;
use rprof_machine::ImageId;
use rprof_profile::{Dimension, FrameId, Tally};

/// Counts all samples by function; all locations are symbolized.
pub(super) fn count(
    query: &Query<'_>,
    symbols: &Symbols,
    group_by: &[Dimension],
    done: &mut dyn FnMut(usize),
) -> Result<Counts, Error> {
    let pass = ProfilePass {
        query,
        symbols,
        group_by,
    };
    let result = run(query, &pass, done)?;
    let mut all = Counts::new(query.recording.reader.events().len());
    for local in result.locals {
        for (all, one) in all.tallies.iter_mut().zip(&local.tallies) {
            all.merge(one);
        }
        all.unnamed.merge(local.unnamed);
    }
    all.ignored = result.ignored;
    all.ends = result.ends;
    Ok(all)
}

struct ProfilePass<'a> {
    query: &'a Query<'a>,
    symbols: &'a Symbols,
    group_by: &'a [Dimension],
}

/// A thread's counts.
struct Local {
    /// By event.
    tallies: Vec<Tally<GroupKey>>,
    unnamed: UnnamedWeights,
    locations: LocationCache,
    frames: Vec<FrameId>,
    shown: ShownTasks,
}

/// Where a stack was counted.
#[derive(Clone, Copy, Default)]
struct CountedStack {
    node: u32,
    unnamed: UnnamedImage,
}

/// The image of a stack that has no name for a reason, in 32 bits: its number and 1.
#[derive(Clone, Copy, Default)]
pub(super) struct UnnamedImage(u32);

impl UnnamedImage {
    pub(super) fn of(image: Option<ImageId>) -> Self {
        Self(image.map_or(0, |image| image.0 + 1))
    }

    pub(super) fn image(self) -> Option<ImageId> {
        self.0.checked_sub(1).map(ImageId)
    }
}

impl Pass for ProfilePass<'_> {
    type Local = Local;
    type Stack = CountedStack;

    fn local(&self) -> Local {
        Local {
            tallies: new_tallies(self.query.recording.reader.events().len()),
            unnamed: UnnamedWeights::default(),
            locations: LocationCache::new(),
            frames: Vec::new(),
            shown: ShownTasks::default(),
        }
    }

    #[inline]
    fn group(&self, local: &mut Local, sample: &TaskSample<'_, '_>) -> Option<u64> {
        count_group(
            self.query,
            self.group_by,
            &mut local.tallies,
            &mut local.shown,
            sample,
        )
    }

    #[inline]
    fn sample(
        &self,
        local: &mut Local,
        sample: &ResolvedSample<'_, '_>,
        known: Option<CountedStack>,
    ) -> Option<CountedStack> {
        let decoded = sample.decoded;
        let weight = decoded.weight(self.query.recording.reader);
        let tally = local.tallies.get_mut(decoded.event)?;
        if let Some(known) = known {
            tally.count(known.node, weight);
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
        if !symbols.accepts(self.query.samples.filter, innermost) {
            return None;
        }
        let unnamed = symbols.unnamed_image(innermost);
        let group = group_number(sample.group);
        let node = tally.add_stack(group, frames.iter().rev().copied(), (1, weight));
        local.unnamed.add(unnamed, weight);
        Some(CountedStack {
            node: node?,
            unnamed: UnnamedImage::of(unnamed),
        })
    }
}

/// Counts a sample for the totals of its event. Returns the event and the group that it is counted in, or `None` if its
/// task is not shown.
#[inline]
pub(super) fn count_group(
    query: &Query<'_>,
    group_by: &[Dimension],
    tallies: &mut [Tally<GroupKey>],
    shown: &mut ShownTasks,
    sample: &TaskSample<'_, '_>,
) -> Option<u64> {
    let decoded = sample.decoded;
    let tally = tallies.get_mut(decoded.event)?;
    tally.add_samples(1, decoded.weight(query.recording.reader));
    let id = (decoded.pid, decoded.tid);
    let history = &query.recording.index.history;
    if !shown.has(query.samples.filter, history, id, sample.task) {
        return None;
    }
    let group = tally.group(GroupKey::of(
        sample.task,
        decoded,
        query.recording,
        group_by,
    ));
    Some((decoded.event as u64) << 32 | u64::from(group))
}

/// The group of [`count_group`]: the lower half.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
pub(super) fn group_number(group: u64) -> u32 {
    group as u32
}
