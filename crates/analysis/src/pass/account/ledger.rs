//! Steps in order become stretches of time, each of one thread.

mod cut;
mod ending;
mod on_cpu;
mod on_path;
mod pausing;
mod telling;
mod thread;
mod waits;

use super::activity::ThreadActivity;
use super::followed::Followed;
use super::kernel_stacks::StackFacts;
use super::locks::{AwaitedLocks, NO_LOCK};
use super::sources::Sources;
use super::steps::{Step, What};
use super::told::Told;
use crate::locations::TaskName;
use crate::samples::{AccountedSample, SampleSpan};
use crate::spans::Spans;
use foldhash::{HashMap, HashSet};
use rprof_scheduling::{
    ContextSwitch, LostTimes, Open, Scheduler, SwitchState, ThreadRun, ThreadState, WakeUp, Waker,
};
use std::ops::{Range, RangeInclusive};
use telling::Listener;
use thread::{SwitchOut, Thread};

pub(super) use on_path::{GatheredRuns, OnPath};

/// What a thread was called at a moment.
pub(super) type NameAt<'a> = &'a dyn Fn(i32, u64) -> TaskName;

/// The accounts of all threads. They are as large as there are threads, but for the stretches.
pub(super) struct Ledger<'a> {
    sources: Sources,
    followed: Followed,
    name_at: NameAt<'a>,
    scheduler: Scheduler,
    threads: HashMap<i32, Thread>,
    /// The first moment of which anything is known.
    begin_ns: u64,
    /// Time before this does not count.
    since_ns: u64,
    /// Where the records end that only say which waits went on then.
    waits_end: u64,
    /// Whether the recording is one of several that follow each other.
    is_part: bool,
    /// When records were lost.
    lost: LostTimes,
    /// Times in which the recording was paused that have not come yet: the next one is the last.
    pauses: Vec<RangeInclusive<u64>>,
    /// Whether the last step was from a pause.
    is_in_pause: bool,
    samples: Vec<AccountedSample>,
    /// The times that count, if not all do: in order, apart from each other.
    cut: Option<Vec<Range<u64>>>,
    /// The critical path whose time is told apart.
    path: Option<OnPath>,
    /// Runs that are gathered instead of samples: a path is found in them.
    runs: Option<GatheredRuns>,
    /// The spans of threads, if they were asked for; that of each sample, and of the samples that are made next.
    spans: Option<&'a Spans>,
    sample_spans: Vec<SampleSpan>,
    next_span: SampleSpan,
    /// The locks that threads wait for, if they were asked for; that of each sample.
    locks: Option<AwaitedLocks>,
    sample_locks: Vec<u64>,
    /// Threads that have samples of records that are not theirs.
    foreign: HashSet<i32>,
    /// The process of each thread; -1 if its id was that of threads of several.
    pids: HashMap<i32, i32>,
    /// CPUs that went to a thread whose own switches are not recorded.
    gone: HashSet<u32>,
    /// Whether threads came back, and nothing says when.
    lacks_enters: bool,
    told: Told,
    listener: Option<Listener<'a>>,
    /// Whether the recording is over: what a thread does goes on.
    is_over: bool,
}

impl<'a> Ledger<'a> {
    pub(super) fn new(sources: Sources, followed: Followed, name_at: NameAt<'a>) -> Self {
        let mut ledger = Self {
            sources,
            followed: Followed::default(),
            name_at,
            scheduler: Scheduler::default(),
            threads: HashMap::default(),
            begin_ns: 0,
            since_ns: 0,
            waits_end: 0,
            is_part: false,
            lost: LostTimes::default(),
            pauses: Vec::new(),
            is_in_pause: false,
            samples: Vec::new(),
            cut: None,
            path: None,
            runs: None,
            spans: None,
            sample_spans: Vec::new(),
            next_span: SampleSpan::ByRecord,
            locks: None,
            sample_locks: Vec::new(),
            foreign: HashSet::default(),
            pids: HashMap::default(),
            gone: HashSet::default(),
            lacks_enters: false,
            told: Told::default(),
            listener: None,
            is_over: false,
        };
        followed.pids().for_each(|task| ledger.note_pid(task));
        ledger.told.n_silent = followed.n_silent();
        ledger.followed = followed;
        ledger
    }

    /// Says when the recording begins, and when records were lost.
    pub(super) fn set_times(&mut self, begin_ns: u64, lost: LostTimes) {
        self.begin_ns = begin_ns;
        self.lost = lost;
    }

    /// Counts time from a moment on: what was before it has been counted. Records up to an offset only say which waits
    /// went on then.
    pub(super) fn count_since(&mut self, since_ns: u64, waits_end: u64) {
        (self.since_ns, self.waits_end) = (since_ns, waits_end);
        self.is_part = true;
    }

    /// Cuts waits where spans begin and end.
    pub(super) fn set_spans(&mut self, spans: Option<&'a Spans>) {
        self.spans = spans;
    }

    /// Notes which locks threads wait for.
    pub(super) fn follow_locks(&mut self) {
        self.locks = Some(AwaitedLocks::default());
    }

    fn note_pid(&mut self, (tid, pid): (i32, i32)) {
        if pid > 0 && tid > 0 {
            let known = self.pids.entry(tid).or_insert(pid);
            if *known != pid {
                *known = -1;
            }
        }
    }

    /// Takes the next step.
    pub(super) fn take(&mut self, step: &Step, facts: StackFacts) {
        let Step { time_ns, tid, .. } = *step;
        self.note_pid((tid, step.pid));
        let is_record = matches!(step.what, What::Enter | What::Leave(_) | What::Exit);
        if is_record && self.followed.leaves_out(tid) || self.is_paused_at(step) {
            return;
        }
        match step.what {
            What::Switch { prev, state, next } => self.switch(step, (prev, state, next), facts),
            What::WakeUp { tid, waker } => self.wake(step, (tid, waker), facts),
            What::Leaving => self.note_leaving(tid, SwitchOut::of(step, facts)),
            What::Leave(state) => self.leave(step, state, facts),
            What::Enter => self.enter(step, tid, false),
            What::Birth { parent } => {
                self.begin(tid);
                // What it does while the recording is paused is unknown.
                let resumed_ns = self.scheduler.resumed_ns().filter(|_| self.is_in_pause);
                let known_ns = resumed_ns.unwrap_or(time_ns);
                self.threads.entry(tid).or_default().charged_ns = known_ns;
                if resumed_ns.is_none() {
                    self.wake(step, (tid, Waker::Thread(parent)), facts);
                }
            }
            What::Exit => self.exit(step, facts),
            What::OnCpu { ns } => self.sample(step, ns),
            What::Lock { change, lock } => {
                if let Some(locks) = &mut self.locks {
                    locks.take(tid, change, lock);
                }
            }
            What::OffCpu { ns } => {
                let state = ThreadState::Blocked(SwitchState::Unknown);
                let left = SwitchOut::of(step, facts);
                self.push((tid, &left), (ns, false), (state, None));
            }
        }
    }

    /// The CPU that a thread is on. Where not all records have one, each thread has its own.
    fn cpu(&self, step: &Step, tid: i32) -> u32 {
        if self.is_of_before(step) {
            // Nobody knows who has been there since.
            return u32::MAX - tid.cast_unsigned();
        }
        let cpu = step.cpu.filter(|_| self.sources.have_cpus);
        cpu.unwrap_or(tid.cast_unsigned())
    }

    fn is_of_before(&self, step: &Step) -> bool {
        step.offset < self.waits_end
    }

    /// A thread leaves its CPU for another one. That one may be anybody: unless its own switches are recorded, it would
    /// stay there for ever.
    fn switch(
        &mut self,
        step: &Step,
        (prev, state, next): (i32, SwitchState, i32),
        facts: StackFacts,
    ) {
        let is_everybody = self.followed.is_everybody();
        // The kernel takes the id from one that ends: its last switches are nobody's.
        let tid = match step.tid {
            -1 if self.followed.has(prev) => prev,
            tid => tid,
        };
        if tid < 0 || tid == 0 && !is_everybody {
            return;
        }
        let cpu = self.cpu(step, tid);
        self.lacks_enters |= self.is_off(tid);
        let next = Some(next).filter(|&next| self.followed.has(next));
        let next = next.filter(|_| !self.is_of_before(step));
        if next.is_none() {
            self.lacks_enters |= !self.gone.insert(cpu);
        }
        let run = self.scheduler.switch(ContextSwitch {
            time_ns: step.time_ns,
            cpu,
            prev: tid,
            prev_state: state,
            next: IDLE,
        });
        if run.tid > 0 {
            let left = SwitchOut {
                is_foreign: step.tid != tid,
                ..SwitchOut::of(step, facts)
            };
            self.end_run(&run, left);
        }
        if let Some(next) = next.filter(|&next| next != IDLE) {
            self.enter(step, next, true);
        }
    }

    /// Whether a thread is known to have left its CPU, and not to have come back.
    fn is_off(&self, tid: i32) -> bool {
        let left = self.threads.get(&tid).and_then(|thread| thread.left);
        left.is_some_and(|left| !left.is_foreign)
    }

    fn wake(&mut self, step: &Step, (tid, waker): (i32, Waker), facts: StackFacts) {
        // Whose id that is, nobody knows.
        if !self.followed.has_same_ids() {
            return;
        }
        let time_ns = step.time_ns;
        let waker = match waker {
            Waker::Interrupt | Waker::SoftInterrupt if facts.is_timer => Waker::Timer,
            Waker::SoftInterrupt if facts.is_local_send && step.tid > 0 => Waker::Thread(step.tid),
            waker => waker,
        };
        self.begin(tid);
        let woken = WakeUp { time_ns, waker };
        self.tell(
            tid,
            ThreadActivity::Woken {
                cpu: step.cpu,
                woken,
            },
        );
        self.scheduler.wake(tid, woken);
        if self.scheduler.running_since(tid).is_none() {
            let thread = self.threads.entry(tid).or_default();
            thread.left.get_or_insert(SwitchOut::of_other(step));
            thread.woken_at.get_or_insert(step.offset);
        }
    }

    fn leave(&mut self, step: &Step, state: SwitchState, facts: StackFacts) {
        let cpu = self.cpu(step, step.tid);
        let thread = self.threads.entry(step.tid).or_default();
        let left = thread.leaving.take().unwrap_or(SwitchOut::of(step, facts));
        if !thread.has_exited
            && let Some(run) = self.scheduler.leave(step.time_ns, cpu, step.tid, state)
        {
            self.end_run(&run, left);
            self.threads.entry(step.tid).or_default().left_at = Some(step.offset);
        }
    }

    /// A thread comes to a CPU, by its own record or by another one's.
    fn enter(&mut self, step: &Step, tid: i32, is_foreign: bool) {
        // Its events end before it does: it goes on to its end.
        if is_foreign
            && self
                .threads
                .get(&tid)
                .is_some_and(|thread| thread.has_exited)
        {
            return;
        }
        self.begin(tid);
        let cpu = self.cpu(step, tid);
        let was_off = self.scheduler.running_since(tid).is_none();
        let evicted = self.scheduler.enter(step.time_ns, cpu, tid);
        let thread = self.threads.entry(tid).or_default();
        if was_off {
            thread.came_from = thread.left.take();
        }
        (thread.leaving, thread.left_at, thread.woken_at) = (None, None, None);
        thread.switched = Some((step.offset, is_foreign));
        if let Some((other, open)) = evicted {
            self.evict(other, &open);
        }
    }

    /// Another thread is where this one was said to be: it has left, nobody knows when. How long it had waited is known.
    fn evict(&mut self, tid: i32, open: &Open) {
        if let Some(start_ns) = open.start_ns {
            self.add_wait(tid, (open.wait, open.woken), start_ns);
        }
        let thread = self.threads.entry(tid).or_default();
        (thread.left, thread.came_from, thread.leaving) = (None, None, None);
    }

    fn exit(&mut self, step: &Step, facts: StackFacts) {
        // Who sees all switches sees the last one, too.
        if self.followed.is_everybody() {
            return;
        }
        let (tid, cpu) = (step.tid, self.cpu(step, step.tid));
        if self.scheduler.running_since(tid).is_some()
            && let Some(run) = (self.scheduler).leave(step.time_ns, cpu, tid, SwitchState::Dead)
        {
            self.end_run(&run, SwitchOut::of(step, facts));
        }
        self.threads.entry(tid).or_default().has_exited = true;
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

    fn note_leaving(&mut self, tid: i32, left: SwitchOut) {
        let is_off = self.scheduler.knows(tid) && self.scheduler.running_since(tid).is_none();
        let thread = self.threads.entry(tid).or_default();
        match &mut thread.left {
            // The switch was recorded before the sample.
            Some(known) if is_off && !known.has_stack && !known.is_foreign => *known = left,
            _ => thread.leaving = Some(left),
        }
    }

    /// A run ends, and with it all is known of the wait before it.
    fn end_run(&mut self, run: &ThreadRun, left: SwitchOut) {
        self.note_run(run);
        if let Some(start_ns) = run.start_ns {
            self.add_wait(run.tid, (run.wait, run.woken), start_ns);
            self.charge((run.tid, run.cpu), start_ns, run.end_ns);
        }
        self.tell_run(run, Some(run.state));
        let locks = self.locks.as_ref();
        let lock = locks.map_or(NO_LOCK, |locks| locks.awaited(run.tid, left.cause));
        let thread = self.threads.entry(run.tid).or_default();
        thread.left = Some(SwitchOut { lock, ..left });
        thread.switched = Some((left.offset, left.is_foreign));
        if run.state == SwitchState::Dead {
            self.charge_rest(run.tid);
            self.threads.remove(&run.tid);
            if let Some(locks) = &mut self.locks {
                locks.forget(run.tid);
            }
        }
    }
}

/// The idle task of each CPU.
const IDLE: i32 = 0;

#[cfg(test)]
mod tests;
