//! Which filter left nothing, and what there was for it.

use super::driver::{Pass, ResolvedSample, TaskSample, run};
use super::load::{Options, load};
use super::query::{Query, WantedFrames};
use crate::Error;
use crate::index::SampleOrder;
use crate::locations::{TaskName, comm_text};
use crate::recording::Recording;
use crate::samples::{Samples, span};
use crate::stacks::First;
use foldhash::{HashMap, HashSet};
use rprof_perfdata::Reader;
use rprof_profile::{Filter, FrameInfo, NameList, Profile, SpanSpeed};

/// A filter that no sample fits which fits the others before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmptyFilter {
    /// Its option.
    pub option: &'static str,
    /// What it is compared with.
    pub what: &'static str,
    /// Values that there are, the most frequent first.
    pub found: Vec<String>,
}

/// Either of the options of spans.
const OF_SPANS: &str = "--slower-than or --faster-than";

/// The filters of samples and tasks, in their order.
const STAGES: [(&str, &str); 11] = [
    ("--cpu", "CPUs"),
    ("--time", "times"),
    ("--switch-on or --switch-off", ""),
    ("--descendants", ""),
    (OF_SPANS, ""),
    ("--no-idle", ""),
    ("--socket-filter", "sockets"),
    ("--parallelism", "numbers of running threads"),
    ("--pid", "processes"),
    ("--tid", "threads"),
    ("--comms", "threads"),
];

/// Says which filter left nothing; `None` if there are samples left, or none at all.
///
/// # Errors
/// As [`load`].
pub fn empty_filter(reader: &Reader, options: &Options) -> Result<Option<EmptyFilter>, Error> {
    let recording = Recording::open(reader, &options.locator, SampleOrder::Any)?;
    let all = Filter {
        account: options.filter.account,
        events: options.filter.events.clone(),
        critical: options.filter.critical.clone(),
        ..Filter::default()
    };
    let query = Query::of(&recording, &all, WantedFrames::Innermost, First::Own)?;
    let pass = StagesPass {
        query: &query,
        asked: Samples::of(&recording, &options.filter)?,
    };
    let mut left = Stages::default();
    for local in run(&query, &pass, &mut |_| {})?.locals {
        left.merge(local);
    }
    for (nth, (option, what)) in STAGES.into_iter().enumerate() {
        if left.n_left[nth] == 0 {
            return Ok((left.n_seen > 0).then(|| EmptyFilter {
                option: said(option, &options.filter),
                what,
                found: left.found(nth, &query),
            }));
        }
    }
    of_functions(reader, options)
}

/// The option that was given, where one of two may be meant.
fn said(option: &'static str, filter: &Filter) -> &'static str {
    let switches = &filter.switches;
    match (option, &switches.on, &switches.off) {
        ("--switch-on or --switch-off", Some(_), None) => "--switch-on",
        ("--switch-on or --switch-off", None, Some(_)) => "--switch-off",
        (OF_SPANS, ..) => filter.span_speed.as_ref().map_or(option, SpanSpeed::option),
        (option, ..) => option,
    }
}

/// A value that a filter looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Value {
    Number(i64),
    Name(TaskName),
}

/// What got past each filter.
#[derive(Default)]
struct Stages {
    n_seen: u64,
    n_left: [u64; STAGES.len()],
    /// What each one saw, if it let nothing through until then.
    seen: [HashMap<Value, u64>; STAGES.len()],
}

impl Stages {
    fn merge(&mut self, other: Self) {
        self.n_seen += other.n_seen;
        for (sum, n) in self.n_left.iter_mut().zip(other.n_left) {
            *sum += n;
        }
        for (all, seen) in self.seen.iter_mut().zip(other.seen) {
            for (value, n) in seen {
                *all.entry(value).or_default() += n;
            }
        }
    }

    fn found(&self, nth: usize, query: &Query<'_>) -> Vec<String> {
        if STAGES[nth].0 == "--time" {
            let span = span(query.recording).ok().flatten();
            let second = |nanos: u64| format!("{}.{:09}", nanos / NANOS, nanos % NANOS);
            let text = |span: std::ops::RangeInclusive<u64>| {
                format!("{} to {}", second(*span.start()), second(*span.end()))
            };
            return span.map(text).into_iter().collect();
        }
        let history = &query.recording.index.history;
        let mut found: Vec<(u64, String)> = Vec::new();
        for (&value, &n) in &self.seen[nth] {
            found.push((
                n,
                match value {
                    Value::Number(number) => number.to_string(),
                    Value::Name(name) => comm_text(history, name).into_raw().into_owned(),
                },
            ));
        }
        names(found)
    }
}

const NANOS: u64 = 1_000_000_000;

/// Distinct names, the most frequent first.
fn names(mut found: Vec<(u64, String)>) -> Vec<String> {
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut known = HashSet::default();
    let names = found.into_iter().map(|(_, name)| name);
    names.filter(|name| known.insert(name.clone())).collect()
}

struct StagesPass<'a> {
    query: &'a Query<'a>,
    /// With the filter.
    asked: Samples<'a>,
}

impl Pass for StagesPass<'_> {
    type Local = Stages;
    type Stack = u32;

    fn local(&self) -> Stages {
        Stages::default()
    }

    fn group(&self, local: &mut Stages, sample: &TaskSample<'_, '_>) -> Option<u64> {
        let (decoded, filter) = (sample.decoded, self.asked.filter);
        let cpu = decoded.head.cpu;
        let (pid, tid) = (decoded.pid, decoded.tid);
        let name = comm_text(&self.query.recording.index.history, sample.task);
        let number = |number: u32| Value::Number(number.into());
        let has = |list: &[i32], id| list.is_empty() || list.contains(&id);
        let stages = [
            (
                cpu.map(|cpu| Value::Number(cpu.into())),
                filter.accepts_cpu(cpu),
            ),
            (None, self.asked.has_time(decoded.head.time_ns)),
            (None, self.asked.is_switched_on(decoded)),
            (None, self.asked.descends(decoded)),
            (None, self.asked.has_speed(decoded)),
            (None, filter.accepts_idle(pid, tid)),
            (
                self.asked.socket_of(decoded).map(number),
                self.asked.has_socket(decoded),
            ),
            (
                self.asked.parallelism_of(decoded).map(number),
                self.asked.has_parallelism(decoded),
            ),
            (Some(Value::Number(pid.into())), has(&filter.pids, pid)),
            (Some(Value::Number(tid.into())), has(&filter.tids, tid)),
            (
                Some(Value::Name(sample.task)),
                filter.comms.accepts(&[&name.into_raw()]),
            ),
        ];
        local.n_seen += 1;
        for (nth, (value, is_left)) in stages.into_iter().enumerate() {
            if !is_left {
                if let Some(value) = value.filter(|_| local.n_left[nth] == 0) {
                    *local.seen[nth].entry(value).or_default() += 1;
                }
                return None;
            }
            local.n_left[nth] += 1;
        }
        None
    }

    fn sample(&self, _: &mut Stages, _: &ResolvedSample<'_, '_>, _: Option<u32>) -> Option<u32> {
        None
    }
}

/// Takes a part of a filter into another.
type Narrow = fn(&mut Filter, &Filter);

/// Of the filters of images and functions, the first that leaves nothing.
fn of_functions(reader: &Reader, options: &Options) -> Result<Option<EmptyFilter>, Error> {
    let filter = &options.filter;
    let mut less = Options {
        stacks: false,
        filter: Filter {
            dsos: NameList::default(),
            symbols: NameList::default(),
            symbol_part: None,
            hide_unresolved: false,
            ..filter.clone()
        },
        ..options.clone()
    };
    let mut before = load(reader, &less, &mut |_| {})?;
    let parts: [(bool, &str, Narrow); 4] = [
        (filter.hide_unresolved, "--hide-unresolved", |to, from| {
            to.hide_unresolved = from.hide_unresolved;
        }),
        (!filter.dsos.is_empty(), "--dsos", |to, from| {
            to.dsos = from.dsos.clone();
        }),
        (!filter.symbols.is_empty(), "--symbols", |to, from| {
            to.symbols = from.symbols.clone();
        }),
        (
            filter.symbol_part.is_some(),
            "--symbol-filter",
            |to, from| {
                to.symbol_part = from.symbol_part.clone();
            },
        ),
    ];
    for (_, option, add) in parts.into_iter().filter(|(is_asked, ..)| *is_asked) {
        add(&mut less.filter, filter);
        let after = load(reader, &less, &mut |_| {})?;
        if after
            .events
            .iter()
            .all(|event| event.tree.nodes().is_empty())
        {
            let (what, found) = match option {
                "--dsos" => (
                    "binaries",
                    of_frames(&before, |profile, frame| {
                        Some(profile.strings.of(frame.image).into_raw())
                    }),
                ),
                _ => (
                    "functions",
                    of_frames(&before, |profile, frame| {
                        Some(profile.strings.of(frame.name?).into_raw())
                    }),
                ),
            };
            return Ok(Some(EmptyFilter {
                option,
                what,
                found,
            }));
        }
        before = after;
    }
    Ok(None)
}

/// What the functions of a profile with self time are called in a way.
fn of_frames<'p>(
    profile: &'p Profile,
    name: impl Fn(&'p Profile, &FrameInfo) -> Option<&'p str>,
) -> Vec<String> {
    let mut counts: HashMap<&str, u64> = HashMap::default();
    for event in &profile.events {
        let nodes = event.tree.nodes();
        let self_nodes = event.tree.self_nodes(&profile.frames, profile.self_time);
        for (node, own) in nodes.iter().zip(self_nodes) {
            let frame = profile.frames.of(nodes[own as usize].frame);
            if let Some(name) = name(profile, frame) {
                *counts.entry(name).or_default() += node.self_samples;
            }
        }
    }
    let counts = counts.into_iter().filter(|&(_, n)| n > 0);
    names(counts.map(|(name, n)| (n, name.to_owned())).collect())
}
