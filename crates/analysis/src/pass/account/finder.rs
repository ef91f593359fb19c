//! Which records say something of a thread's time, and what.

use super::followed::Followed;
use super::kernel_stacks::{KernelStacks, NO_STACK};
use super::locks::LockDecoder;
use super::sources::{Sources, is_context_switches};
use super::steps::{Step, What};
use crate::Error;
use crate::pass::sched_decoder::{KnownStates, SchedDecoder, SchedEvent};
use crate::pass::waited_files::FileCauses;
use crate::pauses::pauses_of;
use crate::recording::Recording;
use crate::samples::DecodedSample;
use rprof_abi::record::Record;
use rprof_abi::{Misc, RawRecord, RecordKind};
use rprof_scheduling::{SwitchState, Waker};
use rprof_untrusted::{Budget, Held, OverBudget};
use std::ops::RangeInclusive;

/// What a thread has found.
pub(super) struct Found {
    pub(super) steps: Vec<Step>,
    /// The memory of these.
    pub(super) held: Held,
    pub(super) stacks: KernelStacks,
    states: KnownStates,
    pub(super) followed: Followed,
    /// The last moment, nanoseconds.
    pub(super) end_ns: u64,
    /// Records that could not be decoded.
    pub(super) n_bad: u64,
}

/// Finds the steps of records; threads share it.
pub(super) struct Finder<'a> {
    recording: &'a Recording<'a>,
    sources: Sources,
    decoder: SchedDecoder<'a>,
    /// Whether samples of `context-switches` are of interest.
    has_leaving: Vec<bool>,
    /// Whether the making of a thread is its first wake-up: `sched_wakeup_new` says more.
    wants_births: bool,
    /// Events of locks, if these are asked for.
    locks: Option<LockDecoder<'a>>,
    files: FileCauses,
}

impl Found {
    pub(super) fn new(budget: &Budget) -> Self {
        Self {
            steps: Vec::new(),
            held: budget.hold_nothing(),
            stacks: KernelStacks::new(),
            states: KnownStates::default(),
            followed: Followed::default(),
            end_ns: 0,
            n_bad: 0,
        }
    }

    /// Accounts for the memory of all steps and threads so far.
    pub(super) fn hold(&mut self) -> Result<(), Error> {
        let bytes = (self.steps.len() * size_of::<Step>()) as u64 + self.followed.bytes();
        let more = bytes.saturating_sub(self.held.bytes());
        let grown = self.held.grow(more);
        grown.map_err(|OverBudget| Error::AccountOverBudget)
    }
}

impl<'a> Finder<'a> {
    pub(super) fn new(recording: &'a Recording<'a>, sources: Sources, has_locks: bool) -> Self {
        let events = recording.reader.events().iter();
        let decoder = SchedDecoder::new(recording.reader);
        Self {
            recording,
            sources,
            wants_births: sources.is_inherited && !decoder.has_births(),
            has_leaving: events.map(is_context_switches).collect(),
            decoder,
            locks: has_locks.then(|| LockDecoder::new(recording.reader)),
            files: FileCauses::of(recording.reader),
        }
    }

    /// When events were paused that say when threads ran; if none does, those that say where.
    pub(super) fn pauses(&self) -> Vec<RangeInclusive<u64>> {
        let reader = self.recording.reader;
        let is_leaving = |event| self.has_leaving.get(event) == Some(&true);
        let is_of_switches = |event| self.decoder.is_of_scheduler(event) || is_leaving(event);
        if (0..reader.events().len()).any(is_of_switches) {
            pauses_of(reader, is_of_switches)
        } else {
            pauses_of(reader, |event| Some(event) == self.sources.cpu_event)
        }
    }

    /// Takes a record.
    pub(super) fn take(&self, found: &mut Found, offset: u64, raw: RawRecord<'_>) {
        let is_asked = match raw.kind {
            RecordKind::SAMPLE => return self.take_sample(found, offset, raw),
            // Waits that perf has written do not count twice.
            _ if self.sources.off_cpu_event.is_some() => false,
            RecordKind::SWITCH | RecordKind::SWITCH_CPU_WIDE => true,
            RecordKind::EXIT | RecordKind::FORK | RecordKind::COMM => true,
            _ => false,
        };
        if is_asked && self.take_record(found, offset, raw).is_none() {
            found.n_bad += 1;
        }
    }

    /// Returns `None` if it is damaged, or has no time.
    fn take_record(&self, found: &mut Found, offset: u64, raw: RawRecord<'_>) -> Option<()> {
        let reader = self.recording.reader;
        let event = reader.event_of(raw)?;
        let recorded = reader.events().get(event)?;
        let (record, id) = Record::parse(raw, &recorded.layout).ok()?;
        let (mut pid, mut tid) = (id.pid.unwrap_or(-1), id.tid.unwrap_or(-1));
        // As the recording begins, of what was there before.
        let is_made_up = id.time_ns.is_none_or(|time_ns| time_ns == 0);
        let followed = &mut found.followed;
        let what = match record {
            // Those that are made while others are recorded may not be.
            Record::Comm(comm) => {
                if is_made_up || self.sources.is_inherited {
                    followed.note_named(comm.pid, comm.tid);
                }
                return Some(());
            }
            Record::Fork(task) if is_made_up => {
                followed.note_named(task.pid, task.tid);
                return Some(());
            }
            Record::Fork(task) => {
                if !self.sources.is_inherited {
                    followed.note_left_out(task.tid);
                }
                if !self.wants_births {
                    return Some(());
                }
                (pid, tid) = (task.pid, task.tid);
                followed.note_named(pid, tid);
                What::Birth { parent: task.ptid }
            }
            Record::Exit(task) => {
                (pid, tid) = (task.pid, task.tid);
                What::Exit
            }
            _ if !raw.misc.has(Misc::SWITCH_OUT) => What::Enter,
            _ if raw.misc.has(Misc::SWITCH_OUT_PREEMPT) => What::Leave(SwitchState::Runnable),
            _ => What::Leave(SwitchState::Unknown),
        };
        let Some(time_ns) = id.time_ns else {
            return Some(());
        };
        found.end_ns = found.end_ns.max(time_ns);
        let is_switch = matches!(what, What::Enter | What::Leave(_));
        followed.has_records |= is_switch;
        followed.is_of_cpus |= raw.kind == RecordKind::SWITCH_CPU_WIDE;
        if is_switch || what == What::Exit {
            followed.note_seen(tid);
        }
        if tid > 0 {
            found.steps.push(Step {
                time_ns,
                offset,
                pid,
                tid,
                cpu: id.cpu,
                stack: NO_STACK,
                has_stack: false,
                what,
            });
        }
        Some(())
    }

    fn take_sample(&self, found: &mut Found, offset: u64, raw: RawRecord<'_>) {
        let Some(sample) = DecodedSample::of(self.recording, offset, raw) else {
            found.n_bad += 1;
            return;
        };
        let Some(time_ns) = sample.head.time_ns else {
            return;
        };
        // perf writes the waits that it has added up with times that are none.
        if Some(sample.event) != self.sources.off_cpu_event {
            found.end_ns = found.end_ns.max(time_ns);
        }
        let Some(what) = self.what(found, &sample) else {
            return;
        };
        match what {
            What::Switch { prev, .. } => found.followed.note_switch(sample.tid, prev),
            What::Leaving | What::OnCpu { .. } => found.followed.note_seen(sample.tid),
            _ => {}
        }
        // Who wakes as a thread is known; of interrupts, the stack says more.
        let is_told = match what {
            What::WakeUp { waker, .. } => !matches!(waker, Waker::Thread(_)),
            What::OnCpu { .. } | What::Lock { .. } => false,
            _ => true,
        };
        found.steps.push(Step {
            time_ns,
            offset,
            pid: sample.pid,
            tid: sample.tid,
            cpu: sample.head.cpu,
            stack: if is_told {
                let of_file = self.files.cause(self.recording, &sample);
                found.stacks.number(self.recording, &sample, of_file)
            } else {
                NO_STACK
            },
            has_stack: sample.head.callchain.is_some() || sample.head.ip.is_some(),
            what,
        });
    }

    fn what(&self, found: &mut Found, sample: &DecodedSample<'_>) -> Option<What> {
        let ns = || sample.weight(self.recording.reader);
        if self.sources.off_cpu_event.is_some() {
            return match Some(sample.event) {
                event if event == self.sources.off_cpu_event => Some(What::OffCpu { ns: ns() }),
                event if event == self.sources.cpu_event => Some(What::OnCpu { ns: ns() }),
                _ => None,
            };
        }
        if self.decoder.is_of_scheduler(sample.event) {
            return match self.decoder.decode(sample, &mut found.states) {
                Some(SchedEvent::Switch(switch)) => Some(What::Switch {
                    prev: switch.prev,
                    state: switch.prev_state,
                    next: switch.next,
                }),
                Some(SchedEvent::WakeUp { tid, woken }) => Some(What::WakeUp {
                    tid,
                    waker: woken.waker,
                }),
                Some(SchedEvent::RunTime { .. }) => None,
                None => {
                    found.n_bad += 1;
                    None
                }
            };
        }
        if self.has_leaving.get(sample.event) == Some(&true) {
            return Some(What::Leaving);
        }
        let change = self.locks.as_ref().and_then(|locks| locks.change(sample));
        if let Some((change, lock)) = change {
            return Some(What::Lock { change, lock });
        }
        let is_clock = self.sources.is_clock;
        let ns = if is_clock { ns() } else { 0 };
        (Some(sample.event) == self.sources.cpu_event).then_some(What::OnCpu { ns })
    }
}
