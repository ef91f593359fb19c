//! The critical path: what a thread's end waited for, followed backwards from thread to thread.

use crate::{Open, SwitchState, ThreadRun, Wait, WakeUp, Waker};
use foldhash::HashMap;
use std::ops::Range;

/// The runs of all threads, with who woke whom. It is as large as they are many.
#[derive(Clone, Debug, Default)]
pub struct RunGraph {
    /// By thread, in order of time.
    threads: HashMap<i32, Vec<ThreadRun>>,
    n_runs: usize,
    has_wakers: bool,
}

/// A part of a critical path: what one thread did for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// The thread.
    pub tid: i32,
    /// When it begins, nanoseconds.
    pub start_ns: u64,
    /// When it ends: the next one begins there.
    pub end_ns: u64,
    /// What the thread did.
    pub activity: Activity,
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activity {
    /// It is on a CPU.
    Running,
    /// It waits for a CPU.
    Runnable,
    /// It waits for something that no thread does: a timer, a device, what lies outside of the recording.
    Blocked,
    /// That is lost, or from before the recording.
    Unknown,
}

impl PathStep {
    /// How long it takes, nanoseconds.
    pub fn len_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

impl RunGraph {
    /// Adds a run. Those of one thread are added in order of time.
    pub fn add(&mut self, run: ThreadRun) {
        let waker = run.woken.map(|woken| woken.waker);
        self.has_wakers |= matches!(waker, Some(Waker::Thread(_)));
        self.n_runs += 1;
        self.threads.entry(run.tid).or_default().push(run);
    }

    /// Adds what a thread does as the recording ends: a run that goes on until then counts as one.
    pub fn add_open(&mut self, tid: i32, open: Open, end_ns: u64) {
        let Open {
            start_ns: Some(start_ns),
            wait,
            woken,
            is_lost,
            is_wait_lost,
        } = open
        else {
            return;
        };
        self.add(ThreadRun {
            tid,
            cpu: 0,
            start_ns: Some(start_ns),
            end_ns,
            state: SwitchState::Unknown,
            wait,
            woken,
            is_lost,
            is_wait_lost,
        });
    }

    /// How many runs there are.
    pub fn n_runs(&self) -> usize {
        self.n_runs
    }

    /// Whether any thread is known to have been woken by another one: without that, no path leaves its thread.
    pub fn has_wakers(&self) -> bool {
        self.has_wakers
    }

    /// All threads.
    pub fn threads(&self) -> impl Iterator<Item = i32> {
        self.threads.keys().copied()
    }

    /// The first moment at which something is known of a thread: of the last one with this id.
    pub fn start_ns(&self, tid: i32) -> Option<u64> {
        let runs = self.runs(tid);
        let (_, before) = runs.split_last()?;
        let dead = before
            .iter()
            .rposition(|run| run.state == SwitchState::Dead);
        let run = runs.get(dead.map_or(0, |dead| dead + 1))?;
        let wait = run.wait.map(|wait| wait.start_ns);
        let woken = run.woken.map(|woken| woken.time_ns);
        let known = [wait, woken, run.start_ns, Some(run.end_ns)];
        known.into_iter().flatten().min()
    }

    /// When a thread's last run ended.
    pub fn end_ns(&self, tid: i32) -> Option<u64> {
        Some(self.threads.get(&tid)?.last()?.end_ns)
    }

    /// How long a thread ran after a moment, nanoseconds, and whether it was woken then.
    pub fn activity_after(&self, tid: i32, ns: u64) -> (u64, bool) {
        let later = self.runs(tid).iter().rev();
        let later = later.take_while(|run| run.end_ns > ns);
        later.fold((0, false), |(ran_ns, is_woken), run| {
            let start_ns = run.start_ns.unwrap_or(run.end_ns).max(ns);
            let is_its = run.woken.is_some_and(|woken| woken.time_ns > ns);
            let ran_ns = run.end_ns.saturating_sub(start_ns).saturating_add(ran_ns);
            (ran_ns, is_woken || is_its)
        })
    }

    /// The critical path that ends with a thread at the end of a range: the steps fill the range, in order of time.
    ///
    /// It is followed backwards: a thread that runs is on it. Where the thread was woken by another one, the path goes on
    /// with that one, and with what that one waited for: had it come sooner, so would the end. Where no thread woke it,
    /// the wait itself is on the path.
    pub fn critical_path(&self, tid: i32, range: Range<u64>) -> Vec<PathStep> {
        let mut walk = Walk {
            graph: self,
            tid,
            at_ns: range.end,
            from_ns: range.start,
            steps: Vec::new(),
            n_jumps: 0,
        };
        while walk.at_ns > walk.from_ns {
            walk.step();
        }
        walk.steps.reverse();
        walk.steps
    }

    /// The part in a range of the critical path that ends with a thread at a later time: what the end waited for then,
    /// in whichever thread that was.
    pub fn part_of_critical_path(&self, tid: i32, end_ns: u64, part: Range<u64>) -> Vec<PathStep> {
        let mut steps = self.critical_path(tid, part.start..end_ns.max(part.end));
        steps.retain(|step| step.start_ns < part.end);
        if let Some(last) = steps.last_mut() {
            last.end_ns = last.end_ns.min(part.end);
        }
        steps
    }

    fn runs(&self, tid: i32) -> &[ThreadRun] {
        self.threads.get(&tid).map_or(&[], Vec::as_slice)
    }

    /// Whether a thread that woke another one at a time may have been on a CPU then: it was, unless records are lost. A
    /// thread's own events end before it does: what it wakes then, such as who joins it, comes after all of its runs.
    fn may_run_at(&self, tid: i32, at_ns: u64) -> bool {
        let runs = self.runs(tid);
        let next = runs.partition_point(|run| run.end_ns < at_ns);
        match (runs.get(next), runs.last()) {
            (Some(run), _) => run.start_ns.is_none_or(|start| start <= at_ns),
            (None, last) => last.is_some_and(|run| run.state == SwitchState::Dead),
        }
    }
}

/// Threads that a path goes through at one moment: two that wake each other then would never be left.
const MOST_JUMPS: usize = 100;

/// A path as it is followed.
struct Walk<'g> {
    graph: &'g RunGraph,
    /// The thread that it has come to.
    tid: i32,
    /// The time that it has come to: all later is in `steps`.
    at_ns: u64,
    from_ns: u64,
    /// From the last to the first.
    steps: Vec<PathStep>,
    /// Threads that it has gone to without a step.
    n_jumps: usize,
}

impl Walk<'_> {
    /// Goes back over what the thread did before, or to the thread that woke it.
    fn step(&mut self) {
        let runs = self.graph.runs(self.tid);
        let next = runs.partition_point(|run| run.end_ns < self.at_ns);
        let before = next.checked_sub(1).and_then(|nth| runs.get(nth));
        let run = runs.get(next);
        // What has ended is another thread, whose id this one has.
        let before = before.filter(|before| run.is_none() || before.state != SwitchState::Dead);
        let last_ns = before.map_or(self.from_ns, |run| run.end_ns);
        match run {
            Some(run) => match run.start_ns {
                Some(start) if start < self.at_ns => {
                    let is_lost = run.is_lost;
                    let ran = if is_lost {
                        Activity::Unknown
                    } else {
                        Activity::Running
                    };
                    self.back_to(start, ran);
                }
                Some(_) => self.wait_before(run, last_ns),
                None => match run.woken.filter(|woken| woken.time_ns > last_ns) {
                    // When it came to its CPU is lost, not who woke it before.
                    Some(woken) if woken.time_ns < self.at_ns => {
                        self.back_to(woken.time_ns, Activity::Unknown);
                    }
                    Some(_) => self.wait_before(run, last_ns),
                    None => self.back_to(last_ns, Activity::Unknown),
                },
            },
            // It does not run again: what it waits for does not come, or is not recorded.
            None => {
                let state = before.map_or(SwitchState::Unknown, |run| run.state);
                self.back_to(last_ns, Activity::in_state(state));
            }
        }
    }

    /// Goes back over the wait before a run, or a part of it.
    fn wait_before(&mut self, run: &ThreadRun, last_ns: u64) {
        let start_ns = run.wait.map_or(last_ns, |wait| wait.start_ns);
        match (run.wait, run.woken) {
            (
                Some(Wait {
                    state: SwitchState::Runnable,
                    ..
                }),
                _,
            ) => self.back_to(start_ns, Activity::Runnable),
            (_, Some(WakeUp { time_ns, .. })) if time_ns < self.at_ns => {
                self.back_to(time_ns.max(start_ns), Activity::Runnable);
            }
            (_, Some(woken)) if self.has_jumped(woken) => {}
            (Some(Wait { state, .. }), _) => self.back_to(start_ns, Activity::in_state(state)),
            (None, _) => self.back_to(start_ns, Activity::Unknown),
        }
    }

    /// Goes to the thread that woke this one at this time, if it ran then.
    fn has_jumped(&mut self, woken: WakeUp) -> bool {
        let Waker::Thread(waker) = woken.waker else {
            return false;
        };
        let is_new = waker != self.tid && self.n_jumps < MOST_JUMPS;
        let is_known = waker != 0 && woken.time_ns == self.at_ns;
        let jumps = is_new && is_known && self.graph.may_run_at(waker, self.at_ns);
        if jumps {
            self.tid = waker;
            self.n_jumps += 1;
        }
        jumps
    }

    /// All from an earlier time to now is one step; what is before the range is left out.
    fn back_to(&mut self, start_ns: u64, activity: Activity) {
        // Records that contradict each other may not keep it where it is.
        let start_ns = start_ns.min(self.at_ns - 1).max(self.from_ns);
        self.steps.push(PathStep {
            tid: self.tid,
            start_ns,
            end_ns: self.at_ns,
            activity,
        });
        self.at_ns = start_ns;
        self.n_jumps = 0;
    }
}

impl Activity {
    /// What it is called.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Runnable => "waiting for a CPU",
            Self::Blocked => "blocked",
            Self::Unknown => "unknown",
        }
    }

    /// What a thread does that left its CPU in a state.
    fn in_state(state: SwitchState) -> Self {
        match state {
            SwitchState::Runnable => Self::Runnable,
            SwitchState::Dead | SwitchState::Unknown => Self::Unknown,
            _ => Self::Blocked,
        }
    }
}

#[cfg(test)]
mod tests;
