//! Who ended a wait, as a value that samples are told apart by.

use crate::locations::{TaskName, comm_text};
use crate::samples::Stretch;
use rprof_machine::{History, Key};
use rprof_scheduling::{ThreadState, Waker};
use std::borrow::Cow;

/// Who ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WokenBy {
    /// The thread runs, or waits for a CPU that it had to leave: nobody wakes it.
    Nobody,
    /// Whoever it was, it was not recorded.
    Unknown,
    /// A thread, or an interrupt.
    Waker(Waker),
}

/// Those that are no threads, by number.
const OTHERS: [WokenBy; 5] = [
    WokenBy::Nobody,
    WokenBy::Unknown,
    WokenBy::Waker(Waker::Timer),
    WokenBy::Waker(Waker::Interrupt),
    WokenBy::Waker(Waker::SoftInterrupt),
];

/// The bit of numbers of threads; their id is below it.
const THREAD: u64 = 1 << 32;

impl WokenBy {
    /// Who ended a stretch of waiting.
    pub(super) fn of(stretch: &Stretch) -> Self {
        match (stretch.waker, stretch.state) {
            (Some(waker), _) => Self::Waker(waker),
            (None, ThreadState::Blocked(_)) => Self::Unknown,
            (None, _) => Self::Nobody,
        }
    }

    pub(super) fn number(self) -> u64 {
        match self {
            Self::Waker(Waker::Thread(tid)) => THREAD | u64::from(tid.cast_unsigned()),
            other => OTHERS.iter().position(|&one| one == other).unwrap_or(0) as u64,
        }
    }

    pub(super) fn from_number(number: u64) -> Self {
        match u32::try_from(number & !THREAD) {
            Ok(tid) if number & THREAD != 0 => Self::Waker(Waker::Thread(tid.cast_signed())),
            _ => {
                let other = usize::try_from(number).ok().and_then(|at| OTHERS.get(at));
                other.copied().unwrap_or(Self::Unknown)
            }
        }
    }

    /// What it is called: threads as they were at last.
    pub(super) fn text(self, history: &History) -> Cow<'_, str> {
        match self {
            Self::Nobody => "[none]".into(),
            Self::Unknown => "[unknown]".into(),
            Self::Waker(Waker::Thread(tid)) => {
                comm_text(history, TaskName::at(history, tid, Key::LAST)).into_raw()
            }
            Self::Waker(other) => other.name().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_wakers() {
        let threads = [0, 7, -1].map(|tid| WokenBy::Waker(Waker::Thread(tid)));
        for one in OTHERS.into_iter().chain(threads) {
            assert_eq!(WokenBy::from_number(one.number()), one);
        }
        assert_eq!(WokenBy::from_number(u64::MAX), WokenBy::Unknown);
    }
}
