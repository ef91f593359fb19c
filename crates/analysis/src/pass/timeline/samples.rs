//! The timeline pass.

use super::code::Codes;
use super::merge::{Filler, ThreadRows, merge};
use super::row::{NONE, Row};
use crate::Error;
use crate::index::SampleOrder;
use crate::locations::{LocationCache, NamedThread, ShownTasks};
use crate::pass::blocks::have_times;
use crate::pass::counts::{Counts, OptionalImage, UnnamedWeights, new_tallies};
use crate::pass::dimensions::{GroupBy, Grouping};
use crate::pass::driver::{Pass, ResolvedSample, TaskSample, run};
use crate::pass::finish::{is_left_out, profile_of};
use crate::pass::group_key::GroupKey;
use crate::pass::load::{Options, Progress, progress_of};
use crate::pass::locations::find_locations;
use crate::pass::query::{Query, WantedFrames};
use crate::recording::Recording;
use crate::samples::check_filter;
use crate::stacks::First;
use crate::stacks::StackEndCounts;
use crate::symbolize::Symbols;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_perfdata::Reader;
use rprof_profile::timeline::Timeline;
use rprof_profile::{FrameId, SelfTime, Tally, Tree};
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
pub fn load_timeline(
    reader: &Reader,
    options: &Options,
    detail: TimelineDetail,
    progress: &mut Progress<'_>,
) -> Result<Timeline, Error> {
    check_filter(reader, &options.filter)?;
    let recording = Recording::open(reader, &options.locator, SampleOrder::Any)?;
    let mut query = Query::of(&recording, &options.filter, WantedFrames::All, First::Own)?;
    query.self_time = if options.inlines {
        options.self_time
    } else {
        // Lines bring inlined functions along.
        SelfTime::Symbol
    };
    let n_chunks = recording.index.chunks.len();
    let mut first = |done| progress(progress_of(0.1, 0.4, done, n_chunks));
    let found = find_locations(&query, |_, _| {}, &mut first)?;
    let request = Request {
        detail: match (detail.lines, options.inlines) {
            (true, _) => Detail::Lines,
            (false, true) => Detail::Inlines,
            (false, false) => Detail::Functions,
        },
        demangling: options.demangling,
        fde: options.fde,
        ..Request::default()
    };
    let mut symbols = query.symbolize(found.locations, request)?;
    let codes = Codes::of(&symbols, options.inlines);
    let pass = TimelinePass {
        query: &query,
        symbols: &symbols,
        codes: &codes,
        has_times: have_times(reader),
    };
    let has_times = pass.has_times;
    let mut second = |done| progress(progress_of(0.6, 0.4, done, n_chunks));
    let result = run(&query, &pass, &mut second)?;
    let mut counts = Counts::new(reader.events().len());
    let mut rows = Vec::new();
    for local in result.locals {
        counts.merge(Counts {
            tallies: local.tallies,
            unnamed: local.unnamed,
            ends: local.ends,
            ..Counts::default()
        });
        rows.push(ThreadRows {
            rows: local.rows,
            tree: local.tree,
            threads: local.threads.into_values(),
        });
    }
    counts.ignored = result.ignored;
    let merged = merge(rows);
    let filler = Filler {
        query: &query,
        events: event_numbers(reader, &counts),
        with_fields: detail.fields,
    };
    let grouping = Grouping::of(&recording, &GroupBy::default())?;
    let mut timeline = Timeline {
        profile: profile_of(&query, &grouping, &mut symbols, counts),
        has_times,
        ..Timeline::default()
    };
    if !has_times && !merged.is_empty() {
        let what = "the recording has no times: its samples are shown a millisecond apart";
        timeline.profile.warnings.push(what.to_owned());
    }
    filler.fill(&mut timeline, merged, |numbers, timeline| {
        codes.describe(&recording.index.history, &symbols, numbers, timeline);
    })?;
    Ok(timeline)
}

/// Numbers of the recording's events in the profile: those that only carry sideband have none.
pub(in crate::pass) fn event_numbers(reader: &Reader, counts: &Counts) -> Vec<Option<u32>> {
    let mut next = 0;
    let mut number = |is_in: bool| {
        let number = is_in.then_some(next);
        next += u32::from(is_in);
        number
    };
    let events = reader.events().iter().zip(&counts.tallies);
    events
        .map(|(event, tally)| number(!is_left_out(event, tally.samples())))
        .collect()
}

struct TimelinePass<'a> {
    query: &'a Query<'a>,
    symbols: &'a Symbols,
    codes: &'a Codes,
    has_times: bool,
}

/// A thread's samples.
struct Local {
    /// Totals by event.
    tallies: Vec<Tally<GroupKey>>,
    unnamed: UnnamedWeights,
    ends: StackEndCounts,
    rows: Vec<Row>,
    tree: Tree,
    threads: Interner<u32, NamedThread, RandomState>,
    shown: ShownTasks,
    locations: LocationCache,
    path: Vec<FrameId>,
}

/// Where a stack is in the tree.
#[derive(Clone, Copy, Default)]
struct TimelineStack {
    node: u32,
    unnamed: OptionalImage,
}

impl Pass for TimelinePass<'_> {
    type Local = Local;
    type Stack = TimelineStack;

    fn local(&self) -> Local {
        Local {
            tallies: new_tallies(self.query.recording.reader.events().len()),
            unnamed: UnnamedWeights::default(),
            ends: StackEndCounts::default(),
            rows: Vec::new(),
            tree: Tree::default(),
            threads: Interner::default(),
            shown: ShownTasks::default(),
            locations: LocationCache::new(),
            path: Vec::new(),
        }
    }

    fn group(&self, local: &mut Local, sample: &TaskSample<'_, '_>) -> Option<u64> {
        let decoded = sample.decoded;
        let tally = local.tallies.get_mut(decoded.event)?;
        tally.add_samples(1, decoded.weight(self.query.recording.reader));
        let id = (decoded.pid, decoded.tid);
        let history = &self.query.recording.index.history;
        let filter = self.query.samples.filter;
        // Equal stacks of different threads are one.
        let is_shown = local.shown.has(filter, history, id, sample.task);
        (is_shown && self.query.samples.shows(decoded)).then_some(0)
    }

    fn sample(
        &self,
        local: &mut Local,
        sample: &ResolvedSample<'_, '_>,
        known: Option<TimelineStack>,
    ) -> Option<TimelineStack> {
        local.ends.add(sample.end);
        let stack = match known {
            Some(stack) => stack,
            None => self.stack(local, sample)?,
        };
        let decoded = sample.decoded;
        let weight = decoded.weight(self.query.recording.reader);
        local.unnamed.add(stack.unnamed.image(), weight);
        let time_ns = decoded.head.time_ns.filter(|_| self.has_times);
        local.rows.push(Row {
            time_ns: time_ns.unwrap_or(0),
            offset: decoded.key.offset,
            event: u32::try_from(decoded.event).unwrap_or(NONE),
            thread: local.threads.intern(NamedThread {
                name: sample.task,
                pid: decoded.pid,
                tid: decoded.tid,
            }),
            node: stack.node,
            cpu: decoded.head.cpu.unwrap_or(NONE),
            weight,
        });
        Some(stack)
    }
}

impl TimelinePass<'_> {
    /// Puts a stack into the tree; `None` if its function is not shown.
    fn stack(&self, local: &mut Local, sample: &ResolvedSample<'_, '_>) -> Option<TimelineStack> {
        let Local {
            locations, path, ..
        } = local;
        path.clear();
        let mut innermost = None;
        let history = &self.query.recording.index.history;
        sample.for_each_address(|address| {
            let find = |location| self.symbols.number(location);
            let location = locations.value(history, sample.mappings, address, find);
            let is_own = innermost.is_none();
            innermost.get_or_insert(location);
            let code = self.codes.number(location, is_own);
            path.extend(code.map(FrameId::from_number));
        });
        let filter = self.query.samples.filter;
        let unnamed = match innermost {
            Some(location) if !self.symbols.accepts(location) => return None,
            Some(location) => self.symbols.unnamed_image(location),
            // Without an address it is in no function, and a filter of functions is not for it.
            None if filter.has_functions() => return None,
            None => None,
        };
        let mut node = None;
        for &code in path.iter().rev() {
            node = Some(local.tree.child(node, 0, code));
        }
        Some(TimelineStack {
            node: node.unwrap_or(NONE),
            unnamed: OptionalImage::of(unnamed),
        })
    }
}
