//! Every system call that std does not offer, each as one small safe function.

#![expect(
    unsafe_code,
    reason = "the project's door to libc; see the SAFETY comments"
)]

mod calls;
mod counting;
mod files;
mod keys;
mod memory;
mod mount;
pub mod ptrace;
mod rights;
mod signals;

use calls::check;
pub use calls::effective_uid;
pub(crate) use calls::read;
pub use counting::enable_own_counters;
pub(crate) use counting::{READS_COUNTERS, cycles, performance_counter};
pub use files::{OpenFilesLimit, stack_limit};
pub use keys::KeyByKey;
pub use memory::{give_back_free_memory, reuse_free_memory};
pub use mount::{detached_tracefs, mount_tracefs};
pub use rights::Rights;
pub use signals::{Signal, Signals, SignalsAtStart, restore_signals_of_start, suspend_process};

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::time::Duration;

/// What the first number of `perf_event_open` is of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OpenFlags {
    /// A task, or nobody.
    Task,
    /// A control group's folder (`PERF_FLAG_PID_CGROUP`).
    Cgroup,
}

/// `perf_event_open(2)` with close-on-exec. `attr` is written to on E2BIG (the kernel puts the size
/// it knows into the size field). `text` is what its `config1` points to.
pub(crate) fn perf_event_open(
    attr: &mut [u8],
    pid: i32,
    cpu: i32,
    of_what: OpenFlags,
    leader: Option<BorrowedFd<'_>>,
    text: Option<&CStr>,
) -> io::Result<OwnedFd> {
    const CONFIG1: std::ops::Range<usize> = 56..64;
    if let (Some(text), Some(config1)) = (text, attr.get_mut(CONFIG1)) {
        // The kernel copies it before the call returns, and `text` is borrowed for longer.
        let address = text.as_ptr().expose_provenance() as u64;
        config1.copy_from_slice(&address.to_ne_bytes());
    }
    const PERF_FLAG_PID_CGROUP: libc::c_ulong = 4;
    const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 8;
    let flags = match of_what {
        OpenFlags::Task => PERF_FLAG_FD_CLOEXEC,
        OpenFlags::Cgroup => PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP,
    };
    let leader: RawFd = leader.map_or(-1, |leader| leader.as_raw_fd());
    // SAFETY: `attr` starts with its own size, which is its length (PerfEventAttr::encode).
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            attr.as_mut_ptr(),
            pid,
            cpu,
            leader,
            flags,
        )
    };
    let fd = RawFd::try_from(fd).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    check(fd)?;
    // SAFETY: the kernel just gave it to us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Requests without an answer.
pub(crate) enum PerfIoctl<'a> {
    Enable,
    Disable,
    Reset,
    EnableGroup,
    DisableGroup,
    ResetGroup,
    SetOutput(RawFd),
    NoOutput,
    /// Which hits of a tracepoint count.
    SetFilter(&'a CStr),
    /// Whether its ring takes nothing.
    PauseOutput(bool),
    /// Starts it, until it has overflown once. Never of cpu-clock: that freezes 6.16 and 6.17 kernels.
    Refresh,
}

/// Request numbers of `include/uapi/linux/perf_event.h` (v6.12); `_IO` and `_IOR` on all
/// architectures that put no direction bits elsewhere.
pub(crate) fn perf_ioctl(fd: BorrowedFd<'_>, request: PerfIoctl<'_>) -> io::Result<()> {
    const PERF_IOC_FLAG_GROUP: usize = 1;
    let number_of = ptr::without_provenance;
    let (number, argument): (libc::c_ulong, *const libc::c_char) = match request {
        PerfIoctl::Enable => (0x2400, number_of(0)),
        PerfIoctl::Disable => (0x2401, number_of(0)),
        PerfIoctl::Reset => (0x2403, number_of(0)),
        PerfIoctl::EnableGroup => (0x2400, number_of(PERF_IOC_FLAG_GROUP)),
        PerfIoctl::DisableGroup => (0x2401, number_of(PERF_IOC_FLAG_GROUP)),
        PerfIoctl::ResetGroup => (0x2403, number_of(PERF_IOC_FLAG_GROUP)),
        PerfIoctl::SetOutput(owner) => {
            let owner = usize::try_from(owner).map_err(|_| io::ErrorKind::InvalidInput)?;
            (0x2405, number_of(owner))
        }
        PerfIoctl::NoOutput => (0x2405, number_of(usize::MAX)),
        PerfIoctl::SetFilter(filter) => (0x4008_2406, filter.as_ptr()),
        PerfIoctl::Refresh => (0x2402, number_of(1)),
        PerfIoctl::PauseOutput(is_paused) => (0x4004_2409, number_of(is_paused.into())),
    };
    // SAFETY: these requests take a number, or a text that ends with NUL and outlives the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), number as libc::Ioctl, argument) }).map(drop)
}

/// `PERF_EVENT_IOC_PERIOD`.
pub(crate) fn perf_event_period(fd: BorrowedFd<'_>, period: u64) -> io::Result<()> {
    let request: libc::c_ulong = 0x4008_2404;
    // SAFETY: the kernel reads 8 bytes of `period`, which outlives the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), request as libc::Ioctl, &raw const period) })
        .map(drop)
}

/// `PERF_EVENT_IOC_ID`.
pub(crate) fn perf_event_id(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let mut id = 0u64;
    let request: libc::c_ulong = 0x8008_2407;
    // SAFETY: the kernel writes 8 bytes to `id`, which outlives the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), request as libc::Ioctl, &raw mut id) })?;
    Ok(id)
}

/// `poll(2)`; EINTR counts as no event.
pub(crate) fn poll(fds: &mut [libc::pollfd], timeout: Duration) -> io::Result<()> {
    let millis = i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX);
    let n = libc::nfds_t::try_from(fds.len()).unwrap_or(libc::nfds_t::MAX);
    // SAFETY: `fds` is a slice of `n` initialised entries.
    match check(unsafe { libc::poll(fds.as_mut_ptr(), n, millis) }) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {
            fds.iter_mut().for_each(|fd| fd.revents = 0);
            Ok(())
        }
        other => other.map(drop),
    }
}

/// Whether the other end of a terminal is gone.
pub fn is_hung_up(terminal: BorrowedFd<'_>) -> bool {
    let mut fds = [libc::pollfd {
        fd: terminal.as_raw_fd(),
        events: 0,
        revents: 0,
    }];
    let gone = libc::POLLHUP | libc::POLLERR | libc::POLLNVAL;
    poll(&mut fds, Duration::ZERO).is_ok() && fds[0].revents & gone != 0
}

/// Bytes of a page.
pub fn page_size() -> usize {
    // SAFETY: no pointers.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

/// The id of this thread.
pub fn thread_id() -> i32 {
    // SAFETY: no pointers, cannot fail.
    unsafe { libc::gettid() }
}

/// Lets this thread, and those that it starts meanwhile, run before others; one that may not is left
/// as is. Until the value is dropped, by the same thread.
#[must_use]
pub fn run_before_others() -> PriorityGuard {
    // SAFETY: no pointers; of ourselves it cannot fail.
    let before = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
    // SAFETY: no pointers.
    let _ = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) };
    PriorityGuard { before }
}

/// Keeps a thread before others.
#[derive(Debug)]
pub struct PriorityGuard {
    before: libc::c_int,
}

impl Drop for PriorityGuard {
    fn drop(&mut self) {
        // SAFETY: no pointers.
        let _ = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, self.before) };
    }
}

/// The clocks of `attr.clockid`, and our own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// `CLOCK_MONOTONIC`.
    #[default]
    Monotonic,
    /// `CLOCK_MONOTONIC_RAW`.
    MonotonicRaw,
    /// `CLOCK_REALTIME`.
    Realtime,
    /// `CLOCK_PROCESS_CPUTIME_ID`: what this process has had of the CPUs. Not for events.
    OwnCpu,
    /// `CLOCK_BOOTTIME`.
    Boottime,
    /// `CLOCK_TAI`.
    Tai,
}

impl Clock {
    /// The kernel's number for it.
    pub fn id(self) -> i32 {
        match self {
            Self::Monotonic => libc::CLOCK_MONOTONIC,
            Self::MonotonicRaw => libc::CLOCK_MONOTONIC_RAW,
            Self::Realtime => libc::CLOCK_REALTIME,
            Self::OwnCpu => libc::CLOCK_PROCESS_CPUTIME_ID,
            Self::Boottime => libc::CLOCK_BOOTTIME,
            Self::Tai => libc::CLOCK_TAI,
        }
    }

    /// Whether nobody can set it.
    pub fn is_steady(self) -> bool {
        !matches!(self, Self::Realtime | Self::Tai)
    }

    /// The time now, in nanoseconds.
    pub fn now_ns(self) -> u64 {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the kernel writes one timespec.
        unsafe { libc::clock_gettime(self.id(), &raw mut time) };
        let part = |value: i64| u64::try_from(value).unwrap_or(0);
        part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec)
    }

    /// Resolution in nanoseconds.
    pub fn resolution_ns(self) -> u64 {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the kernel writes one timespec.
        unsafe { libc::clock_getres(self.id(), &raw mut time) };
        u64::try_from(time.tv_nsec).unwrap_or(1)
    }
}
