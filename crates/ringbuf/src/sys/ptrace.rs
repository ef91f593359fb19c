//! `ptrace(2)` for looking at threads that go on afterwards: they are seized, interrupted, read, and
//! continued. Nothing is ever written into them.
//!
//! All requests but [`seize`] must come from the thread that has seized, of a thread that is stopped.

use super::calls::check;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// What a seized thread, or one that it has made, reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The thread.
    pub tid: i32,
    /// What is with it.
    pub what: Reported,
}

/// What is with a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported {
    /// It is gone; of a process's last thread this is the status of the process.
    Ended(ExitStatus),
    /// It is stopped, and waits for [`resume`] or [`listen`].
    Stopped(Stop),
}

/// Why a thread is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A signal is about to be delivered: it has to be passed on.
    Signal(i32),
    /// The process was stopped (SIGSTOP, Ctrl-Z): it is to stay so ([`listen`]).
    Group,
    /// It was interrupted, is new, or its process goes on after it was stopped.
    Interrupted,
    /// It has made another thread or process.
    Made {
        /// That one.
        tid: i32,
    },
    /// Its process executes another program; other threads of it are gone.
    Executed,
    /// It is about to end.
    Ends,
}

/// `PTRACE_SEIZE`: from now on a thread reports here, and so does what it makes. It is not stopped.
///
/// # Errors
/// EPERM: not permitted, or seized by another; ESRCH: there is none.
pub fn seize(tid: i32) -> io::Result<()> {
    let options = libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_TRACEEXIT;
    request(
        libc::PTRACE_SEIZE,
        tid,
        usize::try_from(options).unwrap_or(0),
    )
}

/// Whether the system call is there: filters may forbid it.
///
/// # Errors
/// The filter's.
pub fn is_there() -> io::Result<()> {
    // Above every `pid_max`: nobody has it.
    match seize(i32::MAX) {
        Err(error) if error.raw_os_error() != Some(libc::ESRCH) => Err(error),
        _ => Ok(()),
    }
}

/// Stops a thread soon; it need not be stopped.
///
/// # Errors
/// ESRCH: it is gone.
pub fn interrupt(tid: i32) -> io::Result<()> {
    request(libc::PTRACE_INTERRUPT, tid, 0)
}

/// Lets a thread go on, with a signal (0 for none).
///
/// # Errors
/// ESRCH: it is gone.
pub fn resume(tid: i32, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_CONT, tid, usize::try_from(signal).unwrap_or(0))
}

/// Leaves a thread stopped, with its process, until SIGCONT.
///
/// # Errors
/// ESRCH: it is gone.
pub fn listen(tid: i32) -> io::Result<()> {
    request(libc::PTRACE_LISTEN, tid, 0)
}

/// Lets a thread go for good, with a signal (0 for none).
///
/// # Errors
/// ESRCH: it is gone.
pub fn release(tid: i32, signal: i32) -> io::Result<()> {
    request(
        libc::PTRACE_DETACH,
        tid,
        usize::try_from(signal).unwrap_or(0),
    )
}

/// A request whose data is a number.
fn request(request: Request, tid: i32, data: usize) -> io::Result<()> {
    let address = std::ptr::null_mut::<libc::c_void>();
    let data = std::ptr::without_provenance_mut::<libc::c_void>(data);
    // SAFETY: for these requests the kernel takes both for numbers.
    let result = unsafe { libc::ptrace(request, tid, address, data) };
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(any(target_env = "musl", target_os = "android"))]
type Request = libc::c_int;
#[cfg(not(any(target_env = "musl", target_os = "android")))]
type Request = libc::c_uint;

/// The general registers of a stopped thread, as the kernel lays them out (`user_regs_struct`); fewer bytes
/// for a 32-bit task.
///
/// # Errors
/// ESRCH: it is gone.
pub fn registers(tid: i32, into: &mut [u8]) -> io::Result<usize> {
    let kind = std::ptr::without_provenance_mut::<libc::c_void>(1); // NT_PRSTATUS
    let mut io = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    // SAFETY: the kernel writes at most `iov_len` bytes to `iov_base`, and their number to `iov_len`; both
    // outlive the call.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETREGSET, tid, kind, &raw mut io) };
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(io.iov_len.min(into.len())),
    }
}

/// The next report of any seized thread or child; does not wait.
///
/// # Errors
/// The kernel's; of no children and none that are seized, `None`.
pub fn next_report() -> io::Result<Option<Report>> {
    let mut raw = 0;
    // SAFETY: the kernel writes one int.
    let tid = unsafe { libc::waitpid(-1, &raw mut raw, libc::WNOHANG | libc::__WALL) };
    match check(tid) {
        Ok(0) => return Ok(None),
        Ok(_) => {}
        Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(None),
        Err(error) => return Err(error),
    }
    let what = if libc::WIFSTOPPED(raw) {
        Reported::Stopped(stop(tid, raw))
    } else {
        Reported::Ended(ExitStatus::from_raw(raw))
    };
    Ok(Some(Report { tid, what }))
}

fn stop(tid: i32, raw: libc::c_int) -> Stop {
    let signal = libc::WSTOPSIG(raw);
    match raw >> 16 {
        0 => Stop::Signal(signal),
        libc::PTRACE_EVENT_STOP if signal == libc::SIGTRAP => Stop::Interrupted,
        libc::PTRACE_EVENT_STOP => Stop::Group,
        libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
            match event_message(tid).and_then(|made| i32::try_from(made).ok()) {
                Some(made) => Stop::Made { tid: made },
                None => Stop::Interrupted,
            }
        }
        libc::PTRACE_EVENT_EXEC => Stop::Executed,
        libc::PTRACE_EVENT_EXIT => Stop::Ends,
        _ => Stop::Interrupted,
    }
}

/// `PTRACE_GETEVENTMSG`.
fn event_message(tid: i32) -> Option<libc::c_ulong> {
    let mut message: libc::c_ulong = 0;
    let address = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: the kernel writes one long to `message`, which outlives the call.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, tid, address, &raw mut message) };
    (result != -1).then_some(message)
}
