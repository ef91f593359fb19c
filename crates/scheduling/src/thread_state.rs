//! What a thread does at a moment.

use crate::SwitchState;

/// What a thread does at a moment, by the words of `/proc/PID/status` where it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ThreadState {
    /// It is on a CPU.
    Running,
    /// It was woken, and waits for a CPU.
    Runnable,
    /// It had to leave its CPU, and waits for one.
    Preempted,
    /// It waits for something else, in the state in which it left its CPU.
    Blocked(SwitchState),
}

impl ThreadState {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Running,
        Self::Runnable,
        Self::Preempted,
        Self::Blocked(SwitchState::Sleeping),
        Self::Blocked(SwitchState::Uninterruptible),
        Self::Blocked(SwitchState::Idle),
        Self::Blocked(SwitchState::Stopped),
        Self::Blocked(SwitchState::Traced),
        Self::Blocked(SwitchState::Parked),
        Self::Blocked(SwitchState::Dead),
        Self::Blocked(SwitchState::Unknown),
    ];

    /// Its name. Where only SWITCH records tell of a wait, the state is not known: `blocked`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Runnable => "runnable",
            Self::Preempted => "preempted",
            Self::Blocked(state) => match state {
                SwitchState::Sleeping => "sleeping",
                SwitchState::Uninterruptible => "disk sleep",
                SwitchState::Idle => "idle",
                SwitchState::Stopped => "stopped",
                SwitchState::Traced => "tracing stop",
                SwitchState::Parked => "parked",
                SwitchState::Dead => "dead",
                SwitchState::Runnable | SwitchState::Unknown => "blocked",
            },
        }
    }

    /// Its place in [`Self::ALL`].
    pub fn number(self) -> u64 {
        let is_its = |one: &Self| one.name() == self.name();
        let at = Self::ALL.iter().position(is_its);
        at.unwrap_or(Self::ALL.len() - 1) as u64
    }

    /// The one at a place of [`Self::ALL`].
    pub fn from_number(number: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_states() {
        for (number, state) in (0..).zip(ThreadState::ALL) {
            assert_eq!(state.number(), number);
            assert_eq!(ThreadState::from_number(number), Some(state));
        }
        assert_eq!(ThreadState::from_number(11), None);
    }
}
