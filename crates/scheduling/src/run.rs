//! What a thread did: a run, and the wait before it.

use crate::SwitchState;

/// A thread on a CPU, from switch to switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadRun {
    /// The thread; 0 is the CPU's idle task.
    pub tid: i32,
    /// The CPU.
    pub cpu: u32,
    /// When it was switched in, nanoseconds; `None` if that was before the recording, or is lost.
    pub start_ns: Option<u64>,
    /// When it was switched out.
    pub end_ns: u64,
    /// The state in which it was switched out.
    pub state: SwitchState,
    /// The wait that ended as it was switched in, or before that if nobody knows when it was; `None` if its beginning was
    /// not recorded.
    pub wait: Option<Wait>,
    /// The wake-up before it, whether or not the beginning of the wait is known.
    pub woken: Option<WakeUp>,
    /// Records were lost meanwhile: it may have left its CPU and come back.
    pub is_lost: bool,
    /// Records were lost while it waited before: it may have run elsewhere.
    pub is_wait_lost: bool,
}

/// A thread without a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// When it was switched out, nanoseconds.
    pub start_ns: u64,
    /// The state in which it was.
    pub state: SwitchState,
}

/// What ended a wait for something else than a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WakeUp {
    /// When, nanoseconds.
    pub time_ns: u64,
    /// Who did it.
    pub waker: Waker,
}

/// Who wakes a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Waker {
    /// A thread.
    Thread(i32),
    /// A timer that ran out, whichever thread it interrupted.
    Timer,
    /// Another interrupt, whichever thread it interrupted.
    Interrupt,
    /// The work that an interrupt left behind. What a thread sends to a socket of the same machine is the thread's doing.
    SoftInterrupt,
    /// Not known: the recording does not say.
    Unknown,
}

impl Waker {
    /// Its name; that of threads is what they are called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Thread(_) => "",
            Self::Timer => "[timer]",
            Self::Interrupt => "[irq]",
            Self::SoftInterrupt => "[softirq]",
            Self::Unknown => "[unknown]",
        }
    }
}

/// What a thread does when the recording ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// When it was switched in, nanoseconds; `None` if it waits.
    pub start_ns: Option<u64>,
    /// The wait that it is in, or that ended as it was switched in.
    pub wait: Option<Wait>,
    /// The wake-up in that wait.
    pub woken: Option<WakeUp>,
    /// Records were lost while it ran.
    pub is_lost: bool,
    /// Records were lost while it waited before.
    pub is_wait_lost: bool,
}

impl Open {
    /// How long it has run up to a moment, nanoseconds; 0 if that is not known.
    pub fn ran_ns(&self, end_ns: u64) -> u64 {
        let start_ns = self.start_ns.filter(|_| !self.is_lost);
        start_ns.map_or(0, |start| end_ns.saturating_sub(start))
    }
}

impl ThreadRun {
    /// How long it ran, nanoseconds; 0 if that is not known.
    pub fn ran_ns(&self) -> u64 {
        let start_ns = self.start_ns.filter(|_| !self.is_lost);
        start_ns.map_or(0, |start| self.end_ns.saturating_sub(start))
    }

    /// How long it had waited, nanoseconds, for whatever it was; 0 if its beginning is not known.
    pub fn waited_ns(&self) -> u64 {
        let wait = self.start_ns.zip(self.wait);
        wait.map_or(0, |(start, wait)| start.saturating_sub(wait.start_ns))
    }

    /// How long after its wake-up it was switched in, nanoseconds; 0 without one.
    pub fn delay_ns(&self) -> u64 {
        let woken = self.start_ns.zip(self.woken);
        woken.map_or(0, |(start, woken)| start.saturating_sub(woken.time_ns))
    }
}
