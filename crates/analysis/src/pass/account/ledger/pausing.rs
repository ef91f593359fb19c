//! Where a recording was paused, what threads did is known up to there, and then again once they are seen.

use super::{AwaitedLocks, Ledger, Thread};
use crate::pass::account::activity::ThreadActivity;
use crate::pass::account::steps::{Step, What};
use rprof_scheduling::{Open, SwitchState, ThreadRun};
use std::ops::RangeInclusive;

impl Ledger<'_> {
    /// Says when the recording was paused: in order, apart from each other.
    pub(in crate::pass::account) fn set_pauses(&mut self, mut pauses: Vec<RangeInclusive<u64>>) {
        pauses.reverse();
        self.pauses = pauses;
    }

    /// Whether a step is from a pause, when only some of what happens is recorded. That threads are made and end is true
    /// at any time.
    pub(super) fn is_paused_at(&mut self, step: &Step) -> bool {
        if self.pauses.is_empty() && !self.is_in_pause {
            return false;
        }
        self.pause_until(step.time_ns);
        let is_of_ends = matches!(step.what, What::Birth { .. } | What::Exit);
        let resumed_ns = self.scheduler.resumed_ns();
        self.is_in_pause = resumed_ns.is_some_and(|resumed_ns| step.time_ns < resumed_ns);
        self.is_in_pause && !is_of_ends
    }

    /// Takes all pauses that have begun at a moment.
    pub(super) fn pause_until(&mut self, time_ns: u64) {
        while let Some(pause) = self.pauses.pop_if(|pause| *pause.start() <= time_ns) {
            self.pause(pause);
        }
    }

    fn pause(&mut self, pause: RangeInclusive<u64>) {
        let (from_ns, to_ns) = pause.into_inner();
        let open = self.scheduler.pause(to_ns);
        self.told
            .note_pause(!open.is_empty(), to_ns.saturating_sub(from_ns));
        for (tid, (open, cpu)) in open {
            self.end_at_pause(tid, (&open, cpu), from_ns);
        }
        for thread in self.threads.values_mut() {
            thread.forget_place();
            thread.charged_ns = thread.charged_ns.max(to_ns);
        }
        self.gone.clear();
        if let Some(locks) = &mut self.locks {
            *locks = AwaitedLocks::default();
        }
    }

    /// What a thread did counts up to the pause.
    fn end_at_pause(&mut self, tid: i32, (open, cpu): (&Open, u32), from_ns: u64) {
        let has_exited = |thread: &Thread| thread.has_exited;
        if self.threads.get(&tid).is_some_and(has_exited) {
            return;
        }
        let waits_until = open.start_ns.unwrap_or(from_ns);
        self.add_wait(tid, (open.wait, open.woken), waits_until);
        if let Some(start_ns) = open.start_ns {
            let run = ThreadRun {
                tid,
                cpu,
                start_ns: Some(start_ns),
                end_ns: from_ns,
                state: SwitchState::Unknown,
                wait: open.wait,
                woken: open.woken,
                is_lost: false,
                is_wait_lost: false,
            };
            self.note_run(&run);
            self.charge((tid, cpu), start_ns, from_ns);
            self.tell_run(&run, Some(SwitchState::Unknown));
        }
        self.tell(tid, ThreadActivity::Lost { start_ns: from_ns });
    }
}
