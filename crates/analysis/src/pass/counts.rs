//! What passes count: stacks by event, samples without a name, what could not be used.

use super::blocks::{BlockCounts, BlockCursor, LoggedStacks};
use super::dimensions::Grouping;
use super::group_key::GroupKey;
use super::places::PlaceNumbers;
use super::query::Query;
use super::tallied::Tallied;
use crate::locations::{ShownTasks, TaskName};
use crate::samples::IgnoredSamples;
use crate::stacks::StackEndCounts;
use crate::symbolize::Symbols;
use foldhash::HashMap;
use rprof_machine::ImageId;
use rprof_profile::{SampleCount, Tally};

/// What was counted.
#[derive(Default)]
pub(super) struct Counts {
    /// By event.
    pub(super) tallies: Vec<Tally<GroupKey>>,
    /// By event, if there are several blocks.
    pub(super) blocks: Vec<BlockCounts>,
    /// What blocks counted of stacks that were kept, by thread.
    pub(super) logs: Vec<LoggedStacks>,
    pub(super) unnamed: UnnamedWeights,
    pub(super) ignored: IgnoredSamples,
    pub(super) ends: StackEndCounts,
}

impl Counts {
    pub(super) fn new(n_events: usize) -> Self {
        Self {
            tallies: new_tallies(n_events),
            blocks: vec![BlockCounts::default(); n_events],
            ..Self::default()
        }
    }

    /// Counts at nodes what is logged of kept stacks: logs of all chunks would be as large as the recording.
    pub(super) fn count_logged(&mut self) {
        for logged in self.logs.drain(..) {
            logged.count(&mut self.blocks);
        }
    }

    /// Adds what was counted elsewhere.
    pub(super) fn merge(&mut self, other: Self) {
        let tallies = self.tallies.iter_mut().zip(&other.tallies);
        let moved: Vec<Vec<u32>> = tallies.map(|(all, one)| all.merge(one)).collect();
        let blocks = self.blocks.iter_mut().zip(&other.blocks);
        for ((all, one), moved) in blocks.zip(&moved) {
            all.merge(one, moved);
        }
        for mut logged in other.logs {
            logged.move_to(&moved);
            self.logs.push(logged);
        }
        self.unnamed.merge(other.unnamed);
        self.ignored.add(other.ignored);
        self.ends.merge(&other.ends);
    }
}

/// A thread's tallies, by event and group.
pub(super) struct GroupedTallies {
    tallies: Vec<Tally<GroupKey>>,
    blocks: Vec<BlockCounts>,
    cursor: BlockCursor,
    shown: ShownTasks,
    places: PlaceNumbers,
    /// The group of the last sample, if names are all that groups differ in.
    last: Option<(NamedGroup, u32)>,
}

/// What samples of a group have in common, if nothing else tells groups apart.
#[derive(Clone, Copy, PartialEq, Eq)]
struct NamedGroup {
    event: usize,
    task: TaskName,
    is_shown: bool,
}

impl GroupedTallies {
    /// Empty ones for the events of a query.
    pub(super) fn of(query: &Query<'_>) -> Self {
        let n_events = query.recording.reader.events().len();
        Self {
            tallies: new_tallies(n_events),
            blocks: vec![BlockCounts::default(); n_events],
            cursor: BlockCursor::default(),
            shown: ShownTasks::default(),
            places: PlaceNumbers::default(),
            last: None,
        }
    }

    /// Counts a sample or a branch for the totals of its event, unless that depends on its name ([`is_counted`]). Returns the event
    /// and the group that it is counted in, or `None` if
    /// its task is not shown.
    #[inline]
    pub(super) fn take(
        &mut self,
        query: &Query<'_>,
        grouping: &Grouping<'_>,
        tallied: &Tallied<'_, '_>,
    ) -> Option<u64> {
        let (decoded, recording) = (tallied.decoded, query.recording);
        let tally = self.tallies.get_mut(decoded.event)?;
        let id = (decoded.pid, decoded.tid);
        let history = &recording.index.history;
        let filter = query.samples.filter;
        if !filter.hide_unresolved {
            let weight = query.weight(decoded);
            tally.add_samples(1, weight);
            if query.blocks.are_several() {
                let block = self.cursor.at(&query.blocks, decoded.head.time_ns);
                let counts = &mut self.blocks[decoded.event];
                counts.add_samples(block, SampleCount::one(weight));
            }
        }
        let is_shown =
            self.shown.has(filter, history, id, tallied.task) && query.samples.shows(decoded);
        if !is_shown && !filter.hide_unresolved {
            return None;
        }
        let number = |number: u32| Some((decoded.event as u64) << 32 | u64::from(number));
        let named = NamedGroup {
            event: decoded.event,
            task: tallied.task,
            is_shown,
        };
        if let Some((_, group)) = self.last.filter(|&(last, _)| last == named) {
            return number(group);
        }
        let mut group = GroupKey::of(tallied, grouping, &mut self.places);
        group.is_shown = is_shown;
        let group = tally.group(group);
        if grouping.are_names_all() {
            self.last = Some((named, group));
        }
        number(group)
    }

    /// Finds the places of what is counted later.
    pub(super) fn find_places(&mut self, grouping: &Grouping<'_>, tallied: &Tallied<'_, '_>) {
        grouping.find_places(tallied, &mut self.places);
    }

    /// The tally of an event.
    #[inline]
    pub(super) fn of_event(&mut self, event: usize) -> Option<&mut Tally<GroupKey>> {
        self.tallies.get_mut(event)
    }

    /// All of them, by event.
    pub(super) fn into_tallies(self) -> Vec<Tally<GroupKey>> {
        self.tallies
    }

    /// The same, with what blocks counted.
    pub(super) fn into_parts(self) -> (Vec<Tally<GroupKey>>, Vec<BlockCounts>) {
        (self.tallies, self.blocks)
    }
}

/// Whether samples of a group are counted, now that their innermost location has a name or has none. Where only those
/// with one count for totals, they do so here.
#[inline]
pub(super) fn is_counted(
    (symbols, location): (&Symbols, u32),
    tally: &mut Tally<GroupKey>,
    group: &GroupKey,
    count: SampleCount,
) -> bool {
    if symbols.adds_to_totals(location) {
        tally.add_samples(count.samples, count.weight);
    }
    group.is_shown && symbols.accepts(location)
}

/// The group of [`GroupedTallies::take`]: the lower half.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
pub(super) fn group_number(group: u64) -> u32 {
    group as u32
}

/// Empty tallies for a number of events.
pub(super) fn new_tallies(n_events: usize) -> Vec<Tally<GroupKey>> {
    (0..n_events).map(|_| Tally::default()).collect()
}

/// Weight of samples without a name, by image, where there is a reason for that.
#[derive(Clone, Debug, Default)]
pub(super) struct UnnamedWeights {
    images: HashMap<u32, u64>,
    /// That of all samples that were looked at, with and without names.
    shown: u64,
}

impl UnnamedWeights {
    /// Adds the weight of samples that are shown, with the image if it has no name for them.
    #[inline]
    pub(super) fn add(&mut self, image: Option<ImageId>, weight: u64) {
        self.shown = self.shown.saturating_add(weight);
        if let Some(image) = image {
            self.add_unnamed(image.0, weight);
        }
    }

    fn add_unnamed(&mut self, image: u32, weight: u64) {
        let sum = self.images.entry(image).or_default();
        *sum = sum.saturating_add(weight);
    }

    /// Adds what another thread counted.
    pub(super) fn merge(&mut self, other: Self) {
        self.shown = self.shown.saturating_add(other.shown);
        for (image, weight) in other.images {
            self.add_unnamed(image, weight);
        }
    }

    /// The weight of an image.
    pub(super) fn of(&self, image: ImageId) -> u64 {
        self.images.get(&image.0).copied().unwrap_or(0)
    }

    /// The weight of all that was looked at.
    pub(super) fn shown(&self) -> u64 {
        self.shown
    }
}
