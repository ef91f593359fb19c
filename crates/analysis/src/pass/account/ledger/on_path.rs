//! Which of the time of threads is on a critical path.

use super::Ledger;
use crate::Error;
use rprof_scheduling::{Open, PathTimes, RunGraph, ThreadRun};
use rprof_untrusted::{Budget, Held, OverBudget};
use std::ops::Range;

/// A critical path, and what becomes of time that is not on it.
#[derive(Debug)]
pub(in crate::pass::account) struct OnPath {
    pub(in crate::pass::account) times: PathTimes,
    /// Whether other time counts, too, apart from it.
    pub(in crate::pass::account) keeps_rest: bool,
}

/// The runs of all threads, as far as memory allows.
#[derive(Debug)]
pub(in crate::pass::account) struct GatheredRuns {
    pub(in crate::pass::account) graph: RunGraph,
    held: Held,
    is_over_budget: bool,
}

/// Memory is accounted for after this many runs.
const HOLD_EVERY: usize = 1 << 12;

impl GatheredRuns {
    pub(in crate::pass::account) fn new(budget: &Budget) -> Self {
        Self {
            graph: RunGraph::default(),
            held: budget.hold_nothing(),
            is_over_budget: false,
        }
    }

    fn add(&mut self, run: ThreadRun) {
        if self.is_over_budget {
            return;
        }
        self.graph.add(run);
        if self.graph.n_runs().is_multiple_of(HOLD_EVERY) {
            // A list of runs has room for twice as many at most.
            let bytes = (2 * HOLD_EVERY * size_of::<ThreadRun>()) as u64;
            self.is_over_budget = matches!(self.held.grow(bytes), Err(OverBudget));
        }
    }

    fn add_open(&mut self, tid: i32, open: Open, end_ns: u64) {
        if !self.is_over_budget {
            self.graph.add_open(tid, open, end_ns);
        }
    }

    /// Whether all fit.
    ///
    /// # Errors
    /// [`Error::AccountOverBudget`] if not.
    pub(in crate::pass::account) fn check(&self) -> Result<(), Error> {
        if self.is_over_budget {
            return Err(Error::AccountOverBudget);
        }
        Ok(())
    }
}

impl Ledger<'_> {
    /// Gathers runs, and makes no samples.
    pub(in crate::pass::account) fn gather(&mut self, runs: GatheredRuns) {
        self.runs = Some(runs);
    }

    /// Tells time on a path apart.
    pub(in crate::pass::account) fn set_path(&mut self, path: OnPath) {
        self.path = Some(path);
    }

    /// The runs that were gathered: those that go on as the recording ends, too.
    pub(in crate::pass::account) fn take_runs(&mut self, end_ns: u64) -> Option<GatheredRuns> {
        self.pause_until(end_ns);
        let mut runs = self.runs.take()?;
        for (tid, mut open) in self.scheduler.open() {
            if self.followed.misses_cpus {
                (open.wait, open.woken) = (None, None);
            }
            let cpu = self.scheduler.cpu_of(tid);
            let cpu = cpu.and_then(|cpu| self.known_cpu(cpu));
            self.lost.hide_open(&mut open, cpu, end_ns);
            let has_exited = |thread: &super::Thread| thread.has_exited;
            if !self.threads.get(&tid).is_some_and(has_exited) {
                runs.add_open(tid, open, end_ns);
            }
        }
        Some(runs)
    }

    /// The process of a thread; -1 if that is not known, or its id was that of threads of several.
    pub(in crate::pass::account) fn pid(&self, tid: i32) -> i32 {
        self.pids.get(&tid).copied().unwrap_or(-1)
    }

    pub(super) fn note_run(&mut self, run: &ThreadRun) {
        let mut run = *run;
        if self.followed.misses_cpus {
            (run.wait, run.woken) = (None, None);
        }
        let cpu = self.known_cpu(run.cpu);
        self.lost.hide(&mut run, cpu);
        if let Some(runs) = &mut self.runs {
            runs.add(run);
        }
    }

    /// Whether samples on the path, or off it, are made. Who is told what threads do needs none.
    pub(super) fn counts(&self, is_on_path: bool) -> bool {
        let counts = |path: &OnPath| is_on_path || path.keeps_rest;
        let is_made = self.runs.is_none() && self.listener.is_none();
        is_made && self.path.as_ref().is_none_or(counts)
    }

    /// Of the time that counts: how much of a thread's is off the path, and how much on it, nanoseconds: the latter once for each of several
    /// paths. All is off if there is none.
    pub(super) fn split(&self, tid: i32, range: Range<u64>) -> [u64; 2] {
        let path = self.path.as_ref();
        self.counted_parts(range)
            .fold([0; 2], |[off_sum, on_sum], part| {
                let all = part.end.saturating_sub(part.start);
                let [once, on] = path.map_or([0; 2], |path| path.times.ns_in(tid, &part));
                let off = all.saturating_sub(once);
                [off_sum.saturating_add(off), on_sum.saturating_add(on)]
            })
    }

    /// Whether a thread is on the path at a moment.
    pub(super) fn is_on_path(&self, tid: i32, time_ns: u64) -> bool {
        let path = self.path.as_ref();
        path.is_some_and(|path| path.times.has(tid, time_ns))
    }
}
