//! The state in which a thread left its CPU.

/// Why a thread does not run any more, as `sched:sched_switch` has it (`prev_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SwitchState {
    /// It could have gone on: `R`, or `R+` where the kernel took the CPU.
    Runnable,
    /// It sleeps until something happens, or a signal comes: `S`.
    Sleeping,
    /// It sleeps and takes no signals, mostly for a disk: `D`.
    Uninterruptible,
    /// It waits for work: a thread of the kernel, `I`.
    Idle,
    /// A signal stopped it: `T`.
    Stopped,
    /// A debugger stopped it: `t`.
    Traced,
    /// A thread of the kernel was parked: `P`.
    Parked,
    /// It has ended: `X` or `Z`.
    Dead,
    /// Another, or none that was recorded.
    Unknown,
}

impl SwitchState {
    /// What `print fmt` makes of `prev_state`: `S`, `R+`, `D|K`. Which bits these letters are differs between kernels.
    pub fn from_letters(letters: &str) -> Self {
        match letters.bytes().next() {
            Some(b'R') => Self::Runnable,
            Some(b'S') => Self::Sleeping,
            Some(b'D' | b'K') => Self::Uninterruptible,
            Some(b'I') => Self::Idle,
            Some(b'T') => Self::Stopped,
            Some(b't') => Self::Traced,
            Some(b'P') => Self::Parked,
            Some(b'X' | b'x' | b'Z') => Self::Dead,
            _ => Self::Unknown,
        }
    }

    /// The bits of `prev_state`, where no `print fmt` names them.
    ///
    /// Source: include/linux/sched.h and include/trace/events/sched.h (v4.14 to v6.18); 0x100 is `TASK_REPORT_MAX`.
    pub fn from_bits(bits: u64) -> Self {
        match bits & 0xff {
            0 => Self::Runnable,
            _ if bits & 0x100 != 0 => Self::Runnable,
            bits if bits & 0x01 != 0 => Self::Sleeping,
            bits if bits & 0x02 != 0 => Self::Uninterruptible,
            bits if bits & 0x04 != 0 => Self::Stopped,
            bits if bits & 0x08 != 0 => Self::Traced,
            bits if bits & 0x30 != 0 => Self::Dead,
            bits if bits & 0x40 != 0 => Self::Parked,
            _ => Self::Idle,
        }
    }

    /// Its letter.
    pub fn letter(self) -> char {
        match self {
            Self::Runnable => 'R',
            Self::Sleeping => 'S',
            Self::Uninterruptible => 'D',
            Self::Idle => 'I',
            Self::Stopped => 'T',
            Self::Traced => 't',
            Self::Parked => 'P',
            Self::Dead => 'X',
            Self::Unknown => '?',
        }
    }

    /// Whether it waits for something else than a CPU.
    pub fn is_blocked(self) -> bool {
        !matches!(self, Self::Runnable | Self::Dead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_letters_are_states() {
        let letters = ["R", "R+", "S", "D", "D|K", "I", "T", "t", "Z", "X", "P", ""];
        let states: String = letters
            .map(|letters| SwitchState::from_letters(letters).letter())
            .iter()
            .collect();
        assert_eq!(states, "RRSDDITtXXP?");
    }

    #[test]
    fn bits_are_those_of_recent_kernels() {
        let bits = [0, 1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x100, 0x101];
        let states: String = bits
            .map(|bits| SwitchState::from_bits(bits).letter())
            .iter()
            .collect();
        assert_eq!(states, "RSDTtXXPIRR");
    }
}
