//! What a recording says of the scheduler, in order of time.

use super::account::leaves_out_cpus;
use super::lost::lost_times;
use super::ordered::{Item, OrderedRecord, WantedRecords, for_each_batch};
use super::query::Query;
use super::sched_decoder::{KnownStates, SchedDecoder, SchedEvent};
use crate::Error;
use crate::pauses::pauses_of;
use crate::samples::IgnoredSamples;
use rprof_abi::{AttrFlags, Misc, Record, RecordKind};
use rprof_machine::Key;
use rprof_scheduling::{LostTimes, SwitchState};
use std::ops::RangeInclusive;

/// What happens in the scheduler.
#[derive(Clone, Copy, Debug)]
pub struct SchedStep {
    /// When and where it was recorded.
    pub key: Key,
    /// The process of the thread whose record it is.
    pub pid: i32,
    /// What it is.
    pub what: SchedWhat,
}

/// Which record says what happens in the scheduler.
#[derive(Clone, Copy, Debug)]
pub enum SchedWhat {
    /// A sample of one of its events.
    Event(SchedEvent),
    /// A SWITCH record: a thread comes to a CPU.
    Enter {
        /// The thread; 0 is the idle task.
        tid: i32,
        /// The CPU.
        cpu: u32,
    },
    /// A SWITCH record: a thread leaves its CPU. What its samples say of that comes before.
    Leave {
        /// The thread; 0 is the idle task.
        tid: i32,
        /// The CPU.
        cpu: u32,
        /// `Runnable` if it has to.
        state: SwitchState,
    },
    /// A thread is made, which wakes it. If the recording has events of that, they say so.
    Birth {
        /// The thread.
        tid: i32,
        /// Who made it.
        parent: i32,
    },
    /// A thread ends. Its events end before it leaves its CPU.
    Exit {
        /// The thread.
        tid: i32,
    },
}

/// The scheduler's events of a recording.
#[derive(Debug)]
pub struct SchedEvents<'q, 'a> {
    query: &'q Query<'a>,
    decoder: SchedDecoder<'a>,
}

impl<'q, 'a> SchedEvents<'q, 'a> {
    /// Finds the events.
    ///
    /// # Errors
    /// [`Error::NoSwitches`] if the recording has no `sched_switch`, or no times or CPUs.
    pub fn new(query: &'q Query<'a>) -> Result<Self, Error> {
        let decoder = SchedDecoder::new(query.recording.reader);
        if !query.recording.index.has_times || !decoder.has_switches() {
            return Err(Error::NoSwitches);
        }
        Ok(Self { query, decoder })
    }

    /// Whether the recording has [`SchedEvent::RunTime`].
    pub fn have_run_times(&self) -> bool {
        self.decoder.has_run_times()
    }

    /// When the recording was paused, nanoseconds: in order, apart from each other. What happened then may be recorded in
    /// part.
    pub fn pauses(&self) -> Vec<RangeInclusive<u64>> {
        let reader = self.query.recording.reader;
        pauses_of(reader, |event| self.decoder.is_of_scheduler(event))
    }

    /// When records were lost: what threads did then is not known.
    ///
    /// # Errors
    /// [`Error`] if the recording cannot be read.
    pub fn lost_times(&self) -> Result<LostTimes, Error> {
        lost_times(self.query.recording)
    }

    /// Whether nothing was recorded of some CPUs: a thread that is on none may be on one of those.
    pub fn miss_cpus(&self) -> bool {
        leaves_out_cpus(self.query.recording.reader)
    }

    /// Whether only the switches of some threads were recorded, each with SWITCH records of its own: who runs on a CPU
    /// after one of them may be anybody.
    ///
    /// # Errors
    /// [`Error`] if the recording cannot be read.
    pub fn are_of_some_threads(&self) -> Result<bool, Error> {
        let mut is_of_threads = false;
        if self.have_records() {
            self.for_each_item(Some(&is_switch), |item| {
                let Item::Record(record) = item else {
                    return true;
                };
                is_of_threads = matches!(record.record, Record::Switch(_));
                false
            })?;
        }
        Ok(is_of_threads)
    }

    fn have_records(&self) -> bool {
        let mut events = self.query.recording.reader.events().iter();
        events.any(|event| event.attr.flags.has(AttrFlags::CONTEXT_SWITCH))
    }

    /// Calls `visit` for each event, in order of time; stops when it returns false. A damaged one is left out, and
    /// counted.
    ///
    /// # Errors
    /// [`Error`] if the recording cannot be read.
    pub fn for_each(
        &self,
        mut visit: impl FnMut(SchedStep) -> bool,
    ) -> Result<IgnoredSamples, Error> {
        let kinds: &dyn Fn(RecordKind) -> bool = &|kind| {
            let is_birth = kind == RecordKind::FORK && !self.decoder.has_births();
            is_switch(kind) || is_birth || kind == RecordKind::EXIT
        };
        let kinds = Some(kinds).filter(|_| self.have_records());
        let mut n_bad = 0;
        let mut states = KnownStates::default();
        let mut ignored = self.for_each_item(kinds, |item| {
            let (key, pid, what) = match item {
                Item::Sample(decoded) if self.decoder.is_of_scheduler(decoded.event) => {
                    let Some(event) = self.decoder.decode(&decoded, &mut states) else {
                        n_bad += 1;
                        return true;
                    };
                    (decoded.key, decoded.pid, SchedWhat::Event(event))
                }
                Item::Record(record) => match what_of(&record) {
                    Some(what) => (record.key, record.id.pid.unwrap_or(-1), what),
                    None => return true,
                },
                Item::Sample(_) => return true,
            };
            visit(SchedStep { key, pid, what })
        })?;
        ignored.n_bad += n_bad;
        Ok(ignored)
    }

    /// Calls `visit` for each sample, and for each record of some kinds.
    fn for_each_item(
        &self,
        kinds: Option<&dyn Fn(RecordKind) -> bool>,
        mut visit: impl FnMut(Item<'_>) -> bool,
    ) -> Result<IgnoredSamples, Error> {
        let records = WantedRecords {
            kinds,
            in_file_order: false,
        };
        for_each_batch(self.query, records, |batch| {
            let mut items = batch.items(self.query, 0..batch.entries.len());
            items.all(&mut visit)
        })
    }
}

/// What a record that is no sample says of the scheduler; `None` if that is nothing.
fn what_of(record: &OrderedRecord<'_>) -> Option<SchedWhat> {
    match record.record {
        Record::Exit(task) => return Some(SchedWhat::Exit { tid: task.tid }),
        // Without a time it says what was there before.
        Record::Fork(task) => {
            let (tid, parent) = (task.tid, task.ptid);
            return (record.key.time_ns > 0).then_some(SchedWhat::Birth { tid, parent });
        }
        _ if !is_switch(record.raw.kind) => return None,
        _ => {}
    }
    let (tid, cpu) = (record.id.tid?, record.id.cpu?);
    let misc = record.raw.misc;
    let state = if misc.has(Misc::SWITCH_OUT_PREEMPT) {
        SwitchState::Runnable
    } else {
        SwitchState::Unknown
    };
    Some(if misc.has(Misc::SWITCH_OUT) {
        SchedWhat::Leave { tid, cpu, state }
    } else {
        SchedWhat::Enter { tid, cpu }
    })
}

fn is_switch(kind: RecordKind) -> bool {
    matches!(kind, RecordKind::SWITCH | RecordKind::SWITCH_CPU_WIDE)
}
