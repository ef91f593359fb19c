//! What records say of threads, as small steps in order of time.

use super::finder::{Finder, Found};
use super::followed::Followed;
#[cfg(test)]
use super::kernel_stacks::NO_STACK;
use super::kernel_stacks::{KernelStacks, StackFacts};
use super::locks::LockChange;
use super::sources::Sources;
use crate::Error;
use crate::pass::lost::lost_times;
use crate::recording::Recording;
use rprof_base::parallel;
use rprof_perfdata::Step as Walk;
use rprof_scheduling::{LostTimes, SwitchState, Waker};
use rprof_untrusted::Held;
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
    /// It is made (FORK).
    Birth { parent: i32 },
    /// It ends.
    Exit,
    /// It is sampled on its CPU. Nanoseconds that this stands for, if it is a clock's sample.
    OnCpu { ns: u64 },
    /// It waits for a lock, or no longer does.
    Lock { change: LockChange, lock: u64 },
    /// It has waited, as perf has written it.
    OffCpu { ns: u64 },
}

/// All steps of a recording.
pub(super) struct Steps {
    /// Each thread's, in order.
    threads: Vec<Vec<Step>>,
    /// Their memory.
    _held: Vec<Held>,
    facts: Vec<Vec<StackFacts>>,
    lost: LostTimes,
    followed: Followed,
    begin_ns: u64,
    end_ns: u64,
    n_bad: u64,
    pauses: Vec<RangeInclusive<u64>>,
}

impl Steps {
    /// Reads a recording; of locks only if that is asked for.
    pub(super) fn find(
        recording: &Recording<'_>,
        sources: Sources,
        has_locks: bool,
    ) -> Result<Self, Error> {
        let finder = Finder::new(recording, sources, has_locks);
        let visit = |found: &mut Found, chunk: usize| -> Result<(), Error> {
            if let Some(range) = recording.index.chunks.get(chunk) {
                recording.reader.walk_windows(range.clone(), |records| {
                    for (offset, raw) in records {
                        finder.take(found, offset, raw);
                    }
                    Walk::On
                })?;
            }
            found.hold()
        };
        let new_found = || Found::new(recording.reader.budget());
        let work = (recording.index.chunks.len(), parallel::n_cpus());
        let all = parallel::for_each(work, new_found, visit, &mut |_| {})?;
        let (mut threads, mut held, mut stacks) = (vec![], vec![], vec![]);
        let (mut begin_ns, mut end_ns, mut n_bad) = (u64::MAX, 0, 0);
        let mut followed = Followed::default();
        for mut found in all {
            found.steps.sort_unstable_by_key(Step::order);
            // What is known of locks says nothing of when threads ran.
            let is_of_time = |step: &&Step| !matches!(step.what, What::Lock { .. });
            let first = found.steps.iter().find(is_of_time);
            begin_ns = first.map_or(u64::MAX, |step| step.time_ns).min(begin_ns);
            followed.add(found.followed);
            threads.push(found.steps);
            held.push(found.held);
            stacks.push(found.stacks);
            end_ns = found.end_ns.max(end_ns);
            n_bad += found.n_bad;
        }
        Ok(Self {
            threads,
            _held: held,
            facts: KernelStacks::facts(recording, &stacks)?,
            lost: lost_times(recording)?,
            followed,
            begin_ns,
            end_ns,
            n_bad,
            pauses: finder.pauses(),
        })
    }

    /// Whose switches are recorded.
    pub(super) fn take_followed(&mut self) -> Followed {
        std::mem::take(&mut self.followed)
    }

    /// The first moment of which anything is known, nanoseconds.
    pub(super) fn begin_ns(&self) -> u64 {
        self.begin_ns
    }

    /// The last moment of the recording, nanoseconds.
    pub(super) fn end_ns(&self) -> u64 {
        self.end_ns
    }

    /// Records that could not be decoded.
    pub(super) fn n_bad(&self) -> u64 {
        self.n_bad
    }

    /// When the recording was paused: in order, apart from each other.
    pub(super) fn pauses(&self) -> Vec<RangeInclusive<u64>> {
        self.pauses.clone()
    }

    /// When records were lost.
    pub(super) fn lost(&self) -> LostTimes {
        self.lost.clone()
    }

    /// Calls `visit` for all of them, in order of time.
    pub(super) fn for_each(&self, mut visit: impl FnMut(&Step, StackFacts)) {
        let mut threads: Vec<_> = self.threads.iter().map(|steps| steps.iter()).collect();
        let mut heads = BinaryHeap::new();
        let order = |steps: &std::slice::Iter<'_, Step>| steps.as_slice().first().map(Step::order);
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
