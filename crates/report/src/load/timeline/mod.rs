//! Samples one by one: the third pass for viewers that want them so.
//!
//! Places have names as for a count. Each thread keeps a row for every sample of its chunks and
//! a tree of its stacks by code; put together, rows are sorted, and nodes and threads numbered
//! in the order in which sorted rows use them: which thread read what is not to be seen.

mod code;
mod fields;
mod merge;

use super::chain::for_each_address;
use super::count::{Counts, shows_function};
use super::freeze::{freeze, is_left_out};
use super::memo::{Memo, StackKey};
use super::names::Names;
use super::places::collect;
use super::resolve::{Cache, Space, Tasks};
use super::samples::Seen;
use super::tasks::{TaskGroup, comm_text, task_name};
use super::unwinding::{Unwinding, Walked};
use super::{Context, Options, Progress, Wanted, about, check_filter, parallel, skim};
use crate::Error;
use code::Codes;
use foldhash::HashMap;
use merge::{Merged, merge};
use rprof_abi::SampleType;
use rprof_perfdata::Reader;
use rprof_profile::timeline::Timeline;
use rprof_profile::{FrameId, Profile, Tree};
use rprof_symbols::{Detail, Request};

/// What a timeline is to have beside functions and times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimelineDetail {
    /// Files and lines; callers on different lines are told apart.
    pub lines: bool,
    /// What tracepoints wrote.
    pub fields: bool,
}

/// Reads and names a recording, sample by sample; `progress` is told how far it is.
///
/// # Errors
/// [`Error`] if it cannot be read at all; what is damaged in it becomes a warning.
#[expect(clippy::cast_precision_loss, reason = "a share for the eye")]
pub fn load_timeline(
    reader: &Reader,
    options: &Options,
    detail: TimelineDetail,
    progress: &mut Progress<'_>,
) -> Result<Timeline, Error> {
    check_filter(reader, &options.filter)?;
    let skimmed = skim::skim(reader, &options.locator)?;
    let wanted = Wanted {
        filter: &options.filter,
        stacks: true,
        locator: &options.locator,
    };
    let context = Context::new(reader, &skimmed, wanted);
    let n_chunks = skimmed.chunks.len().max(1) as f64;
    let mut first = |done: usize| progress(0.1 + 0.4 * done as f64 / n_chunks);
    let places = collect(&context, |_, _| {}, &mut first)?;
    let keys = places.clone();
    let request = Request {
        detail: match (detail.lines, options.inlines) {
            (true, _) => Detail::Lines,
            (false, true) => Detail::Inlines,
            (false, false) => Detail::Functions,
        },
        demangling: options.demangling,
        ..Request::default()
    };
    let mut profile = Profile {
        about: about::of(reader),
        ..Profile::default()
    };
    let names = Names::find(&context, places, request, &mut profile)?;
    let reading = Reading {
        codes: Codes::of(&names, &keys, options.inlines),
        has_times: has_times(reader),
        context: &context,
        names: &names,
        profile: &profile,
    };
    let mut second = |done: usize| progress(0.6 + 0.4 * done as f64 / n_chunks);
    let (counts, merged) = reading.run(&mut second)?;
    let Reading {
        codes, has_times, ..
    } = reading;
    // Events without samples and those that only carry sideband are numbered like the profile's.
    let events = counts.events(reader);
    freeze(&context, &names, counts.all, &mut profile);
    let warnings = reader.warnings().iter().map(ToString::to_string);
    profile.warnings.extend(warnings);
    profile.warnings.extend_from_slice(&skimmed.warnings);
    let mut timeline = Timeline {
        profile,
        has_times,
        ..Timeline::default()
    };
    if !has_times && !merged.is_empty() {
        let what = "the recording has no times: its samples are shown a millisecond apart";
        timeline.profile.warnings.push(what.to_owned());
    }
    let filler = merge::Filler {
        context: &context,
        events,
        with_fields: detail.fields,
    };
    filler.fill(&mut timeline, merged, |numbers, timeline| {
        codes.describe(&context, &names, numbers, timeline);
    })?;
    Ok(timeline)
}

/// Whether all samples have a time.
fn has_times(reader: &Reader) -> bool {
    let mut events = reader.events().iter().filter(|event| !event.is_dummy());
    events.all(|event| event.attr.sample_type.has(SampleType::TIME))
}

/// What all threads share.
struct Reading<'a> {
    context: &'a Context<'a>,
    names: &'a Names,
    profile: &'a Profile,
    codes: Codes,
    has_times: bool,
}

/// Totals, and how many samples each event has in all.
struct Totals {
    all: Counts,
    samples: Vec<u64>,
}

impl Totals {
    /// Numbers of the recording's events in the profile.
    fn events(&self, reader: &Reader) -> Vec<Option<u32>> {
        let mut next = 0;
        let mut number = |is_in: bool| {
            let number = is_in.then_some(next);
            next += u32::from(is_in);
            number
        };
        let events = reader.events().iter().zip(&self.samples);
        events
            .map(|(event, &samples)| number(!is_left_out(event, samples)))
            .collect()
    }
}

/// One sample; the order of its first fields is the order of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    time_ns: u64,
    offset: u64,
    event: u32,
    thread: u32,
    /// [`NONE`] if there is no stack.
    node: u32,
    /// [`NONE`] if it is not known.
    cpu: u32,
    weight: u64,
}

/// For what is not there, in rows.
const NONE: u32 = u32::MAX;

/// One thread's share.
struct Share {
    totals: Totals,
    rows: Vec<Row>,
    tree: Tree,
    threads: Threads,
    memo: Memo<Kept>,
    tasks: Tasks,
    places: Cache,
    path: Vec<FrameId>,
    unwinding: Unwinding,
    batch: Vec<Shown>,
}

/// What is known of a stack that was seen before.
#[derive(Clone, Copy, Default)]
struct Kept {
    node: u32,
    /// Number and 1 of its image, if that has no names.
    unnamed: u32,
}

/// Threads by number.
#[derive(Default)]
struct Threads {
    all: Vec<TaskGroup>,
    /// Whether the filter shows them.
    shown: Vec<bool>,
    numbers: HashMap<TaskGroup, u32>,
}

impl Threads {
    fn of(&mut self, thread: TaskGroup, is_shown: impl FnOnce() -> bool) -> u32 {
        *self.numbers.entry(thread).or_insert_with(|| {
            self.all.push(thread);
            self.shown.push(is_shown());
            u32::try_from(self.all.len() - 1).unwrap_or(NONE)
        })
    }
}

/// A sample of the batch at hand that is shown.
struct Shown {
    /// Its place in the batch.
    at: usize,
    key: StackKey,
    space: Space,
    walked: Walked,
    thread: u32,
    weight: u64,
}

impl Reading<'_> {
    fn run(&self, done: &mut dyn FnMut(usize)) -> Result<(Totals, Merged), Error> {
        let context = self.context;
        let n_events = context.reader.events().len();
        let new_totals = || Totals {
            all: Counts::new(n_events),
            samples: vec![0; n_events],
        };
        let new_share = || Share {
            totals: new_totals(),
            rows: Vec::new(),
            tree: Tree::default(),
            threads: Threads::default(),
            memo: Memo::new(context.skimmed.n_samples),
            tasks: Tasks::new(),
            places: Cache::new(),
            path: Vec::new(),
            unwinding: Unwinding::default(),
            batch: Vec::new(),
        };
        let take = |share: &mut Share, chunk: usize| {
            let unused = context.for_each_batch(chunk, |batch| share.take(self, batch))?;
            share.totals.all.unused.add(unused);
            Ok(())
        };
        let shares = parallel::for_each(context.chunks(), new_share, take, done)?;
        let mut totals = new_totals();
        let mut parts = Vec::new();
        for share in shares {
            let Totals { all, samples } = share.totals;
            totals.all.merge(all);
            let sums = totals.samples.iter_mut().zip(samples);
            sums.for_each(|(sum, samples)| *sum += samples);
            parts.push((share.rows, share.tree, share.threads.all));
        }
        Ok((totals, merge(parts)))
    }
}

impl Share {
    fn take(&mut self, reading: &Reading<'_>, batch: &[Seen<'_>]) {
        let mut shown = std::mem::take(&mut self.batch);
        shown.clear();
        self.unwinding.clear();
        for (at, seen) in batch.iter().enumerate() {
            shown.extend(self.show(reading.context, at, seen));
        }
        self.memo.touch(shown.iter().map(|one| one.key));
        for one in &shown {
            self.add(reading, &batch[one.at], one);
        }
        self.batch = shown;
    }

    /// Counts a sample for the totals; `None` if its task is not shown.
    fn show(&mut self, context: &Context<'_>, at: usize, seen: &Seen<'_>) -> Option<Shown> {
        let history = &context.skimmed.history;
        let weight = context.weight_of(seen);
        let tally = self.totals.all.tallies.get_mut(seen.event)?;
        tally.add_samples(1, weight);
        *self.totals.samples.get_mut(seen.event)? += 1;
        let task = (seen.pid, seen.tid);
        let (space, comm) = self.tasks.at(history, task, seen.key);
        let name = task_name(task, comm);
        let thread = TaskGroup {
            name,
            pid: Some(seen.pid),
            tid: Some(seen.tid),
            cpu: None,
        };
        let thread = self.threads.of(thread, || {
            let name = comm_text(history, name).into_raw();
            context.filter.shows_task(seen.pid, seen.tid, &name)
        });
        if !*self.threads.shown.get(thread as usize)? {
            return None;
        }
        let walked = self.unwinding.walk(context, seen, space);
        self.totals.all.ends.add(&walked);
        let user = self.unwinding.user_part(seen, &walked);
        Some(Shown {
            at,
            key: self.memo.key((seen, user), space, context.chains, 0),
            space,
            walked,
            thread,
            weight,
        })
    }

    fn add(&mut self, reading: &Reading<'_>, seen: &Seen<'_>, shown: &Shown) {
        let kept = match self.memo.find(shown.key) {
            Some(kept) => kept,
            None => {
                let Some(kept) = self.walk(reading, seen, shown) else {
                    return;
                };
                self.memo.note(shown.key, kept);
                kept
            }
        };
        let unnamed = kept.unnamed.checked_sub(1).map(rprof_machine::ImageId);
        self.totals.all.add_unnamed(unnamed, shown.weight);
        let time_ns = seen.sample.time_ns.filter(|_| reading.has_times);
        self.rows.push(Row {
            time_ns: time_ns.unwrap_or(0),
            offset: seen.key.offset,
            event: u32::try_from(seen.event).unwrap_or(NONE),
            thread: shown.thread,
            node: kept.node,
            cpu: seen.sample.cpu.unwrap_or(NONE),
            weight: shown.weight,
        });
    }

    /// Puts a stack into the tree; `None` if its function is not shown.
    fn walk(&mut self, reading: &Reading<'_>, seen: &Seen<'_>, shown: &Shown) -> Option<Kept> {
        let Reading {
            context,
            names,
            profile,
            codes,
            ..
        } = reading;
        let (places, path) = (&mut self.places, &mut self.path);
        path.clear();
        let mut innermost = None;
        let history = &context.skimmed.history;
        let user = self.unwinding.user_part(seen, &shown.walked);
        let (sample, misc) = (&seen.sample, seen.raw.misc);
        for_each_address(sample, user, misc, context.chains, |address| {
            let place = places.value(history, shown.space, address, |key| names.place(key));
            let is_own = innermost.is_none();
            innermost.get_or_insert(place);
            path.extend(codes.number(place, is_own).map(FrameId::from_number));
        });
        let mut kept = Kept {
            node: NONE,
            unnamed: 0,
        };
        match innermost {
            Some(place) if !shows_function(context, names, profile, place) => return None,
            Some(place) => {
                let unnamed = names.unnamed_image(place);
                kept.unnamed = unnamed.map_or(0, |image| image.0 + 1);
            }
            // Without an address it is in no function, and a filter of functions is not for it.
            None if context.filter.has_functions() => return None,
            None => {}
        }
        let mut node = None;
        for &code in path.iter().rev() {
            node = Some(self.tree.child(node, 0, code));
        }
        kept.node = node.unwrap_or(NONE);
        Some(kept)
    }
}
