//! Why an event could not be opened, a ring not mapped, a record not read; told apart so that
//! a caller can name the one thing to do.

use std::io;

/// `perf_event_open` failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// EACCES: `perf_event_paranoid`, or another user's process.
    #[error("not permitted (EACCES)")]
    Access,
    /// EPERM: a seccomp filter, as container runtimes install, or a missing capability.
    #[error("forbidden (EPERM)")]
    Forbidden,
    /// ENOENT, ENODEV, EOPNOTSUPP, ENXIO: this machine has no such event.
    #[error("no such event on this machine")]
    NoSuchEvent,
    /// ESRCH: the process or thread is gone.
    #[error("no such process or thread")]
    NoSuchTask,
    /// EMFILE, ENFILE: too many open files.
    #[error("too many open files")]
    TooManyFiles,
    /// EINVAL: the kernel does not take this combination.
    #[error("the kernel refuses these settings (EINVAL)")]
    Invalid,
    /// E2BIG: the attr has fields that this kernel does not know.
    #[error("the kernel does not know some of these settings (E2BIG)")]
    TooNew,
    /// EBUSY: the PMU is taken.
    #[error("the counter is in use by another profiler (EBUSY)")]
    Busy,
    /// ENOSYS: the kernel lacks the system call, or a seccomp filter says so.
    #[error("perf_event_open is not available (ENOSYS)")]
    NoSystemCall,
    /// Anything else.
    #[error("perf_event_open: {0}")]
    Other(io::Error),
}

impl OpenError {
    pub(crate) fn from_errno(error: io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::EACCES) => Self::Access,
            Some(libc::EPERM) => Self::Forbidden,
            Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP | libc::ENXIO) => Self::NoSuchEvent,
            Some(libc::ESRCH) => Self::NoSuchTask,
            Some(libc::EMFILE | libc::ENFILE) => Self::TooManyFiles,
            Some(libc::EINVAL) => Self::Invalid,
            Some(libc::E2BIG) => Self::TooNew,
            Some(libc::EBUSY) => Self::Busy,
            Some(libc::ENOSYS) => Self::NoSystemCall,
            _ => Self::Other(error),
        }
    }
}

/// A ring could not be mapped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// EPERM: the user's budget of locked memory is used up
    /// (`/proc/sys/kernel/perf_event_mlock_kb` for each CPU, then `RLIMIT_MEMLOCK`).
    #[error("no locked memory left for a ring of {pages} pages")]
    MlockBudget {
        /// Data pages that were asked for.
        pages: usize,
    },
    /// The number of data pages is not a power of two.
    #[error("the number of pages of a ring must be a power of two, not {pages}")]
    NotPowerOfTwo {
        /// Data pages that were asked for.
        pages: usize,
    },
    /// The kernel's user page describes an area outside of the mapping.
    #[error(
        "the kernel reports a ring of {size} bytes at offset {offset} in a mapping of {len} bytes"
    )]
    BadUserPage {
        /// `data_offset`, bytes.
        offset: u64,
        /// `data_size`, bytes.
        size: u64,
        /// Length of the mapping, bytes.
        len: usize,
    },
    /// Anything else.
    #[error("{0}")]
    Other(io::Error),
}

/// A ring holds something that is no record; the rest of the batch is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RingError {
    /// A record's size is below its header's, or beyond what the ring holds.
    #[error(
        "record of {size} bytes at ring position {position}, where {available} bytes are available"
    )]
    BadRecordSize {
        /// What its header says, bytes.
        size: u16,
        /// Position since the ring was made, bytes.
        position: u64,
        /// Bytes up to the head.
        available: u64,
    },
    /// The head moved further than the ring is long: records were overwritten.
    #[error("ring overrun: {unread} bytes unread in a ring of {size}")]
    Overrun {
        /// Bytes between tail and head.
        unread: u64,
        /// Bytes of the ring.
        size: u64,
    },
}
