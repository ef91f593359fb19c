//! How much of a thread's time its watchpoints may take: one whose word is written to again and again costs
//! more than it proves.

use foldhash::HashMap;
use rprof_process::CpuTime;

/// What watchpoints have taken of each thread.
#[derive(Debug, Default)]
pub(super) struct HitBudget {
    threads: HashMap<i32, Account>,
}

/// A thread's CPU time, nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Account {
    /// When its first watchpoint was wanted.
    begin_ns: u64,
    /// What watchpoints took since.
    spent_ns: u64,
}

/// Watchpoints take a twentieth of a thread's time at most (5 %).
const SHARE: u64 = 20;

/// What a watchpoint takes of a running thread: its CPU is interrupted to set it, and to take it back. On a
/// virtual machine (Linux 6.18) it is 5.5 us; with a hit, 56 us.
const SET_NS: u64 = 6_000;
const HIT_NS: u64 = 50_000;

/// Threads that are remembered.
const MAX_THREADS: usize = 4096;

impl HitBudget {
    /// Whether a thread has time for one more watchpoint; one that is new has time for the first.
    pub(super) fn has_some(&mut self, pid: i32, tid: i32) -> bool {
        CpuTime::new(pid, tid)
            .now_ns()
            .is_some_and(|now_ns| self.has_some_at(tid, now_ns))
    }

    fn has_some_at(&mut self, tid: i32, cpu_ns: u64) -> bool {
        if self.threads.len() >= MAX_THREADS && !self.threads.contains_key(&tid) {
            self.threads.clear();
        }
        let account = self.threads.entry(tid).or_insert(Account {
            begin_ns: cpu_ns,
            spent_ns: 0,
        });
        let earned_ns = cpu_ns.saturating_sub(account.begin_ns) / SHARE;
        account.spent_ns <= earned_ns
    }

    /// A watchpoint was set.
    pub(super) fn spend_on_set(&mut self, tid: i32) {
        self.spend(tid, SET_NS);
    }

    /// A watchpoint was hit.
    pub(super) fn spend_on_hit(&mut self, tid: i32) {
        self.spend(tid, HIT_NS);
    }

    fn spend(&mut self, tid: i32, ns: u64) {
        if let Some(account) = self.threads.get_mut(&tid) {
            account.spent_ns = account.spent_ns.saturating_add(ns);
        }
    }

    /// A thread has ended.
    pub(super) fn forget(&mut self, tid: i32) {
        self.threads.remove(&tid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_never_take_more_than_a_twentieth_of_a_threads_time() {
        let mut budget = HitBudget::default();
        let mut n_hits = 0;
        // A sample each 10 us, for a second; each time the word was written to.
        for cpu_ns in (0..1_000_000_000).step_by(10_000) {
            if budget.has_some_at(1, cpu_ns) {
                budget.spend_on_set(1);
                budget.spend_on_hit(1);
                n_hits += 1;
            }
        }
        let most = 1_000_000_000 / SHARE / (SET_NS + HIT_NS);
        assert!((most..=most + 1).contains(&n_hits), "{n_hits} {most}");
    }

    #[test]
    fn what_stays_is_watched_again_and_again() {
        let mut budget = HitBudget::default();
        for cpu_ns in (0..1_000_000_000).step_by(250_000) {
            assert!(budget.has_some_at(1, cpu_ns));
            budget.spend_on_set(1);
        }
    }
}
