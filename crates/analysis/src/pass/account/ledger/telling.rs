//! What threads do is told as soon as it is known.

use super::Ledger;
use crate::pass::account::activity::{ThreadActivity, ThreadEvent};
use rprof_scheduling::{SwitchState, ThreadRun};

/// Who is told what threads do.
pub(super) type Listener<'a> = &'a mut dyn FnMut(ThreadEvent);

impl<'a> Ledger<'a> {
    /// Tells what threads do, when it is known.
    pub(in crate::pass::account) fn told_to(self, listener: Listener<'a>) -> Self {
        Self {
            listener: Some(listener),
            ..self
        }
    }

    pub(super) fn tell(&mut self, tid: i32, activity: ThreadActivity) {
        let pid = self.pid(tid);
        if let Some(listener) = &mut self.listener {
            listener(ThreadEvent { tid, pid, activity });
        }
    }

    /// A run ended; one that goes on has left no CPU.
    pub(super) fn tell_run(&mut self, run: &ThreadRun, left: Option<SwitchState>) {
        let ran = |start_ns, end_ns, left| ThreadActivity::Ran {
            cpu: Some(run.cpu).filter(|_| self.sources.have_cpus),
            start_ns,
            end_ns,
            left,
        };
        let start_ns = run.start_ns;
        let cpu = self.known_cpu(run.cpu);
        let lost_on = |start_ns| self.lost.first_on(cpu, start_ns, run.end_ns);
        let gap = start_ns.and_then(lost_on);
        let whole = ran(start_ns.filter(|_| gap.is_none()), run.end_ns, left);
        // It may have left meanwhile.
        if let Some(gap_ns) = gap {
            let known = ran(start_ns, gap_ns, Some(SwitchState::Unknown));
            self.tell(run.tid, known);
        }
        self.tell(run.tid, whole);
    }
}
