//! What records say of threads, as small steps in order of time.

use super::kernel_stacks::{KernelStacks, NO_STACK, StackFacts};
use super::{Sources, is_context_switches};
use crate::Error;
use crate::pass::sched_events::{KnownStates, SchedDecoder, SchedEvent};
use crate::recording::Recording;
use crate::samples::DecodedSample;
use foldhash::HashMap;
use rprof_abi::record::Record;
use rprof_abi::{Misc, RawRecord, RecordKind};
use rprof_base::parallel;
use rprof_perfdata::Step as Walk;
use rprof_scheduling::{SwitchState, Waker};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) time_ns: u64,
    /// Where the record is.
    pub(super) offset: u64,
    /// Whose it is.
    pub(super) pid: i32,
    pub(super) tid: i32,
    pub(super) cpu: Option<u32>,
    /// The number of the kernel's part of its stack.
    pub(super) stack: u32,
    pub(super) has_stack: bool,
    pub(super) what: What,
}

/// What happens to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// It leaves its CPU for another one (`sched_switch`).
    Switch {
        prev: i32,
        state: SwitchState,
        next: i32,
    },
    /// It wakes another one.
    WakeUp { tid: i32, waker: Waker },
    /// It is sampled as it leaves its CPU (`context-switches`).
    Leaving,
    /// It leaves its CPU (SWITCH).
    Leave(SwitchState),
    /// It comes to a CPU (SWITCH).
    Enter,
    /// It ends.
    Exit,
    /// It is sampled on its CPU. Nanoseconds that this stands for, if it is a clock's sample.
    OnCpu { ns: u64 },
    /// It has waited, as perf has written it.
    OffCpu { ns: u64 },
}

/// All steps of a recording.
pub(super) struct Steps {
    /// Each thread's, in order.
    threads: Vec<Vec<Step>>,
    facts: Vec<Vec<StackFacts>>,
    losses: Vec<(u64, Option<u32>)>,
    end_ns: u64,
    n_bad: u64,
}

/// What a thread reads.
struct Local {
    steps: Vec<Step>,
    stacks: KernelStacks,
    states: KnownStates,
    /// Moments of losses, and the CPU.
    losses: Vec<(u64, Option<u32>)>,
    end_ns: u64,
    n_bad: u64,
}

/// What all threads share.
struct Finder<'a> {
    recording: &'a Recording<'a>,
    sources: Sources,
    decoder: SchedDecoder<'a>,
    /// Whether samples of `context-switches` are of interest.
    has_leaving: Vec<bool>,
    /// Whether ends of threads are: `sched_switch` has them, too.
    wants_exits: bool,
}

impl Steps {
    /// Reads a recording.
    pub(super) fn find(recording: &Recording<'_>, sources: Sources) -> Result<Self, Error> {
        let reader = recording.reader;
        let decoder = SchedDecoder::new(reader);
        let finder = Finder {
            recording,
            sources,
            wants_exits: !decoder.has_switches(),
            has_leaving: reader.events().iter().map(is_context_switches).collect(),
            decoder,
        };
        let new_local = || Local {
            steps: Vec::new(),
            stacks: KernelStacks::new(),
            states: KnownStates::default(),
            losses: Vec::new(),
            end_ns: 0,
            n_bad: 0,
        };
        let visit = |local: &mut Local, chunk: usize| -> Result<(), Error> {
            if let Some(range) = recording.index.chunks.get(chunk) {
                reader.walk_windows(range.clone(), |records| {
                    for (offset, raw) in records {
                        finder.take(local, offset, raw);
                    }
                    Walk::On
                })?;
            }
            Ok(())
        };
        let work = (recording.index.chunks.len(), parallel::n_cpus());
        let locals = parallel::for_each(work, new_local, visit, &mut |_| {})?;
        let mut steps = Self {
            threads: Vec::new(),
            facts: Vec::new(),
            losses: Vec::new(),
            end_ns: 0,
            n_bad: 0,
        };
        let mut stacks = Vec::new();
        for mut local in locals {
            local.steps.sort_unstable_by_key(Step::order);
            steps.threads.push(local.steps);
            steps.losses.append(&mut local.losses);
            steps.end_ns = steps.end_ns.max(local.end_ns);
            steps.n_bad += local.n_bad;
            stacks.push(local.stacks);
        }
        steps.facts = KernelStacks::facts(recording, &stacks)?;
        Ok(steps)
    }

    /// The last moment of the recording, nanoseconds.
    pub(super) fn end_ns(&self) -> u64 {
        self.end_ns
    }

    /// Records that could not be decoded.
    pub(super) fn n_bad(&self) -> u64 {
        self.n_bad
    }

    /// Spans of time in which records were lost: from the last one of the CPU to where the kernel said so.
    pub(super) fn gaps(&self) -> Vec<RangeInclusive<u64>> {
        let mut by_cpu: HashMap<Option<u32>, Vec<RangeInclusive<u64>>> = HashMap::default();
        let mut losses = self.losses.clone();
        losses.sort_unstable();
        for (time_ns, cpu) in losses {
            by_cpu.entry(cpu).or_default().push(0..=time_ns);
        }
        if by_cpu.is_empty() {
            return Vec::new();
        }
        for step in self.threads.iter().flatten() {
            // A loss of no known CPU may be of any.
            for cpu in [step.cpu, None] {
                let gaps = by_cpu.get_mut(&cpu).map(Vec::as_mut_slice);
                let gaps = gaps.unwrap_or_default();
                let at = gaps.partition_point(|gap| *gap.end() < step.time_ns);
                if let Some(gap) = gaps.get_mut(at) {
                    *gap = step.time_ns.max(*gap.start())..=*gap.end();
                }
            }
        }
        by_cpu.into_values().flatten().collect()
    }

    /// Calls `visit` for all of them, in order of time.
    pub(super) fn for_each(self, mut visit: impl FnMut(Step, StackFacts)) {
        let mut threads: Vec<_> = self.threads.into_iter().map(Vec::into_iter).collect();
        let mut heads = BinaryHeap::new();
        let order = |steps: &std::vec::IntoIter<Step>| steps.as_slice().first().map(Step::order);
        for (thread, steps) in threads.iter().enumerate() {
            heads.extend(order(steps).map(|order| Reverse((order, thread))));
        }
        while let Some(Reverse((_, thread))) = heads.pop() {
            let (Some(steps), Some(facts)) = (threads.get_mut(thread), self.facts.get(thread))
            else {
                continue;
            };
            // As long as no other thread's next one is before its.
            let limit = heads.peek().map(|Reverse((order, _))| *order);
            while let Some(next) = order(steps)
                && limit.is_none_or(|limit| next <= limit)
                && let Some(step) = steps.next()
            {
                let facts = facts.get(step.stack as usize).copied();
                visit(step, facts.unwrap_or_default());
            }
            heads.extend(order(steps).map(|order| Reverse((order, thread))));
        }
    }
}

impl Step {
    fn order(&self) -> (u64, u64) {
        (self.time_ns, self.offset)
    }

    /// One at the offset that is its time, without a stack.
    #[cfg(test)]
    pub(super) fn of(time_ns: u64, (tid, cpu): (i32, u32), what: What) -> Self {
        Self {
            time_ns,
            offset: time_ns,
            pid: tid,
            tid,
            cpu: Some(cpu),
            stack: NO_STACK,
            has_stack: false,
            what,
        }
    }
}

impl Finder<'_> {
    fn take(&self, local: &mut Local, offset: u64, raw: RawRecord<'_>) {
        let is_asked = match raw.kind {
            RecordKind::SAMPLE => return self.take_sample(local, offset, raw),
            RecordKind::SWITCH | RecordKind::SWITCH_CPU_WIDE | RecordKind::LOST => true,
            RecordKind::EXIT => self.wants_exits,
            _ => false,
        };
        if is_asked && self.take_record(local, offset, raw).is_none() {
            local.n_bad += 1;
        }
    }

    /// Returns `None` if it is damaged, or has no time.
    fn take_record(&self, local: &mut Local, offset: u64, raw: RawRecord<'_>) -> Option<()> {
        let reader = self.recording.reader;
        let event = reader.event_of(raw)?;
        let (record, id) = Record::parse(raw, &reader.events().get(event)?.layout).ok()?;
        let time_ns = id.time_ns?;
        local.end_ns = local.end_ns.max(time_ns);
        let (mut pid, mut tid) = (id.pid.unwrap_or(-1), id.tid.unwrap_or(-1));
        let what = match record {
            Record::Lost(_) => {
                local.losses.push((time_ns, id.cpu));
                return Some(());
            }
            Record::Exit(task) => {
                (pid, tid) = (task.pid, task.tid);
                What::Exit
            }
            _ if !raw.misc.has(Misc::SWITCH_OUT) => What::Enter,
            _ if raw.misc.has(Misc::SWITCH_OUT_PREEMPT) => What::Leave(SwitchState::Runnable),
            _ => What::Leave(SwitchState::Unknown),
        };
        if tid > 0 {
            local.steps.push(Step {
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

    fn take_sample(&self, local: &mut Local, offset: u64, raw: RawRecord<'_>) {
        let Some(sample) = DecodedSample::of(self.recording, offset, raw) else {
            // The pass over samples counts it.
            return;
        };
        let Some(time_ns) = sample.head.time_ns else {
            return;
        };
        // perf writes the waits that it has added up with times that are none.
        if Some(sample.event) != self.sources.off_cpu_event {
            local.end_ns = local.end_ns.max(time_ns);
        }
        let Some(what) = self.what(local, &sample) else {
            return;
        };
        // Who wakes as a thread is known; of interrupts, the stack says more.
        let is_told = match what {
            What::WakeUp { waker, .. } => !matches!(waker, Waker::Thread(_)),
            What::OnCpu { .. } => false,
            _ => true,
        };
        local.steps.push(Step {
            time_ns,
            offset,
            pid: sample.pid,
            tid: sample.tid,
            cpu: sample.head.cpu,
            stack: if is_told {
                local.stacks.number(self.recording, &sample)
            } else {
                NO_STACK
            },
            has_stack: sample.head.callchain.is_some() || sample.head.ip.is_some(),
            what,
        });
    }

    fn what(&self, local: &mut Local, sample: &DecodedSample<'_>) -> Option<What> {
        let ns = || sample.weight(self.recording.reader);
        if self.sources.off_cpu_event.is_some() {
            return match Some(sample.event) {
                event if event == self.sources.off_cpu_event => Some(What::OffCpu { ns: ns() }),
                event if event == self.sources.cpu_event => Some(What::OnCpu { ns: ns() }),
                _ => None,
            };
        }
        if self.decoder.is_of_scheduler(sample.event) {
            return match self.decoder.decode(sample, &mut local.states) {
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
                    local.n_bad += 1;
                    None
                }
            };
        }
        if self.has_leaving.get(sample.event) == Some(&true) {
            return Some(What::Leaving);
        }
        let is_clock = self.sources.is_clock;
        let ns = if is_clock { ns() } else { 0 };
        (Some(sample.event) == self.sources.cpu_event).then_some(What::OnCpu { ns })
    }
}
