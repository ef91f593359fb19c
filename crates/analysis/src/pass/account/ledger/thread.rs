//! What is known of a thread beside what the scheduler knows.

use crate::pass::account::kernel_stacks::StackFacts;
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
    pub(super) has_exited: bool,
    /// Whether a sample says that it ran before anything else was known of it.
    pub(super) was_running: bool,
    /// Up to which moment its time on CPUs is in samples.
    pub(super) charged_ns: u64,
    /// Time on CPUs since its last sample.
    pub(super) pending_ns: u64,
    /// Its last sample on a CPU.
    pub(super) sample: Option<u32>,
    /// The record of its last switch, and whether that is another thread's.
    pub(super) switched: Option<(u64, bool)>,
}

/// A record with which a wait began.
#[derive(Clone, Copy, Debug)]
pub(super) struct SwitchOut {
    pub(super) offset: u64,
    pub(super) has_stack: bool,
    pub(super) cause: Cause,
    /// Whether it is another thread's.
    pub(super) is_foreign: bool,
}

impl SwitchOut {
    pub(super) fn of(step: &Step, facts: StackFacts) -> Self {
        Self {
            offset: step.offset,
            has_stack: step.has_stack,
            cause: facts.cause,
            is_foreign: false,
        }
    }

    /// Of another thread's record, whose stack says nothing of this one.
    pub(super) fn of_other(step: &Step) -> Self {
        Self {
            offset: step.offset,
            has_stack: false,
            cause: Cause::Unknown,
            is_foreign: true,
        }
    }
}

impl Thread {
    /// Adds time on a CPU, as far as samples do not have it.
    pub(super) fn charge(&mut self, start_ns: u64, end_ns: u64) {
        let from = start_ns.max(self.charged_ns);
        let ns = end_ns.saturating_sub(from);
        self.pending_ns = self.pending_ns.saturating_add(ns);
        self.charged_ns = self.charged_ns.max(end_ns);
    }
}
