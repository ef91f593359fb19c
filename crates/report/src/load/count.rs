//! The third pass: stacks counted by function; or, for tables without stacks, the only one.

use super::chain::for_each_address;
use super::memo::{Memo, StackKey};
use super::names::Names;
use super::resolve::{Cache, PlaceKey, Space, Tasks};
use super::samples::{Seen, Unused};
use super::tasks::{TaskGroup, TaskParts, comm_text, task_name};
use super::unwinding::{Ends, Unwinding, Walked};
use super::{Context, parallel};
use crate::Error;
use foldhash::HashMap;
use rprof_abi::AttrFlags;
use rprof_machine::ImageId;
use rprof_profile::{FrameId, Profile, Tally, TallyParts};

/// What was counted.
#[derive(Default)]
pub(crate) struct Counts {
    /// By event.
    pub(crate) tallies: Vec<Tally<TaskGroup>>,
    /// Weight of samples without a name, by image, where there is a reason for that.
    pub(crate) unnamed: HashMap<u32, u64>,
    pub(crate) unused: Unused,
    pub(crate) ends: Ends,
}

impl Counts {
    pub(crate) fn new(n_events: usize) -> Self {
        Self {
            tallies: (0..n_events).map(|_| Tally::default()).collect(),
            ..Self::default()
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (all, one) in self.tallies.iter_mut().zip(&other.tallies) {
            all.merge(one);
        }
        for (image, weight) in other.unnamed {
            self.add_unnamed(Some(ImageId(image)), weight);
        }
        self.unused.add(other.unused);
        self.ends.merge(other.ends);
    }

    pub(crate) fn add_unnamed(&mut self, image: Option<ImageId>, weight: u64) {
        if let Some(image) = image {
            let sum = self.unnamed.entry(image.0).or_default();
            *sum = sum.saturating_add(weight);
        }
    }
}

/// What frames are, while samples are counted.
#[derive(Clone, Copy)]
enum Frames<'a> {
    /// Functions: all places have names.
    Named {
        names: &'a Names,
        profile: &'a Profile,
    },
    /// Places, by a number that a thread gives them. Only where samples have one frame: in stacks,
    /// there are far more places than functions.
    Places,
}

/// What all threads share.
struct Counting<'a> {
    context: &'a Context<'a>,
    frames: Frames<'a>,
    parts: TaskParts,
}

/// Where a stack was counted.
#[derive(Clone, Copy, Default)]
struct Counted {
    node: u32,
    /// Its image, if it has no name for a reason: its number and 1.
    unnamed: u32,
}

impl Counted {
    fn unnamed(self) -> Option<ImageId> {
        self.unnamed.checked_sub(1).map(ImageId)
    }
}

/// One thread's share.
struct Share {
    counts: Counts,
    numbers: Numbers,
    memo: Memo<Counted>,
    tasks: Tasks,
    places: Cache,
    frames: Vec<FrameId>,
    unwinding: Unwinding,
    /// Whether the task of the last sample is shown.
    shown: Option<(TaskGroup, (i32, i32), bool)>,
    batch: Vec<Shown>,
}

/// Places by number.
#[derive(Default)]
struct Numbers {
    numbers: HashMap<PlaceKey, u32>,
    places: Vec<PlaceKey>,
}

impl Numbers {
    fn of(&mut self, place: PlaceKey) -> u32 {
        *self.numbers.entry(place).or_insert_with(|| {
            self.places.push(place);
            u32::try_from(self.places.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

/// Counts all samples by function; all places have names.
pub(crate) fn count(
    context: &Context<'_>,
    names: &Names,
    parts: TaskParts,
    profile: &Profile,
    done: &mut dyn FnMut(usize),
) -> Result<Counts, Error> {
    let counting = Counting {
        context,
        frames: Frames::Named { names, profile },
        parts,
    };
    let mut all = Counts::new(context.reader.events().len());
    for share in counting.run(done)? {
        all.merge(share.counts);
    }
    Ok(all)
}

/// Samples counted by place, by one thread each.
pub(crate) struct ByPlace(Vec<PlaceShare>);

/// One thread's share of [`ByPlace`], without what is needed only for counting.
struct PlaceShare {
    /// By event: tree, groups, samples and weight.
    events: Vec<TallyParts<TaskGroup>>,
    places: Vec<PlaceKey>,
    unused: Unused,
}

/// Counts all samples by the place that each was taken at: for tables without stacks, one pass
/// finds the places and counts them.
pub(crate) fn count_places(
    context: &Context<'_>,
    parts: TaskParts,
    done: &mut dyn FnMut(usize),
) -> Result<ByPlace, Error> {
    let counting = Counting {
        context,
        frames: Frames::Places,
        parts,
    };
    let shares = counting.run(done)?.into_iter().map(|share| PlaceShare {
        events: share
            .counts
            .tallies
            .into_iter()
            .map(Tally::into_parts)
            .collect(),
        places: share.numbers.places,
        unused: share.counts.unused,
    });
    Ok(ByPlace(shares.collect()))
}

impl ByPlace {
    /// All places, sorted.
    pub(crate) fn places(&self) -> Vec<PlaceKey> {
        let places = self.0.iter().flat_map(|share| &share.places);
        let mut all: Vec<PlaceKey> = places.copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The weight of the samples at each place, all events together.
    pub(crate) fn weights(&self) -> HashMap<PlaceKey, u64> {
        let mut weights: HashMap<PlaceKey, u64> = HashMap::default();
        for share in &self.0 {
            for node in share.events.iter().flat_map(|event| event.tree.nodes()) {
                if let Some(&place) = share.places.get(node.frame.number() as usize) {
                    let sum = weights.entry(place).or_default();
                    *sum = sum.saturating_add(node.self_weight);
                }
            }
        }
        weights
    }

    /// The same counts by function.
    pub(crate) fn named(self, context: &Context<'_>, names: &Names, profile: &Profile) -> Counts {
        let mut all = Counts::new(context.reader.events().len());
        for share in self.0 {
            all.unused.add(share.unused);
            let places = share.places.iter();
            let numbers: Vec<u32> = places.map(|&place| names.place(place)).collect();
            for (event, parts) in share.events.into_iter().enumerate() {
                if let Some(tally) = all.tallies.get_mut(event) {
                    tally.add_samples(parts.samples, parts.weight);
                }
                for node in parts.tree.nodes() {
                    let place = numbers.get(node.frame.number() as usize);
                    let group = parts.groups.get(node.group as usize);
                    let (Some(&place), Some(&group)) = (place, group) else {
                        continue;
                    };
                    if !shows_function(context, names, profile, place) {
                        continue;
                    }
                    all.add_unnamed(names.unnamed_image(place), node.self_weight);
                    let Some(tally) = all.tallies.get_mut(event) else {
                        continue;
                    };
                    let group = tally.group(group);
                    let frames = names.frames(place).iter().rev().copied();
                    tally.add_stack(group, frames, (node.self_samples, node.self_weight));
                }
            }
        }
        all
    }
}

impl Counting<'_> {
    fn run(&self, done: &mut dyn FnMut(usize)) -> Result<Vec<Share>, Error> {
        let context = self.context;
        let new_share = || Share {
            counts: Counts::new(context.reader.events().len()),
            numbers: Numbers::default(),
            memo: Memo::new(context.skimmed.n_samples),
            tasks: Tasks::new(),
            places: Cache::new(),
            frames: Vec::new(),
            unwinding: Unwinding::default(),
            shown: None,
            batch: Vec::new(),
        };
        let count = |share: &mut Share, chunk: usize| {
            let unused = context.for_each_batch(chunk, |batch| share.take(self, batch))?;
            share.counts.unused.add(unused);
            Ok(())
        };
        parallel::for_each(context.chunks(), new_share, count, done)
    }
}

/// A sample of the batch at hand that is shown.
struct Shown {
    /// Its place in the batch.
    at: usize,
    key: StackKey,
    space: Space,
    walked: Walked,
    group: u32,
    weight: u64,
}

impl Share {
    fn take(&mut self, counting: &Counting<'_>, batch: &[Seen<'_>]) {
        let mut shown = std::mem::take(&mut self.batch);
        shown.clear();
        self.unwinding.clear();
        for (at, seen) in batch.iter().enumerate() {
            shown.extend(self.show(counting, at, seen));
        }
        self.memo.touch(shown.iter().map(|one| one.key));
        for one in &shown {
            self.add(counting, &batch[one.at], one);
        }
        self.batch = shown;
    }

    /// Counts a sample for the totals; `None` if its task is not shown.
    #[inline]
    fn show(&mut self, counting: &Counting<'_>, at: usize, seen: &Seen<'_>) -> Option<Shown> {
        let context = counting.context;
        let history = &context.skimmed.history;
        let weight = context.weight_of(seen);
        let tally = self.counts.tallies.get_mut(seen.event)?;
        tally.add_samples(1, weight);
        let task = (seen.pid, seen.tid);
        let (space, comm) = self.tasks.at(history, task, seen.key);
        let parts = counting.parts;
        let group = TaskGroup {
            name: task_name(task, comm),
            pid: parts.pid.then_some(seen.pid),
            tid: parts.tid.then_some(seen.tid),
            cpu: seen.sample.cpu.filter(|_| parts.cpu),
        };
        let is_shown = match self.shown {
            Some((last, id, is_shown)) if (last, id) == (group, task) => is_shown,
            _ => {
                let name = comm_text(history, group.name).into_raw();
                let is_shown = context.filter.shows_task(seen.pid, seen.tid, &name);
                self.shown = Some((group, task, is_shown));
                is_shown
            }
        };
        if !is_shown {
            return None;
        }
        let group = tally.group(group);
        let apart = (seen.event as u64) << 32 | u64::from(group);
        let walked = self.unwinding.walk(context, seen, space);
        self.counts.ends.add(&walked);
        let user = self.unwinding.user_part(seen, &walked);
        Some(Shown {
            at,
            key: self.memo.key((seen, user), space, context.chains, apart),
            space,
            walked,
            group,
            weight,
        })
    }

    #[inline]
    fn add(&mut self, counting: &Counting<'_>, seen: &Seen<'_>, shown: &Shown) {
        let context = counting.context;
        let Self {
            counts,
            numbers,
            memo,
            places,
            frames,
            unwinding,
            ..
        } = self;
        let Some(tally) = counts.tallies.get_mut(seen.event) else {
            return;
        };
        let weight = shown.weight;
        if let Some(done) = memo.find(shown.key) {
            tally.count(done.node, weight);
            counts.add_unnamed(done.unnamed(), weight);
            return;
        }
        frames.clear();
        let mut innermost = None;
        let (sample, misc) = (&seen.sample, seen.raw.misc);
        let history = &context.skimmed.history;
        let user = unwinding.user_part(seen, &shown.walked);
        for_each_address(sample, user, misc, context.chains, |address| {
            let place = places.value(history, shown.space, address, |key| match counting.frames {
                Frames::Named { names, .. } => names.place(key),
                Frames::Places => numbers.of(key),
            });
            innermost.get_or_insert(place);
            match counting.frames {
                Frames::Named { names, .. } => frames.extend_from_slice(names.frames(place)),
                Frames::Places => frames.push(FrameId::from_number(place)),
            }
        });
        let Some(innermost) = innermost else {
            return;
        };
        let mut unnamed = None;
        if let Frames::Named { names, profile } = counting.frames {
            if !shows_function(context, names, profile, innermost) {
                return;
            }
            unnamed = names.unnamed_image(innermost);
        }
        let frames = frames.iter().rev().copied();
        let node = tally.add_stack(shown.group, frames, (1, weight));
        counts.add_unnamed(unnamed, weight);
        if let Some(node) = node {
            let unnamed = unnamed.map_or(0, |image| image.0 + 1);
            memo.note(shown.key, Counted { node, unnamed });
        }
    }
}

/// Whether the function that a sample was taken in (not one inlined there) is shown.
pub(crate) fn shows_function(
    context: &Context<'_>,
    names: &Names,
    profile: &Profile,
    place: u32,
) -> bool {
    if !context.filter.has_functions() {
        return true;
    }
    let Some(&id) = names.frames(place).last() else {
        return false;
    };
    let frame = profile.frames.of(id);
    let name = frame.name.map(|name| profile.strings.of(name).into_raw());
    context
        .filter
        .shows_function(profile.strings.of(frame.image).into_raw(), name)
}

impl Context<'_> {
    /// A sample's weight: its period, or the event's fixed one.
    pub(crate) fn weight_of(&self, seen: &Seen<'_>) -> u64 {
        if let Some(period) = seen.sample.period {
            return period;
        }
        let event = self.reader.events().get(seen.event);
        event
            .map(|event| &event.attr)
            .filter(|attr| !attr.flags.has(AttrFlags::FREQ))
            .map_or(1, |attr| attr.sample_period.max(1))
    }
}
