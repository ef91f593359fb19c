//! What is known of a thread beside what the scheduler knows.

use crate::pass::account::kernel_stacks::StackFacts;
use crate::pass::account::locks::NO_LOCK;
use crate::pass::account::steps::Step;
use rprof_scheduling::Cause;

/// A thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Thread {
    /// The record at which it left its CPU, or was first woken; `None` while it runs.
    pub(super) left: Option<SwitchOut>,
    /// The one before the run that it is in.
    pub(super) came_from: Option<SwitchOut>,
    /// The sample that was taken as it left its CPU, where another record says that it did.
    pub(super) leaving: Option<SwitchOut>,
    /// The records that say that it left, and that it was woken since, if these are others.
    pub(super) left_at: Option<u64>,
    pub(super) woken_at: Option<u64>,
    pub(super) has_exited: bool,
    /// Whether a sample says that it ran before anything else was known of it.
    pub(super) was_running: bool,
    /// Up to which moment its time on CPUs is in samples.
    pub(super) charged_ns: u64,
    /// Its time off the critical path, and on it.
    parts: [OnCpu; 2],
    /// The record of its last switch, and whether that is another thread's.
    pub(super) switched: Option<(u64, bool)>,
}

/// A part of a thread's time on CPUs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OnCpu {
    /// What there was since the last sample.
    pub(super) pending_ns: u64,
    /// The last sample.
    pub(super) sample: Option<u32>,
}

/// A record with which a wait began.
#[derive(Clone, Copy, Debug)]
pub(super) struct SwitchOut {
    pub(super) offset: u64,
    pub(super) has_stack: bool,
    pub(super) cause: Cause,
    /// Whether it is another thread's.
    pub(super) is_foreign: bool,
    /// The address of the lock that is waited for; 0 if none is known.
    pub(super) lock: u64,
}

impl SwitchOut {
    pub(super) fn of(step: &Step, facts: StackFacts) -> Self {
        Self {
            offset: step.offset,
            has_stack: step.has_stack,
            cause: facts.cause,
            is_foreign: false,
            lock: NO_LOCK,
        }
    }

    /// Of another thread's record, whose stack says nothing of this one.
    pub(super) fn of_other(step: &Step) -> Self {
        Self {
            offset: step.offset,
            has_stack: false,
            cause: Cause::Unknown,
            is_foreign: true,
            lock: NO_LOCK,
        }
    }
}

impl Thread {
    /// Adds time on a CPU that samples do not have: off the critical path, and on it.
    pub(super) fn add_pending(&mut self, ns: [u64; 2]) {
        for (part, ns) in self.parts.iter_mut().zip(ns) {
            part.pending_ns = part.pending_ns.saturating_add(ns);
        }
    }

    /// Nobody knows where it is.
    pub(super) fn forget_place(&mut self) {
        (self.left, self.came_from, self.leaving) = (None, None, None);
        (self.left_at, self.woken_at) = (None, None);
    }

    /// Its time on the critical path, or off it.
    pub(super) fn part(&mut self, is_on_path: bool) -> &mut OnCpu {
        let [off, on] = &mut self.parts;
        if is_on_path { on } else { off }
    }
}
