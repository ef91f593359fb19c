//! The samples of a recording that a filter accepts. A [`SampleSource`] yields them: decoded, a group's values made into
//! samples of its members, user chains that came later joined.

mod accounted;
mod chosen_events;
mod decoded;
mod group_values;
mod ignored;
mod parallelism;
mod source;
mod span_finder;
mod switches;
mod times;
mod woken_by;

pub use accounted::Stretch;
pub(crate) use accounted::tells_of_waits;
pub(crate) use accounted::{ACCOUNTED_EVENT, AccountedSample, AccountedSamples, SampleSpan};
pub use chosen_events::bookkeeping_events;
pub use decoded::DecodedSample;
pub use ignored::IgnoredSamples;
pub(crate) use parallelism::{Parallelism, has_switches};
pub(crate) use source::{BATCH, SampleSource};
pub use span_finder::{find_spans, span_times};
pub(crate) use times::{asked_span, span};
pub use woken_by::WokenBy;

use crate::Error;
use crate::index::Descendants;
use crate::recording::Recording;
use crate::spans::SpeedFilter;
use rprof_abi::SampleType;
use rprof_base::parallel;
use rprof_perfdata::{Feature, FeatureId, Reader};
use rprof_profile::{Account, Ancestor, Filter};
use std::ops::RangeInclusive;
use switches::SwitchedSpans;

/// The samples that a filter accepts.
#[derive(Debug)]
pub struct Samples<'a> {
    recording: &'a Recording<'a>,
    pub(crate) source: SampleSource<'a>,
    /// Which samples.
    pub filter: &'a Filter,
    /// The processes that are asked for by an ancestor.
    descendants: Option<Descendants>,
    /// The times that are asked for; `None` for all.
    times: Option<Vec<RangeInclusive<u64>>>,
    /// How many threads run, if that is asked for.
    parallelism: Option<Parallelism>,
    /// Sockets by CPU, if one is asked for.
    sockets: Vec<u32>,
    /// The spans between events that switch samples on and off; `None` without such events.
    switched: Option<SwitchedSpans>,
    /// The spans of threads that are slow, or those that are not, if that is asked for.
    speed: Option<SpeedFilter>,
}

impl<'a> Samples<'a> {
    /// Those of a recording.
    ///
    /// # Errors
    /// As [`check_filter`]; [`Error::Filter`] if times make no sense in this recording.
    pub fn of(recording: &'a Recording<'a>, filter: &'a Filter) -> Result<Self, Error> {
        check_filter(recording.reader, filter)?;
        let ancestor = ancestor(recording.reader, filter);
        let forks = &recording.index.lifetimes.forks;
        let mut samples = Self {
            recording,
            source: SampleSource::recorded(recording, filter),
            filter,
            descendants: ancestor.map(|pid| Descendants::of(pid, forks)),
            times: times::ranges(recording, filter)?,
            sockets: match filter.socket {
                Some(_) => sockets(recording.reader),
                None => Vec::new(),
            },
            parallelism: if filter.parallelism.is_empty() {
                None
            } else {
                Some(Parallelism::of(recording)?)
            },
            switched: None,
            speed: speed_filter(recording, filter)?,
        };
        if !filter.switches.is_empty() {
            let has_time = |time| samples.has_time(time);
            samples.switched = Some(SwitchedSpans::of(recording, &filter.switches, has_time)?);
        }
        Ok(samples)
    }
}

impl Samples<'_> {
    /// How many chunks there are, and how many threads may read them.
    pub(crate) fn chunks(&self) -> (usize, usize) {
        let n_threads = if self.need_order() {
            1
        } else {
            parallel::n_cpus()
        };
        (self.recording.index.chunks.len(), n_threads)
    }

    /// Whether chunks have to be read one after the other.
    pub(crate) fn need_order(&self) -> bool {
        self.source.needs_order()
    }

    /// Calls `visit` for each sample of a chunk that the filter accepts.
    pub(crate) fn for_each_sample(
        &self,
        chunk: usize,
        mut visit: impl FnMut(&DecodedSample<'_>),
    ) -> Result<IgnoredSamples, Error> {
        self.for_each_batch(chunk, |batch| batch.iter().for_each(&mut visit))
    }

    /// The same, some at a time: what is looked up for all of them at once does not wait for
    /// memory as often.
    pub(crate) fn for_each_batch(
        &self,
        chunk: usize,
        visit: impl FnMut(&[DecodedSample<'_>]),
    ) -> Result<IgnoredSamples, Error> {
        self.source
            .for_each_batch(chunk, |sample| self.accepts(sample), visit)
    }

    /// Whether the filter counts a sample at all.
    #[inline]
    fn accepts(&self, decoded: &DecodedSample<'_>) -> bool {
        self.filter.accepts_cpu(decoded.head.cpu)
            && self.filter.accepts_idle(decoded.pid, decoded.tid)
            && (self.source.is_cut() || self.has_time(decoded.head.time_ns))
            && self.is_switched_on(decoded)
            && self.descends(decoded)
            && self.has_speed(decoded)
    }

    /// The times that are asked for, as far as samples go from the first to the last: in order, those that touch as one;
    /// none without samples, or where the index was not asked for their times.
    pub(crate) fn asked_times(&self) -> Vec<RangeInclusive<u64>> {
        let Some(recorded) = self.recording.index.sample_times.clone() else {
            return Vec::new();
        };
        match &self.times {
            Some(asked) => times::joined(asked, &recorded),
            None => vec![recorded],
        }
    }

    /// The times that are asked for; `None` for all.
    pub(crate) fn times(&self) -> Option<&[RangeInclusive<u64>]> {
        self.times.as_deref()
    }

    /// Whether a time is asked for.
    #[inline]
    pub(crate) fn has_time(&self, time: Option<u64>) -> bool {
        let has = |ranges: &Vec<RangeInclusive<u64>>| {
            time.is_some_and(|time| ranges.iter().any(|range| range.contains(&time)))
        };
        self.times.as_ref().is_none_or(has)
    }

    /// Whether it is shown, as far as its task does not matter.
    #[inline]
    pub(crate) fn shows(&self, decoded: &DecodedSample<'_>) -> bool {
        self.has_socket(decoded) && self.has_parallelism(decoded)
    }

    /// Whether as many threads run as is asked for.
    #[inline]
    pub(crate) fn has_parallelism(&self, decoded: &DecodedSample<'_>) -> bool {
        let asked = &self.filter.parallelism;
        let has = |all: &Parallelism| asked.contains(&all.at(decoded.key));
        self.parallelism.as_ref().is_none_or(has)
    }

    /// How many threads run at its time, where a filter asks for it.
    pub(crate) fn parallelism_of(&self, decoded: &DecodedSample<'_>) -> Option<u32> {
        Some(self.parallelism.as_ref()?.at(decoded.key))
    }

    /// Whether its CPU is on the socket that is asked for.
    #[inline]
    pub(crate) fn has_socket(&self, decoded: &DecodedSample<'_>) -> bool {
        let is_on = |asked| self.socket_of(decoded) == Some(asked);
        self.filter.socket.is_none_or(is_on)
    }

    /// The socket of its CPU, where a filter asks for one.
    #[inline]
    pub(crate) fn socket_of(&self, decoded: &DecodedSample<'_>) -> Option<u32> {
        let cpu = usize::try_from(decoded.head.cpu?).ok()?;
        self.sockets.get(cpu).copied()
    }

    /// Whether it is between events that switch samples on and off.
    #[inline]
    pub(crate) fn is_switched_on(&self, decoded: &DecodedSample<'_>) -> bool {
        let has = |spans: &SwitchedSpans| spans.has(decoded.key);
        self.switched.as_ref().is_none_or(has)
    }

    /// What is to be said of limits that divide spans, one sentence each.
    pub(crate) fn speed_warnings(&self) -> &[String] {
        self.speed.as_ref().map_or(&[], |speed| &speed.warnings)
    }

    /// Whether the span that it is in is as slow, or as fast, as is asked for.
    #[inline]
    pub(crate) fn has_speed(&self, decoded: &DecodedSample<'_>) -> bool {
        let accepts = |speed: &SpeedFilter| speed.accepts(decoded.span);
        self.speed.as_ref().is_none_or(accepts)
    }

    /// Whether what a thread, by this name, does at a moment is shown.
    pub fn shows_thread(&self, (pid, tid): (i32, i32), comm: &str, time_ns: u64) -> bool {
        let descends = |all: &Descendants| all.has(pid, Some(time_ns));
        self.filter.accepts_task(pid, tid, comm)
            && self.descendants.as_ref().is_none_or(descends)
            && self.has_time(Some(time_ns))
    }

    /// Whether it is of a process that is asked for by an ancestor.
    #[inline]
    pub(crate) fn descends(&self, decoded: &DecodedSample<'_>) -> bool {
        let descends = |all: &Descendants| all.has(decoded.pid, decoded.head.time_ns);
        self.descendants.as_ref().is_none_or(descends)
    }
}

/// The spans that a filter asks for.
fn speed_filter(recording: &Recording<'_>, filter: &Filter) -> Result<Option<SpeedFilter>, Error> {
    let Some(speed) = &filter.span_speed else {
        return Ok(None);
    };
    let option = speed.option();
    find_spans(recording)?;
    let spans = recording.spans().ok_or(Error::NoSpans { option })?;
    SpeedFilter::of(spans, speed).map(Some)
}

/// The process whose descendants a filter asks for.
fn ancestor(reader: &Reader, filter: &Filter) -> Option<i32> {
    match filter.descendants_of? {
        Ancestor::Process(pid) => Some(pid),
        Ancestor::Command => recorded_command(reader),
    }
}

/// The process of the command that was recorded, if the recording says so.
pub(crate) fn recorded_command(reader: &Reader) -> Option<i32> {
    let section = reader.feature(FeatureId::COMMAND).ok()??;
    match Feature::parse(FeatureId::COMMAND, &section, reader.endian()) {
        Ok(Feature::Command(command)) => i32::try_from(command.pid).ok(),
        _ => None,
    }
}

/// The sockets of CPUs, as the recording has them.
pub(crate) fn sockets(reader: &Reader) -> Vec<u32> {
    let Ok(Some(section)) = reader.feature(FeatureId::CPU_TOPOLOGY) else {
        return Vec::new();
    };
    match Feature::parse(FeatureId::CPU_TOPOLOGY, &section, reader.endian()) {
        Ok(Feature::CpuTopology(topology)) => {
            topology.cpus.iter().map(|cpu| cpu.socket_id).collect()
        }
        _ => Vec::new(),
    }
}

/// Refuses a filter by what no sample has: it would leave nothing, and not say why.
///
/// # Errors
/// [`Error::NotRecorded`], [`Error::NoCommand`].
pub fn check_filter(reader: &Reader, filter: &Filter) -> Result<(), Error> {
    let is_recorded = |bit| {
        let mut events = reader.events().iter();
        events.any(|event| event.attr.sample_type.has(bit))
    };
    let has_tasks = is_recorded(SampleType::TID);
    let has_cpus = is_recorded(SampleType::CPU);
    let lacks_switches = || !has_switches(reader);
    let lacks_sockets = || !has_cpus || sockets(reader).is_empty();
    let lacks_times = !is_recorded(SampleType::TIME);
    let of_cpus = "rprof record, perf record --sample-cpu";
    let of_switches = "rprof record --latency, perf record --switch-events";
    let of_times = "rprof record, perf record --timestamp";
    let missing = [
        (
            filter.account != Account::OnCpu && !tells_of_waits(reader),
            "context switches",
            match filter.critical {
                Some(_) => "--critical",
                None => filter.account.option(),
            },
            "rprof record --off-cpu, rprof record -a -g -e sched:sched_switch,sched:sched_waking",
        ),
        (
            !filter.cpus.is_empty() && !has_cpus,
            "CPUs",
            "--cpu",
            of_cpus,
        ),
        (
            !filter.parallelism.is_empty() && lacks_switches(),
            "context switches",
            "--parallelism",
            of_switches,
        ),
        (
            filter.socket.is_some() && lacks_sockets(),
            "sockets of CPUs",
            "--socket-filter",
            of_cpus,
        ),
        (
            filter.times.is_some() && lacks_times,
            "times",
            "--time",
            of_times,
        ),
    ];
    let of_tasks = [
        (!filter.comms.is_empty(), "--comms"),
        (!filter.pids.is_empty(), "--pid"),
        (!filter.tids.is_empty(), "--tid"),
        (filter.no_idle, "--no-idle"),
        (filter.descendants_of.is_some(), "--descendants"),
    ];
    let of_tasks = of_tasks.map(|(is_asked, option)| {
        let is_missing = is_asked && !has_tasks;
        (is_missing, "processes", option, "rprof record, perf record")
    });
    let mut all = missing.into_iter().chain(of_tasks);
    if let Some((_, what, option, recorder)) = all.find(|(is_missing, ..)| *is_missing) {
        return Err(Error::NotRecorded {
            what,
            option,
            recorder,
        });
    }
    if filter.descendants_of.is_some() && ancestor(reader, filter).is_none() {
        return Err(Error::NoCommand);
    }
    Ok(())
}
