//! The third pass: stacks counted by function.

use super::chain::for_each_address;
use super::memo::{Memo, StackKey};
use super::names::Names;
use super::resolve::{Cache, Space, Tasks};
use super::samples::{Seen, Unused};
use super::{Context, parallel};
use crate::Error;
use rprof_abi::AttrFlags;
use rprof_machine::{Comm, History, ImageId};
use rprof_profile::{EventProfile, FrameId, Group, Profile, Strings, Tally, UnnamedImage};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// By which parts of a task samples are told apart, beside its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskParts {
    pub(crate) pid: bool,
    pub(crate) tid: bool,
    pub(crate) cpu: bool,
}

/// A task's name as the recording knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TaskName {
    Known(Comm),
    Idle,
    /// Never named: shown by its id, as perf does.
    Unnamed(i32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct TaskGroup {
    name: TaskName,
    pid: Option<i32>,
    tid: Option<i32>,
    cpu: Option<u32>,
}

/// Where a stack was counted.
#[derive(Clone, Copy, Default)]
struct Counted {
    node: u32,
    unnamed: Option<ImageId>,
}

/// One thread's share.
struct Share {
    memo: Memo<Counted>,
    tasks: Tasks,
    places: Cache,
    frames: Vec<FrameId>,
    tallies: Vec<Tally<TaskGroup>>,
    /// Weight of samples in images that have no names at all.
    unnamed: FxHashMap<u32, u64>,
    unused: Unused,
    /// Whether the task of the last sample is shown.
    shown: Option<(TaskGroup, (i32, i32), bool)>,
    batch: Vec<Shown>,
}

/// Counts all samples and completes the profile.
pub(crate) fn count(
    context: &Context<'_>,
    names: &Names,
    parts: TaskParts,
    profile: &mut Profile,
    done: &mut dyn FnMut(usize),
) -> Result<(), Error> {
    let n_events = context.reader.events().len();
    let new_share = || Share {
        memo: Memo::new(context.skimmed.n_samples),
        tasks: Tasks::new(),
        places: Cache::new(),
        frames: Vec::new(),
        tallies: (0..n_events).map(|_| Tally::default()).collect(),
        unnamed: FxHashMap::default(),
        unused: Unused::default(),
        shown: None,
        batch: Vec::new(),
    };
    let frozen: &Profile = profile;
    let n_chunks = context.skimmed.chunks.len();
    let count = |share: &mut Share, chunk: usize| {
        let counting = Counting {
            context,
            names,
            profile: frozen,
            parts,
        };
        let unused = context.for_each_batch(chunk, |batch| share.take(&counting, batch))?;
        share.unused.add(unused);
        Ok(())
    };
    let shares = parallel::for_each(n_chunks, new_share, count, done)?;
    let mut shares = shares.into_iter();
    let Some(mut all) = shares.next() else {
        return Ok(());
    };
    for share in shares {
        for (all, one) in all.tallies.iter_mut().zip(&share.tallies) {
            all.merge(one);
        }
        for (image, weight) in share.unnamed {
            add_to(all.unnamed.entry(image).or_default(), weight);
        }
        all.unused.add(share.unused);
    }
    profile.warnings.extend(all.unused.warnings());
    profile.unnamed = unnamed_images(context, names, &all.unnamed);
    for (idx, tally) in all.tallies.into_iter().enumerate() {
        add_event(context, idx, tally, profile);
    }
    Ok(())
}

/// What all threads share.
struct Counting<'a> {
    context: &'a Context<'a>,
    names: &'a Names,
    profile: &'a Profile,
    parts: TaskParts,
}

/// A sample of the batch at hand that is shown.
#[derive(Clone, Copy)]
struct Shown {
    /// Its place in the batch.
    at: usize,
    key: StackKey,
    space: Space,
    group: u32,
    weight: u64,
}

impl Share {
    fn take(&mut self, counting: &Counting<'_>, batch: &[Seen<'_>]) {
        let mut shown = std::mem::take(&mut self.batch);
        shown.clear();
        for (at, seen) in batch.iter().enumerate() {
            shown.extend(self.show(counting, at, seen));
        }
        self.memo.touch(shown.iter().map(|one| one.key));
        for one in &shown {
            self.add(counting, &batch[one.at], *one);
        }
        self.batch = shown;
    }

    /// Counts a sample for the totals; `None` if its task is not shown.
    #[inline]
    fn show(&mut self, counting: &Counting<'_>, at: usize, seen: &Seen<'_>) -> Option<Shown> {
        let context = counting.context;
        let history = &context.skimmed.history;
        let weight = context.weight_of(seen);
        let tally = self.tallies.get_mut(seen.event)?;
        tally.add_sample(weight);
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
                let name = comm_text(history, group.name);
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
        Some(Shown {
            at,
            key: self.memo.key(seen, space, context.chains, apart),
            space,
            group,
            weight,
        })
    }

    #[inline]
    fn add(&mut self, counting: &Counting<'_>, seen: &Seen<'_>, shown: Shown) {
        let Counting {
            context,
            names,
            profile,
            ..
        } = *counting;
        let Self {
            memo,
            places,
            frames,
            ..
        } = self;
        let Some(tally) = self.tallies.get_mut(seen.event) else {
            return;
        };
        let weight = shown.weight;
        if let Some(done) = memo.find(shown.key) {
            tally.count(done.node, weight);
            if let Some(image) = done.unnamed {
                add_to(self.unnamed.entry(image.0).or_default(), weight);
            }
            return;
        }
        frames.clear();
        let mut innermost = None;
        let (sample, misc) = (&seen.sample, seen.raw.misc);
        let history = &context.skimmed.history;
        for_each_address(sample, seen.deferred, misc, context.chains, |address| {
            let place = places.value(history, shown.space, address, |key| names.place(key));
            innermost.get_or_insert(place);
            frames.extend_from_slice(names.frames(place));
        });
        let Some(innermost) = innermost else {
            return;
        };
        if !shows_function(context, names, profile, innermost) {
            return;
        }
        let unnamed = names.unnamed_image(innermost);
        if let Some(image) = unnamed {
            add_to(self.unnamed.entry(image.0).or_default(), weight);
        }
        let frames = frames.iter().rev().copied();
        if let Some(node) = tally.add_stack(shown.group, frames, weight) {
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
    if context.filter.dsos.is_empty() && context.filter.symbols.is_empty() {
        return true;
    }
    let Some(&id) = names.frames(place).last() else {
        return false;
    };
    let frame = profile.frames.of(id);
    let name = frame.name.map(|name| profile.strings.of(name));
    context
        .filter
        .shows_function(profile.strings.of(frame.image), name)
}

fn add_to(sum: &mut u64, weight: u64) {
    *sum = sum.saturating_add(weight);
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

pub(crate) fn task_name((pid, tid): (i32, i32), comm: Option<Comm>) -> TaskName {
    match comm {
        _ if tid == 0 && pid == 0 => TaskName::Idle,
        Some(comm) => TaskName::Known(comm),
        None => TaskName::Unnamed(tid),
    }
}

pub(crate) fn comm_text(history: &History, name: TaskName) -> Cow<'_, str> {
    match name {
        TaskName::Known(comm) => String::from_utf8_lossy(history.comm_name(comm)),
        TaskName::Idle => Cow::Borrowed("swapper"),
        TaskName::Unnamed(tid) => Cow::Owned(format!(":{tid}")),
    }
}

fn add_event(context: &Context<'_>, idx: usize, tally: Tally<TaskGroup>, profile: &mut Profile) {
    let Some(event) = context.reader.events().get(idx) else {
        return;
    };
    let (tree, groups, samples, weight) = tally.into_parts();
    let loss = context.skimmed.losses.get(idx).copied().unwrap_or_default();
    if event.is_dummy() && samples == 0 {
        if loss.samples > 0 {
            profile.warnings.push(format!(
                "{} mappings or names were lost while recording: frames may lack names",
                loss.samples
            ));
        }
        return;
    }
    let history = &context.skimmed.history;
    let group = |strings: &mut Strings, group: TaskGroup| Group {
        comm: strings.intern(&comm_text(history, group.name)),
        pid: group.pid,
        tid: group.tid,
        cpu: group.cpu,
    };
    let groups = groups
        .into_iter()
        .map(|one| group(&mut profile.strings, one));
    profile.events.push(EventProfile {
        name: event.name.clone(),
        samples,
        weight,
        loss,
        groups: groups.collect(),
        tree,
    });
}

fn unnamed_images(
    context: &Context<'_>,
    names: &Names,
    weights: &FxHashMap<u32, u64>,
) -> Vec<UnnamedImage> {
    let images = context.skimmed.history.images();
    let mut all: Vec<UnnamedImage> = names
        .unnamed
        .iter()
        .filter_map(|(id, reason)| {
            Some(UnnamedImage {
                path: String::from_utf8_lossy(&images.of(*id)?.path).into_owned(),
                weight: weights.get(&id.0).copied().filter(|&weight| weight > 0)?,
                reason: reason.to_string(),
            })
        })
        .collect();
    all.sort_by(|a, b| b.weight.cmp(&a.weight).then_with(|| a.path.cmp(&b.path)));
    all
}
