//! What a thread does, with its times.

use rprof_scheduling::{Cause, SwitchState, ThreadState, WakeUp};

/// Something that a thread does. What threads do comes in the order in which it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadEvent {
    /// The thread.
    pub tid: i32,
    /// Its process; -1 if it is not known.
    pub pid: i32,
    /// What it does.
    pub activity: ThreadActivity,
}

/// What a thread does. Times are nanoseconds of the recording's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadActivity {
    /// It was on a CPU.
    Ran {
        /// Which one; `None` if not all records say on which CPU they are.
        cpu: Option<u32>,
        /// Since when; `None` if that was not recorded.
        start_ns: Option<u64>,
        /// Until when.
        end_ns: u64,
        /// The state in which it left; `None` if it was still there as the recording ended.
        left: Option<SwitchState>,
    },
    /// It was woken, whatever it did. The first wake-up in a wait ends it.
    Woken {
        /// The CPU of who did it, if that was recorded.
        cpu: Option<u32>,
        /// When, and who did it.
        woken: WakeUp,
    },
    /// It waited, for something or for a CPU.
    Waited {
        /// Since when.
        start_ns: u64,
        /// Until when.
        end_ns: u64,
        /// How.
        state: ThreadState,
        /// For what.
        cause: Cause,
        /// The wake-up that ended it, or that came before it.
        woken: Option<WakeUp>,
        /// Whether it went on as the recording ended.
        is_open: bool,
    },
    /// Records were lost: what it did from here on, until it is seen again, is not known.
    Lost {
        /// Since when.
        start_ns: u64,
    },
}
