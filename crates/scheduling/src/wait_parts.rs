//! A wait in its parts: until the wake-up for something else, from then on for a CPU.

use crate::{SwitchState, ThreadState, Wait, WakeUp};

/// A part of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitPart {
    /// When it began, nanoseconds.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// What the thread did.
    pub state: ThreadState,
    /// The wake-up that ended it, or that was before it.
    pub woken: Option<WakeUp>,
}

impl WaitPart {
    /// How long it took, nanoseconds.
    pub fn ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

/// The parts of a wait that ended at `end_ns`, in order. If it is not known how it began, it is known from its wake-up on.
pub fn wait_parts(
    wait: Option<Wait>,
    woken: Option<WakeUp>,
    end_ns: u64,
) -> impl Iterator<Item = WaitPart> {
    let preempted = wait.filter(|wait| wait.state == SwitchState::Runnable);
    let first = wait.map(|wait| match preempted {
        Some(_) => WaitPart {
            start_ns: wait.start_ns,
            end_ns,
            state: ThreadState::Preempted,
            woken: None,
        },
        None => WaitPart {
            start_ns: wait.start_ns,
            end_ns: woken.map_or(end_ns, |woken| woken.time_ns.min(end_ns)),
            state: ThreadState::Blocked(wait.state),
            woken,
        },
    });
    let second = woken.filter(|_| preempted.is_none()).map(|woken| WaitPart {
        start_ns: woken.time_ns,
        end_ns,
        state: ThreadState::Runnable,
        woken: Some(woken),
    });
    first.into_iter().chain(second)
}
