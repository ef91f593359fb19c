//! Steps in order become stretches of time, each of one thread.

use super::kernel_stacks::StackFacts;
use super::sources::Sources;
use super::steps::{Step, What};
use super::told::Told;
use crate::Error;
use crate::samples::{AccountedSample, AccountedSamples, Stretch};
use foldhash::{HashMap, HashSet};
use rprof_profile::Account;
use rprof_scheduling::{
    Cause, ContextSwitch, Open, Scheduler, SwitchState, ThreadRun, ThreadState, WakeUp, Waker,
    wait_parts,
};
use std::ops::RangeInclusive;

/// The accounts of all threads. They are as large as there are threads, but for the stretches.
pub(super) struct Ledger {
    sources: Sources,
    scheduler: Scheduler,
    threads: HashMap<i32, Thread>,
    /// Times in which records were lost, in order, apart from each other.
    gaps: Vec<RangeInclusive<u64>>,
    samples: Vec<AccountedSample>,
    /// Threads that have samples of records that are not theirs.
    foreign: HashSet<i32>,
    pids: HashMap<i32, i32>,
    told: Told,
}

/// What is known of a thread beside what the scheduler knows.
#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    /// The record at which it left its CPU, or was first woken.
    left: Option<Left>,
    /// The sample that was taken as it left its CPU, where another record says that it did.
    leaving: Option<Left>,
    has_exited: bool,
    /// Whether a sample says that it ran before anything else was known of it.
    was_running: bool,
    /// Up to which moment its time on CPUs is in samples.
    charged_ns: u64,
    /// Time on CPUs since its last sample.
    pending_ns: u64,
    /// Its last sample on a CPU.
    sample: Option<u32>,
    /// The record of its last switch.
    switched: Option<(u64, bool)>,
}

/// A record with which a wait began.
#[derive(Clone, Copy, Debug)]
struct Left {
    offset: u64,
    has_stack: bool,
    cause: Cause,
    /// Whether it is another thread's.
    is_foreign: bool,
}

impl Ledger {
    pub(super) fn new(sources: Sources) -> Self {
        Self {
            sources,
            scheduler: Scheduler::default(),
            threads: HashMap::default(),
            gaps: Vec::new(),
            samples: Vec::new(),
            foreign: HashSet::default(),
            pids: HashMap::default(),
            told: Told::default(),
        }
    }

    /// Says when records were lost.
    pub(super) fn set_gaps(&mut self, mut gaps: Vec<RangeInclusive<u64>>) {
        gaps.sort_unstable_by_key(|gap| *gap.start());
        for gap in gaps {
            match self.gaps.last_mut() {
                Some(last) if gap.start() <= last.end() => {
                    *last = *last.start()..=*gap.end().max(last.end());
                }
                _ => self.gaps.push(gap),
            }
        }
    }

    /// Takes the next step.
    pub(super) fn take(&mut self, step: &Step, facts: StackFacts) {
        let Step { time_ns, tid, .. } = *step;
        if step.pid > 0 && tid > 0 {
            self.pids.insert(tid, step.pid);
        }
        let cpu = self.cpu(step, tid);
        match step.what {
            What::Switch { prev, state, next } => self.switch(step, (prev, state, next), facts),
            What::WakeUp { tid, waker } => {
                let waker = match waker {
                    Waker::Interrupt | Waker::SoftInterrupt if facts.is_timer => Waker::Timer,
                    waker => waker,
                };
                self.begin(tid);
                self.scheduler.wake(tid, WakeUp { time_ns, waker });
                let first = Left {
                    has_stack: false,
                    is_foreign: true,
                    ..Left::of(step, facts)
                };
                self.threads
                    .entry(tid)
                    .or_default()
                    .left
                    .get_or_insert(first);
            }
            What::Leaving => self.note_leaving(tid, Left::of(step, facts)),
            What::Leave(state) => {
                let thread = self.threads.entry(tid).or_default();
                let left = thread.leaving.take().unwrap_or(Left::of(step, facts));
                if !thread.has_exited
                    && let Some(run) = self.scheduler.leave(time_ns, cpu, tid, state)
                {
                    self.end_run(&run, left);
                }
            }
            What::Enter => {
                self.begin(tid);
                self.scheduler.enter(time_ns, cpu, tid);
                let thread = self.threads.entry(tid).or_default();
                thread.leaving = None;
                thread.switched = Some((step.offset, false));
            }
            What::Exit => {
                if self.scheduler.running_since(tid).is_some()
                    && let Some(run) = (self.scheduler).leave(time_ns, cpu, tid, SwitchState::Dead)
                {
                    self.end_run(&run, Left::of(step, facts));
                }
                self.threads.entry(tid).or_default().has_exited = true;
            }
            What::OnCpu { ns } => self.sample(step, ns),
            What::OffCpu { ns } => {
                let state = ThreadState::Blocked(SwitchState::Unknown);
                self.push((tid, &Left::of(step, facts)), ns, state, None);
            }
        }
    }

    /// The CPU that a thread is on. Where not all records have one, each thread has its own.
    fn cpu(&self, step: &Step, tid: i32) -> u32 {
        let cpu = step.cpu.filter(|_| self.sources.have_cpus);
        cpu.unwrap_or(tid.cast_unsigned())
    }

    fn switch(
        &mut self,
        step: &Step,
        (prev, state, next): (i32, SwitchState, i32),
        facts: StackFacts,
    ) {
        let time_ns = step.time_ns;
        self.begin(next);
        let run = if self.sources.have_cpus {
            Some(self.scheduler.switch(ContextSwitch {
                time_ns,
                cpu: self.cpu(step, prev),
                prev,
                prev_state: state,
                next,
            }))
        } else {
            let own = |tid: i32| tid.cast_unsigned();
            let run = self.scheduler.leave(time_ns, own(prev), prev, state);
            self.scheduler.enter(time_ns, own(next), next);
            run
        };
        if next > 0 {
            let thread = self.threads.entry(next).or_default();
            thread.switched = Some((step.offset, true));
        }
        if let Some(run) = run.filter(|run| run.tid > 0) {
            // The kernel has taken the id from one that ends: its last switches are nobody's.
            let left = Left {
                is_foreign: step.tid != prev,
                ..Left::of(step, facts)
            };
            self.end_run(&run, left);
        }
    }

    /// A thread may be another one than the last of its id.
    fn begin(&mut self, tid: i32) {
        if self
            .threads
            .get(&tid)
            .is_some_and(|thread| thread.has_exited)
        {
            self.charge_rest(tid);
            self.threads.remove(&tid);
            self.scheduler.forget(tid);
        }
    }

    fn note_leaving(&mut self, tid: i32, left: Left) {
        let is_off = self.scheduler.knows(tid) && self.scheduler.running_since(tid).is_none();
        let thread = self.threads.entry(tid).or_default();
        match &mut thread.left {
            // The switch was recorded before the sample.
            Some(known) if is_off && !known.has_stack && !known.is_foreign => *known = left,
            _ => thread.leaving = Some(left),
        }
    }

    /// A run ends, and with it all is known of the wait before it.
    fn end_run(&mut self, run: &ThreadRun, left: Left) {
        self.told.n_runs += 1;
        self.told.n_whole_runs += u64::from(run.start_ns.is_some());
        if let Some(start_ns) = run.start_ns {
            self.add_wait(run.tid, (run.wait, run.woken), start_ns);
            let thread = self.threads.entry(run.tid).or_default();
            thread.charge(start_ns, run.end_ns);
        }
        let thread = self.threads.entry(run.tid).or_default();
        thread.left = Some(left);
        thread.switched = Some((left.offset, left.is_foreign));
        if run.state == SwitchState::Dead {
            self.charge_rest(run.tid);
            self.threads.remove(&run.tid);
        }
    }

    /// Adds a wait up to `end_ns`.
    fn add_wait(
        &mut self,
        tid: i32,
        (wait, woken): (Option<rprof_scheduling::Wait>, Option<WakeUp>),
        end_ns: u64,
    ) {
        let thread = self.threads.entry(tid).or_default();
        let was_running = std::mem::take(&mut thread.was_running);
        let is_known = wait.is_some() || woken.is_some();
        let Some(left) = thread.left.filter(|_| is_known) else {
            self.told.n_begun += u64::from(!was_running);
            return;
        };
        let start_ns = wait.map_or(end_ns, |wait| wait.start_ns);
        if self.has_gap(start_ns, end_ns) {
            self.told.n_unknown += 1;
            self.told.unknown_ns += end_ns.saturating_sub(start_ns);
            return;
        }
        for part in wait_parts(wait, woken, end_ns).filter(|part| part.ns() > 0) {
            let waker = part.woken.map(|woken| woken.waker);
            self.push((tid, &left), part.ns(), part.state, waker);
        }
    }

    /// Whether records were lost in a span of time.
    fn has_gap(&self, start_ns: u64, end_ns: u64) -> bool {
        let at = self.gaps.partition_point(|gap| *gap.end() <= start_ns);
        self.gaps.get(at).is_some_and(|gap| *gap.start() < end_ns)
    }

    /// A sample on a CPU stands for all of the thread's time on CPUs since the one before.
    fn sample(&mut self, step: &Step, ns: u64) {
        let Step { time_ns, tid, .. } = *step;
        if tid <= 0 {
            return;
        }
        let mut weight = 0;
        if self.sources.off_cpu_event.is_some() {
            weight = ns;
        } else if !self.scheduler.knows(tid) {
            // It has been there for as long as the sample stands for, at least.
            let cpu = self.cpu(step, tid);
            self.scheduler.enter(time_ns, cpu, tid);
            self.threads.entry(tid).or_default().was_running = true;
            weight = ns;
        }
        let since = self.scheduler.running_since(tid);
        let has_gap = since.is_some_and(|since| self.has_gap(since, time_ns));
        let thread = self.threads.entry(tid).or_default();
        match since {
            Some(since) if !has_gap => thread.charge(since, time_ns),
            _ => thread.charged_ns = time_ns,
        }
        weight += std::mem::take(&mut thread.pending_ns);
        let number = u32::try_from(self.samples.len()).unwrap_or(u32::MAX);
        thread.sample = Some(number);
        self.samples.push(AccountedSample {
            offset: step.offset,
            ns: weight,
            stretch: Stretch {
                state: ThreadState::Running,
                cause: Cause::Running,
                waker: None,
                has_stack: true,
                other_tid: 0,
            },
        });
    }

    fn push(
        &mut self,
        (tid, left): (i32, &Left),
        ns: u64,
        state: ThreadState,
        waker: Option<Waker>,
    ) {
        if left.is_foreign {
            self.foreign.insert(tid);
        }
        self.samples.push(AccountedSample {
            offset: left.offset,
            ns,
            stretch: Stretch {
                state,
                cause: left.cause.in_state(state),
                waker,
                has_stack: left.has_stack,
                other_tid: if left.is_foreign { tid } else { 0 },
            },
        });
    }

    /// What a thread has run since its last sample is that one's; without any, it is a sample without a stack.
    fn charge_rest(&mut self, tid: i32) {
        let Some(thread) = self.threads.get_mut(&tid) else {
            return;
        };
        let ns = std::mem::take(&mut thread.pending_ns);
        let thread = *thread;
        if ns == 0 || self.sources.account != Account::Wall {
            return;
        }
        let sample = thread
            .sample
            .and_then(|at| self.samples.get_mut(at as usize));
        if let Some(sample) = sample {
            sample.ns += ns;
            return;
        }
        self.told.unsampled_ns += ns;
        self.told.n_unsampled += 1;
        let Some((offset, is_foreign)) = thread.switched else {
            return;
        };
        let unknown = Left {
            offset,
            has_stack: false,
            cause: Cause::Running,
            is_foreign,
        };
        self.push((tid, &unknown), ns, ThreadState::Running, None);
    }

    /// Ends all that is still going on.
    pub(super) fn finish(mut self, end_ns: u64, n_bad: u64) -> Result<AccountedSamples, Error> {
        for (tid, open) in self.scheduler.open() {
            self.end(tid, &open, end_ns);
        }
        let mut all: Vec<i32> = self.threads.keys().copied().collect();
        all.sort_unstable();
        all.into_iter().for_each(|tid| self.charge_rest(tid));
        // Threads that follow each other are seen to come even then.
        if 2 * self.told.n_whole_runs < self.told.n_runs {
            return Err(Error::NoSwitchesIn);
        }
        let pid = |tid| self.pids.get(&tid).copied().unwrap_or(tid);
        let tasks = self.foreign.iter().map(|&tid| (tid, pid(tid)));
        let warnings = self.told.warnings(self.scheduler.n_contradictions(), n_bad);
        Ok(AccountedSamples::new(
            self.sources.account,
            self.samples,
            tasks.collect(),
            warnings,
        ))
    }

    fn end(&mut self, tid: i32, open: &Open, end_ns: u64) {
        let thread = self.threads.entry(tid).or_default();
        // What comes after its end is no wait.
        if thread.has_exited {
            return;
        }
        let waits_until = open.start_ns.unwrap_or(end_ns);
        if let Some(start_ns) = open.start_ns {
            thread.charge(start_ns, end_ns);
        } else {
            self.told.n_open += 1;
        }
        self.add_wait(tid, (open.wait, open.woken), waits_until);
    }
}

impl Left {
    fn of(step: &Step, facts: StackFacts) -> Self {
        Self {
            offset: step.offset,
            has_stack: step.has_stack,
            cause: facts.cause,
            is_foreign: false,
        }
    }
}

impl Thread {
    /// Adds time on a CPU, as far as samples do not have it.
    fn charge(&mut self, start_ns: u64, end_ns: u64) {
        let from = start_ns.max(self.charged_ns);
        self.pending_ns += end_ns.saturating_sub(from);
        self.charged_ns = self.charged_ns.max(end_ns);
    }
}

#[cfg(test)]
mod tests;
