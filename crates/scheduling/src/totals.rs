//! [`ThreadTotals`]: what a thread did all together.

use crate::{Open, SwitchState, ThreadRun, ThreadState, Wait, WakeUp, wait_parts};
use foldhash::HashMap;
use rprof_base::Delays;

/// The account of a thread, nanoseconds. What is not in it, from [`Self::start_ns`] to [`Self::end_ns`], is unknown.
#[derive(Clone, Debug, Default)]
pub struct ThreadTotals {
    /// The first moment at which something is known of it.
    pub start_ns: Option<u64>,
    /// The last one.
    pub end_ns: u64,
    /// On a CPU.
    pub run_ns: u64,
    /// How often it was on one.
    pub n_runs: u64,
    /// Waits for a CPU after wake-ups.
    pub woken: Delays,
    /// Waits for a CPU after it had to leave one.
    pub preempted: Delays,
    /// Waits for something else, by state.
    pub blocked: HashMap<SwitchState, Delays>,
    /// How often it left its CPU to wait.
    pub n_voluntary: u64,
    /// How often it had to leave it.
    pub n_involuntary: u64,
    /// How often it went on with another CPU.
    pub n_migrations: u64,
    last_cpu: Option<u32>,
}

impl ThreadTotals {
    /// Adds a run, and the wait before it.
    pub fn add(&mut self, run: &ThreadRun) {
        self.n_runs += 1;
        self.run_ns = self.run_ns.saturating_add(run.ran_ns());
        match run.state {
            SwitchState::Runnable => self.n_involuntary += 1,
            _ => self.n_voluntary += 1,
        }
        let is_moved = self.last_cpu.is_some_and(|cpu| cpu != run.cpu);
        self.n_migrations += u64::from(is_moved);
        self.last_cpu = Some(run.cpu);
        self.note_end(run.start_ns.unwrap_or(run.end_ns), run.end_ns);
        if let Some(start_ns) = run.start_ns {
            self.add_wait(run.wait, run.woken, start_ns);
        }
    }

    /// Adds what the thread does when the recording ends.
    pub fn add_open(&mut self, open: &Open, end_ns: u64) {
        let start_ns = open.start_ns.unwrap_or(end_ns);
        self.n_runs += u64::from(open.start_ns.is_some());
        self.run_ns = self.run_ns.saturating_add(open.ran_ns(end_ns));
        self.note_end(start_ns, end_ns);
        self.add_wait(open.wait, open.woken, start_ns);
    }

    /// Adds a wait up to `end_ns`.
    fn add_wait(&mut self, wait: Option<Wait>, woken: Option<WakeUp>, end_ns: u64) {
        for part in wait_parts(wait, woken, end_ns) {
            self.note_start(part.start_ns);
            let delays = match part.state {
                ThreadState::Preempted => &mut self.preempted,
                ThreadState::Blocked(state) => self.blocked.entry(state).or_default(),
                ThreadState::Runnable | ThreadState::Running => &mut self.woken,
            };
            delays.add(part.ns(), part.end_ns);
        }
    }

    fn note_start(&mut self, ns: u64) {
        self.start_ns = Some(self.start_ns.map_or(ns, |start| start.min(ns)));
    }

    fn note_end(&mut self, start_ns: u64, end_ns: u64) {
        self.note_start(start_ns);
        self.end_ns = self.end_ns.max(end_ns);
    }

    /// Waits for a CPU, all together.
    pub fn runnable(&self) -> Delays {
        let mut all = self.woken.clone();
        all.merge(&self.preempted);
        all
    }

    /// Waits for something else, nanoseconds all together.
    pub fn blocked_ns(&self) -> u64 {
        let of_states = self.blocked.values().map(|delays| delays.total_ns);
        of_states.fold(0, u64::saturating_add)
    }

    /// What the account does not have, nanoseconds.
    pub fn unknown_ns(&self) -> u64 {
        let known = [
            self.run_ns,
            self.woken.total_ns,
            self.preempted.total_ns,
            self.blocked_ns(),
        ];
        let known = known.into_iter().fold(0, u64::saturating_add);
        self.wall_ns().saturating_sub(known)
    }

    /// From the first moment to the last, nanoseconds.
    pub fn wall_ns(&self) -> u64 {
        self.start_ns
            .map_or(0, |start| self.end_ns.saturating_sub(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ContextSwitch, Scheduler, Waker};
    use proptest::prelude::*;

    /// What a thread of two CPUs and four threads did, by events that a kernel could have written; what is `lost` is not
    /// in the recording.
    fn totals(events: &[(u8, u8, bool)]) -> Vec<ThreadTotals> {
        let mut scheduler = Scheduler::default();
        let mut totals = vec![ThreadTotals::default(); 5];
        let mut on = [0, 0];
        let mut time_ns = 1000;
        for &(kind, which, lost) in events {
            time_ns += u64::from(which) + 1;
            let tid = i32::from(which % 4) + 1;
            if kind % 3 == 0 {
                let waker = Waker::Interrupt;
                if !lost && !on.contains(&tid) {
                    scheduler.wake(tid, WakeUp { time_ns, waker });
                }
                continue;
            }
            let cpu = usize::from(kind % 2);
            let next = if on.contains(&tid) { 0 } else { tid };
            let prev = std::mem::replace(&mut on[cpu], next);
            let bits = u64::from(which % 3);
            if !lost && prev != next {
                let run = scheduler.switch(ContextSwitch {
                    time_ns,
                    cpu: u32::from(kind % 2),
                    prev,
                    prev_state: SwitchState::from_bits(bits),
                    next,
                });
                totals[usize::try_from(prev).unwrap()].add(&run);
            }
        }
        for (tid, open) in scheduler.open() {
            totals[usize::try_from(tid).unwrap()].add_open(&open, time_ns);
        }
        totals
    }

    proptest! {
        #[test]
        fn no_moment_counts_twice(events: Vec<(u8, u8, bool)>) {
            for one in &totals(&events)[1..] {
                let known = one.run_ns + one.runnable().total_ns + one.blocked_ns();
                prop_assert!(known <= one.wall_ns(), "{one:?}");
                prop_assert_eq!(known + one.unknown_ns(), one.wall_ns());
            }
        }

        #[test]
        fn nothing_is_unknown_if_nothing_is_lost(events: Vec<(u8, u8)>) {
            let events: Vec<_> = events.iter().map(|&(kind, which)| (kind, which, false)).collect();
            for one in &totals(&events)[1..] {
                prop_assert_eq!(one.unknown_ns(), 0, "{:?}", one);
            }
        }
    }

    #[test]
    fn a_wait_ends_with_the_wake_up_and_the_delay_with_the_switch() {
        let mut scheduler = Scheduler::default();
        let mut totals = ThreadTotals::default();
        let mut switch = |scheduler: &mut Scheduler, time_ns, prev, next, state| {
            let run = scheduler.switch(ContextSwitch {
                time_ns,
                cpu: 0,
                prev,
                prev_state: state,
                next,
            });
            if prev == 7 {
                totals.add(&run);
            }
        };
        let (sleeping, runnable) = (SwitchState::Sleeping, SwitchState::Runnable);
        switch(&mut scheduler, 10, 0, 7, runnable);
        switch(&mut scheduler, 15, 7, 0, sleeping);
        let waker = Waker::Thread(9);
        scheduler.wake(7, WakeUp { time_ns: 40, waker });
        switch(&mut scheduler, 43, 0, 7, runnable);
        switch(&mut scheduler, 50, 7, 9, runnable);
        switch(&mut scheduler, 61, 9, 7, sleeping);
        switch(&mut scheduler, 62, 7, 0, sleeping);
        assert_eq!(totals.run_ns, 5 + 7 + 1);
        assert_eq!((totals.woken.total_ns, totals.preempted.total_ns), (3, 11));
        assert_eq!(totals.blocked_ns(), 25);
        assert_eq!((totals.n_voluntary, totals.n_involuntary), (2, 1));
        assert_eq!((totals.wall_ns(), totals.unknown_ns()), (52, 0));
    }
}
