//! Waits become samples: each in its parts, cut where spans and critical paths begin and end.

use super::{Ledger, SwitchOut};
use crate::pass::account::activity::ThreadActivity;
use crate::pass::account::locks::NO_LOCK;
use crate::samples::{AccountedSample, SampleSpan, Stretch, WokenBy};
use rprof_scheduling::{ThreadState, Wait, WaitPart, WakeUp, wait_parts};
use std::ops::Range;

impl Ledger<'_> {
    /// Adds a wait up to `end_ns`.
    pub(super) fn add_wait(
        &mut self,
        tid: i32,
        (wait, woken): (Option<Wait>, Option<WakeUp>),
        end_ns: u64,
    ) {
        let thread = self.threads.entry(tid).or_default();
        let was_running = std::mem::take(&mut thread.was_running);
        let is_known = wait.is_some() || woken.is_some();
        // One that runs came from where its wait began.
        let left = thread.came_from.take().or(thread.left);
        let Some(left) = left.filter(|_| is_known) else {
            // What began in a pause is said to be unknown with the rest of it.
            let is_begun = !was_running && self.told.n_pauses == 0;
            self.told.n_begun += u64::from(is_begun);
            return;
        };
        let woken_ns = woken.map_or(end_ns, |woken| woken.time_ns);
        let start_ns = wait.map_or(woken_ns, |wait| wait.start_ns);
        if self.followed.misses_cpus {
            self.told.note_elsewhere(end_ns.saturating_sub(start_ns));
            self.tell(tid, ThreadActivity::Lost { start_ns });
            return;
        }
        if let Some(gap_ns) = self.lost.first(start_ns, end_ns) {
            self.told.note_lost(end_ns.saturating_sub(start_ns));
            self.tell(tid, ThreadActivity::Lost { start_ns: gap_ns });
            return;
        }
        let since_ns = self.since_ns;
        let counted = wait_parts(wait, woken, end_ns).map(|part| WaitPart {
            start_ns: part.start_ns.max(since_ns),
            ..part
        });
        for part in counted.filter(|part| part.ns() > 0) {
            let waited = ThreadActivity::Waited {
                start_ns: part.start_ns,
                end_ns: part.end_ns,
                state: part.state,
                cause: left.cause.in_state(part.state),
                woken: part.woken,
                is_open: self.is_over && part.end_ns == end_ns,
            };
            self.tell(tid, waited);
            let Some(spans) = self.spans else {
                self.push_part((tid, &left), part.start_ns..part.end_ns, &part);
                continue;
            };
            let mut start_ns = part.start_ns;
            for (ns, span) in spans.parts(tid, (part.start_ns, part.end_ns)) {
                self.next_span = span.into();
                self.push_part((tid, &left), start_ns..start_ns + ns, &part);
                start_ns += ns;
            }
            self.next_span = SampleSpan::ByRecord;
        }
    }

    /// A part of a wait, or of such a part: on the critical path, or off it.
    fn push_part(&mut self, task: (i32, &SwitchOut), range: Range<u64>, part: &WaitPart) {
        let parts = self.split(task.0, range);
        for (is_on_path, ns) in [false, true].into_iter().zip(parts) {
            if ns > 0 {
                self.push(task, (ns, is_on_path), (part.state, part.woken));
            }
        }
    }

    /// A CPU, if it is one: numbers may stand for what is not known.
    pub(super) fn known_cpu(&self, cpu: u32) -> Option<u32> {
        let is_known = self.sources.have_cpus && i32::try_from(cpu).is_ok();
        is_known.then_some(cpu)
    }

    pub(super) fn push(
        &mut self,
        (tid, left): (i32, &SwitchOut),
        (ns, is_on_path): (u64, bool),
        (state, woken): (ThreadState, Option<WakeUp>),
    ) {
        if !self.counts(is_on_path) {
            return;
        }
        let waker = woken.map(|woken| woken.waker);
        let woken_ns = woken.map_or(0, |woken| woken.time_ns);
        if left.is_foreign {
            self.foreign.insert(tid);
        }
        self.samples.push(AccountedSample {
            offset: left.offset,
            ns,
            stretch: Stretch {
                state,
                cause: left.cause.in_state(state),
                waker: WokenBy::of(waker, state, |tid| (self.name_at)(tid, woken_ns)),
                has_stack: left.has_stack,
                is_on_path,
                other_tid: if left.is_foreign { tid } else { 0 },
            },
        });
        let is_blocked = matches!(state, ThreadState::Blocked(_));
        self.note_sample(if is_blocked { left.lock } else { NO_LOCK });
    }

    /// Notes the span and the lock of the sample that was made last.
    pub(super) fn note_sample(&mut self, lock: u64) {
        if self.spans.is_some() {
            self.sample_spans.push(self.next_span);
        }
        if self.locks.is_some() {
            self.sample_locks.push(lock);
        }
    }
}
