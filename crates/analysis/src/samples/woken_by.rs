//! Who ended a wait, as a value that samples are told apart by.

use crate::locations::{TaskName, comm_text};
use rprof_base::Id;
use rprof_machine::{CommId, History};
use rprof_scheduling::{ThreadState, Waker};
use std::borrow::Cow;

/// Who ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WokenBy {
    /// The thread runs, or waits for a CPU that it had to leave: nobody wakes it.
    Nobody,
    /// Not known: it was not recorded.
    Unknown,
    /// A timer that ran out, whichever thread it interrupted.
    Timer,
    /// Another interrupt.
    Interrupt,
    /// The work that an interrupt left behind.
    SoftInterrupt,
    /// A thread, by its name as it did so.
    Thread(TaskName),
}

/// Those that are no threads, by number.
const OTHERS: [WokenBy; 5] = [
    WokenBy::Nobody,
    WokenBy::Unknown,
    WokenBy::Timer,
    WokenBy::Interrupt,
    WokenBy::SoftInterrupt,
];

/// What numbers of threads have above the number of their name, or their id.
const NAMED: u64 = 1;
const UNNAMED: u64 = 2;

impl WokenBy {
    /// Who ended a stretch of waiting: `name` is what a thread was called then.
    pub(crate) fn of(
        waker: Option<Waker>,
        state: ThreadState,
        name: impl FnOnce(i32) -> TaskName,
    ) -> Self {
        match (waker, state) {
            (Some(Waker::Thread(tid)), _) => Self::Thread(name(tid)),
            (Some(Waker::Timer), _) => Self::Timer,
            (Some(Waker::Interrupt), _) => Self::Interrupt,
            (Some(Waker::SoftInterrupt), _) => Self::SoftInterrupt,
            (Some(Waker::Unknown), _) | (None, ThreadState::Blocked(_)) => Self::Unknown,
            (None, _) => Self::Nobody,
        }
    }

    pub(crate) fn number(self) -> u64 {
        let of = |kind: u64, number: u32| kind << 32 | u64::from(number);
        match self {
            Self::Thread(TaskName::Known(comm)) => of(NAMED, comm.number()),
            Self::Thread(TaskName::Unnamed(tid)) => of(UNNAMED, tid.cast_unsigned()),
            Self::Thread(TaskName::Idle) => Self::Unknown.number(),
            other => OTHERS.iter().position(|&one| one == other).unwrap_or(0) as u64,
        }
    }

    pub(crate) fn from_number(number: u64) -> Self {
        let low = u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default();
        match number >> 32 {
            0 => {
                let other = OTHERS.get(low as usize);
                other.copied().unwrap_or(Self::Unknown)
            }
            NAMED => Self::Thread(TaskName::Known(CommId::from_number(low))),
            UNNAMED => Self::Thread(TaskName::Unnamed(low.cast_signed())),
            _ => Self::Unknown,
        }
    }

    /// What it is called.
    pub(crate) fn text(self, history: &History) -> Cow<'_, str> {
        match self {
            Self::Nobody => "[none]".into(),
            Self::Unknown => Waker::Unknown.name().into(),
            Self::Timer => Waker::Timer.name().into(),
            Self::Interrupt => Waker::Interrupt.name().into(),
            Self::SoftInterrupt => Waker::SoftInterrupt.name().into(),
            Self::Thread(name) => comm_text(history, name).into_raw(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_wakers() {
        let named = [0, 7].map(|comm| TaskName::Known(CommId::from_number(comm)));
        let threads = [named[0], named[1], TaskName::Unnamed(9)].map(WokenBy::Thread);
        for one in OTHERS.into_iter().chain(threads) {
            assert_eq!(WokenBy::from_number(one.number()), one);
        }
        assert_eq!(WokenBy::from_number(u64::MAX), WokenBy::Unknown);
    }

    #[test]
    fn a_thread_is_called_what_it_was_called_then() {
        let state = ThreadState::Blocked(rprof_scheduling::SwitchState::Sleeping);
        let woken = |waker| WokenBy::of(waker, state, TaskName::Unnamed);
        let thread = WokenBy::Thread(TaskName::Unnamed(7));
        assert_eq!(woken(Some(Waker::Thread(7))), thread);
        assert_eq!(
            [woken(Some(Waker::Unknown)), woken(None)],
            [WokenBy::Unknown; 2]
        );
    }
}
