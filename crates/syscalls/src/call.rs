//! [`Syscall`]: one call, with as much of it as was recorded.

use crate::SyscallResult;

/// A system call of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Syscall<S> {
    /// The process.
    pub pid: i32,
    /// The thread.
    pub tid: i32,
    /// Which call.
    pub id: SyscallId,
    /// When it began, nanoseconds, and what it was passed; `None` if that was not recorded.
    pub entry: Option<SyscallEntry<S>>,
    /// How it ended.
    pub end: SyscallEnd,
}

/// Which system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SyscallId {
    /// Its number.
    pub number: i64,
    /// Whether the task is a 32-bit one of a 64-bit kernel: then the number is one of that ABI.
    pub is_32_bit: bool,
}

/// `__X32_SYSCALL_BIT`; arch/x86/include/uapi/asm/unistd.h.
pub(crate) const X32_BIT: i64 = 0x4000_0000;

impl SyscallId {
    /// A call of a task which is a 32-bit one, as far as its addresses tell. Those of x32 have addresses of 32 bits, and
    /// numbers of the 64-bit kernel's with a bit of their own.
    pub fn new(number: i64, is_32_bit: bool) -> Self {
        let is_x32 = number > 0 && number & X32_BIT != 0;
        Self {
            number,
            is_32_bit: is_32_bit && !is_x32,
        }
    }

    /// Whether the number is one of x32, if the machine is x86-64.
    pub fn has_x32_bit(self) -> bool {
        !self.is_32_bit && self.number > 0 && self.number & X32_BIT != 0
    }
}

/// The beginning of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyscallEntry<S> {
    /// When, nanoseconds.
    pub time_ns: u64,
    /// What was passed.
    pub args: [u64; 6],
    /// The stack, or what else the caller has of it.
    pub stack: S,
}

/// The end of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyscallEnd {
    /// It returned.
    Returned {
        /// When, nanoseconds.
        time_ns: u64,
        /// What.
        result: SyscallResult,
    },
    /// No return was recorded.
    Unfinished(Unfinished),
}

/// Why no return was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unfinished {
    /// The thread ended in it: `exit`, or it was killed.
    ThreadEnded,
    /// The recording ended before.
    RecordingEnded,
    /// The thread did other things after it: the return is lost.
    Lost,
}

impl<S> Syscall<S> {
    /// How long it took, nanoseconds; `None` if either end was not recorded.
    pub fn ns(&self) -> Option<u64> {
        match (&self.entry, self.end) {
            (Some(entry), SyscallEnd::Returned { time_ns, .. }) => {
                Some(time_ns.saturating_sub(entry.time_ns))
            }
            _ => None,
        }
    }

    /// What it returned.
    pub fn result(&self) -> Option<SyscallResult> {
        match self.end {
            SyscallEnd::Returned { result, .. } => Some(result),
            SyscallEnd::Unfinished(_) => None,
        }
    }
}
