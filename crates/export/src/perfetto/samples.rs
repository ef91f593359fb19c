//! Samples and tasks, as the pass wrote them, become packets.

use super::messages::{
    InternedData, PerfSample, PerfSampleDefaults, SEQ_INCREMENTAL_STATE_CLEARED,
    SEQ_NEEDS_INCREMENTAL_STATE, Timebase, TracePacket, TracePacketDefaults, Tracepoint,
};
use super::packets::{PacketWriter, Sequence};
use super::pass::{Item, Items, SampleItem, TaskItem};
use super::stacks::{Names, NumberedStacks};
use super::tasks;
use foldhash::HashMap;
use rprof_abi::AttrFlags;
use rprof_analysis::Query;
use std::io;

/// Makes packets of samples and tasks.
pub(super) struct SampleWriter<'a> {
    query: &'a Query<'a>,
    names: Names<'a>,
    /// By event.
    events: Vec<EventSamples>,
    /// Locations of all stacks that have numbers.
    n_numbered: usize,
    /// Of the stack at hand.
    stack: Vec<u32>,
    n_written: u64,
}

/// The samples of an event: a sequence of its own, which is a session of sampling.
#[derive(Default)]
struct EventSamples {
    stacks: NumberedStacks,
    is_begun: bool,
    /// What was counted so far, by CPU.
    counts: HashMap<Option<u32>, u64>,
}

/// When all that have numbers have more locations than this, they are forgotten: some 64 MiB.
const MOST_NUMBERED: usize = 1 << 23;

impl<'a> SampleWriter<'a> {
    pub(super) fn new(query: &'a Query<'a>, names: Names<'a>) -> Self {
        let events = query.recording.reader.events().iter();
        Self {
            query,
            names,
            events: events.map(|_| EventSamples::default()).collect(),
            n_numbered: 0,
            stack: Vec::new(),
            n_written: 0,
        }
    }

    /// How many samples were written.
    pub(super) fn n_written(&self) -> u64 {
        self.n_written
    }

    /// The events that have samples.
    pub(super) fn sequences(&self) -> Vec<usize> {
        let all = self.events.iter().enumerate();
        let begun = all.filter(|(_, event)| event.is_begun);
        begun.map(|(number, _)| number).collect()
    }

    /// Takes what the pass wrote of some samples and tasks.
    pub(super) fn take(&mut self, bytes: &[u8], packets: &mut PacketWriter<'_>) -> io::Result<()> {
        let mut items = Items::of(bytes);
        while let Some(item) = items.next(&mut self.stack) {
            match item {
                Item::Sample(sample) => self.sample(&sample, packets)?,
                Item::Task(task) => {
                    let begin = self.query.recording.sample_times();
                    let begin_ns = begin.map_or(0, |times| *times.start());
                    tasks::write(&self.shown(task), begin_ns, packets)?;
                }
            }
        }
        Ok(())
    }

    /// A task as it is shown: one that a filter hides is named, but does not begin.
    fn shown<'t>(&self, task: TaskItem<'t>) -> TaskItem<'t> {
        let id = (task.pid, task.tid);
        let shows = |&time_ns: &u64| {
            let samples = &self.query.samples;
            task.parent.is_none() || samples.shows_thread(id, task.comm, time_ns)
        };
        TaskItem {
            time_ns: task.time_ns.filter(shows),
            ..task
        }
    }

    fn sample(&mut self, sample: &SampleItem, packets: &mut PacketWriter<'_>) -> io::Result<()> {
        if self.n_numbered > MOST_NUMBERED {
            self.n_numbered = 0;
            for event in &mut self.events {
                event.stacks = NumberedStacks::default();
                event.is_begun = false;
            }
        }
        let Some(event) = self.events.get_mut(sample.event) else {
            return Ok(());
        };
        let mut interned = InternedData::default();
        let mut callstack_iid = None;
        if !self.stack.is_empty() {
            let (iid, is_new) = event.stacks.number(&self.stack, &self.names, &mut interned);
            callstack_iid = Some(iid);
            self.n_numbered += if is_new { self.stack.len() } else { 0 };
        }
        let count = event.counts.entry(sample.cpu).or_default();
        *count = count.saturating_add(sample.weight);
        let count = *count;
        let is_first = !std::mem::replace(&mut event.is_begun, true);
        let id = |id: i32| Some(id.cast_unsigned());
        self.n_written += 1;
        packets.write(TracePacket {
            timestamp: Some(sample.time_ns),
            trusted_packet_sequence_id: Some(sequence_of(sample.event)),
            sequence_flags: Some(if is_first {
                SEQ_INCREMENTAL_STATE_CLEARED
            } else {
                SEQ_NEEDS_INCREMENTAL_STATE
            }),
            trace_packet_defaults: is_first.then(|| defaults(self.query, sample.event)),
            interned_data: Some(interned).filter(|data| *data != InternedData::default()),
            perf_sample: Some(PerfSample {
                cpu: sample.cpu,
                pid: id(sample.pid),
                tid: id(sample.tid),
                callstack_iid,
                cpu_mode: Some(sample.cpu_mode),
                timebase_count: Some(count),
                unwind_error: sample.unwind_error,
                kernel_records_lost: None,
            }),
            ..TracePacket::default()
        })
    }
}

/// The sequence of an event's samples.
pub(super) fn sequence_of(event: usize) -> u32 {
    let number = u32::try_from(event).unwrap_or(u32::MAX);
    Sequence::SAMPLES.saturating_add(number)
}

/// What the samples of an event are taken of.
fn defaults(query: &Query<'_>, event: usize) -> TracePacketDefaults {
    /// `PerfEvents.Counter`, by perf's names.
    const COUNTERS: [(&str, u32); 4] = [
        ("cpu-clock", 1),
        ("page-faults", 2),
        ("cycles", 10),
        ("instructions", 11),
    ];
    let (name, _) = query.event(event).unwrap_or_default();
    let name = name.into_raw();
    let counter = COUNTERS.iter().find(|(known, _)| *known == name);
    let recorded = query.recording.reader.events().get(event);
    let attr = recorded.map(|recorded| &recorded.attr);
    let attr = attr.filter(|_| query.samples.filter.account == rprof_profile::Account::OnCpu);
    let (by_rate, by_period): (Vec<_>, Vec<_>) = attr
        .into_iter()
        .map(|attr| (attr.sample_period, attr.flags.has(AttrFlags::FREQ)))
        .partition(|&(_, is_rate)| is_rate);
    let timebase = Timebase {
        frequency: by_rate.first().map(|&(rate, _)| rate),
        period: by_period.first().map(|&(period, _)| period),
        counter: counter.map(|&(_, number)| number),
        // The name of any event is shown if it is a tracepoint's.
        tracepoint: (counter.is_none()).then(|| Tracepoint {
            name: Some(name.clone()),
        }),
        name: Some(name),
    };
    TracePacketDefaults {
        perf_sample_defaults: Some(PerfSampleDefaults {
            timebase: Some(timebase),
        }),
    }
}
