//! Time on CPUs: each sample stands for what its thread ran since the one before.

use super::{Ledger, SwitchOut};
use crate::pass::account::locks::NO_LOCK;
use crate::pass::account::steps::Step;
use crate::samples::{AccountedSample, Stretch, WokenBy};
use rprof_profile::Account;
use rprof_scheduling::{Cause, ThreadState};

impl Ledger<'_> {
    /// Adds time on a CPU, unless records were lost in what of it no sample has yet.
    pub(super) fn charge(&mut self, (tid, cpu): (i32, u32), start_ns: u64, end_ns: u64) {
        let thread = self.threads.get(&tid);
        let from_ns = thread.map_or(start_ns, |thread| start_ns.max(thread.charged_ns));
        let from_ns = from_ns.max(self.since_ns).min(end_ns);
        let is_known = (self.lost)
            .first_on(self.known_cpu(cpu), from_ns, end_ns)
            .is_none();
        if !is_known {
            self.told.note_lost(end_ns.saturating_sub(from_ns));
        }
        let parts = self.split(tid, from_ns..end_ns);
        let thread = self.threads.entry(tid).or_default();
        if is_known {
            thread.add_pending(parts);
            thread.charged_ns = thread.charged_ns.max(end_ns);
        } else {
            thread.charged_ns = end_ns;
        }
    }

    /// A sample on a CPU stands for all of the thread's time on CPUs since the one before.
    pub(super) fn sample(&mut self, step: &Step, ns: u64) {
        let Step { time_ns, tid, .. } = *step;
        if tid <= 0 {
            return;
        }
        self.begin(tid);
        if self.sources.off_cpu_event.is_some() {
            self.threads.entry(tid).or_default().add_pending([ns, 0]);
        } else if !self.scheduler.knows(tid)
            && let Some(since_ns) = self.scheduler.silent_since(self.cpu(step, tid))
        {
            // Nobody came to that CPU since the pause.
            let resumed = Step {
                time_ns: since_ns,
                ..*step
            };
            self.enter(&resumed, tid, false);
            self.threads.entry(tid).or_default().was_running = true;
        } else if !self.scheduler.knows(tid) {
            // It has been there for as long as the sample stands for, if there was anything for that long.
            self.enter(step, tid, false);
            let thread = self.threads.entry(tid).or_default();
            thread.was_running = true;
            let known_ns = thread.charged_ns.max(self.begin_ns);
            let stood_for = ns.min(time_ns.saturating_sub(known_ns));
            let parts = self.split(tid, time_ns - stood_for..time_ns);
            self.threads.entry(tid).or_default().add_pending(parts);
        }
        match self.scheduler.running_since(tid) {
            Some(since) => {
                let cpu = self.scheduler.cpu_of(tid).unwrap_or(u32::MAX);
                self.charge((tid, cpu), since, time_ns);
            }
            None => self.threads.entry(tid).or_default().charged_ns = time_ns,
        }
        let is_on_path = self.is_on_path(tid, time_ns);
        let is_counted = self.counts(is_on_path);
        let is_asked = self.counts_at(time_ns);
        let part = self.threads.entry(tid).or_default().part(is_on_path);
        let ns = std::mem::take(&mut part.pending_ns);
        if !is_counted || ns == 0 && !is_asked {
            return;
        }
        let number = u32::try_from(self.samples.len()).unwrap_or(u32::MAX);
        part.sample = Some(number);
        self.samples.push(AccountedSample {
            offset: step.offset,
            ns,
            stretch: Stretch {
                state: ThreadState::Running,
                cause: Cause::Running,
                waker: WokenBy::Nobody,
                has_stack: true,
                is_on_path,
                other_tid: 0,
            },
        });
        self.note_sample(NO_LOCK);
    }

    /// What a thread has run since its last sample is that one's; without any, it is a sample without a stack.
    pub(super) fn charge_rest(&mut self, tid: i32) {
        [false, true]
            .into_iter()
            .for_each(|is_on_path| self.charge_part(tid, is_on_path));
    }

    fn charge_part(&mut self, tid: i32, is_on_path: bool) {
        let is_counted = self.counts(is_on_path);
        let Some(thread) = self.threads.get_mut(&tid) else {
            return;
        };
        let ns = std::mem::take(&mut thread.part(is_on_path).pending_ns);
        if ns == 0 || self.sources.account != Account::Wall || !is_counted {
            return;
        }
        let mut thread = *thread;
        let sample =
            (thread.part(is_on_path).sample).and_then(|at| self.samples.get_mut(at as usize));
        if let Some(sample) = sample {
            sample.ns = sample.ns.saturating_add(ns);
            return;
        }
        self.told.unsampled_ns = self.told.unsampled_ns.saturating_add(ns);
        self.told.n_unsampled += 1;
        let Some((offset, is_foreign)) = thread.switched else {
            return;
        };
        let unknown = SwitchOut {
            offset,
            has_stack: false,
            cause: Cause::Running,
            is_foreign,
            lock: NO_LOCK,
        };
        let running = (ThreadState::Running, None);
        self.push((tid, &unknown), (ns, is_on_path), running);
    }
}
