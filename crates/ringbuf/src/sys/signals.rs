//! Signals as something to wait for and to read.

use super::{check, read};
use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd};

/// A signal that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A child has ended.
    Child,
    /// SIGINT, SIGTERM or SIGHUP: somebody wants an end.
    Stop {
        /// A key on the terminal (Ctrl-C): all processes in its foreground have it, too.
        is_from_terminal: bool,
    },
}

/// Signals that a recording waits for, as a descriptor: SIGINT, SIGTERM, SIGHUP, SIGCHLD.
///
/// They are blocked in this process from [`Signals::block`] on until this is dropped; threads
/// started meanwhile inherit that, and a child must undo it before exec. Shells start what runs
/// in the background with SIGINT ignored; blocked, it comes all the same. Only SIGHUP stays
/// ignored where it was (nohup).
#[derive(Debug)]
pub struct Signals {
    fd: OwnedFd,
    heard: Vec<libc::c_int>,
}

impl Signals {
    const HANDLED: [libc::c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGCHLD];

    /// Blocks them and opens the descriptor. Call before any thread is started.
    ///
    /// # Errors
    /// The kernel's.
    pub fn block() -> io::Result<Self> {
        let heard: Vec<libc::c_int> = Self::HANDLED
            .into_iter()
            .filter(|&signal| signal != libc::SIGHUP || !is_ignored(signal))
            .collect();
        // Ignored, it would take our children's statuses away.
        // SAFETY: the default action is always valid.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
        let set = signal_set(&heard);
        // SAFETY: `set` is initialised; no old mask is asked for.
        check(unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) })?;
        // SAFETY: as above.
        let fd = check(unsafe {
            libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
        })?;
        // SAFETY: the kernel just gave it to us.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self { fd, heard })
    }

    /// The next signal that came, if any.
    pub fn next(&self) -> Option<Signal> {
        use std::os::fd::AsFd;
        let mut bytes = [0; size_of::<libc::signalfd_siginfo>()];
        let len = read(self.fd.as_fd(), &mut bytes).ok()?;
        // The first fields: ssi_signo, ssi_errno, ssi_code, 32 bits each.
        let info = bytes.get(..len)?;
        let word = |at: usize| Some(i32::from_ne_bytes(*info.get(at..)?.first_chunk()?));
        let (number, code) = (word(0)?, word(8)?);
        Some(match number {
            libc::SIGCHLD => Signal::Child,
            _ => Signal::Stop {
                is_from_terminal: number == libc::SIGINT && code == libc::SI_KERNEL,
            },
        })
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // What came while it was to be heard here ends nothing any more.
        while self.next().is_some() {}
        let set = signal_set(&self.heard);
        // SAFETY: `set` is initialised; no old mask is asked for.
        unsafe { libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut()) };
    }
}

impl std::os::fd::AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn is_ignored(signal: libc::c_int) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: no new action is given; the kernel writes the whole old one.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    if asked != 0 {
        return false;
    }
    // SAFETY: written by sigaction.
    unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
}

fn signal_set(signals: &[libc::c_int]) -> libc::sigset_t {
    let mut set = std::mem::MaybeUninit::uninit();
    // SAFETY: writes the whole set.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: initialised by sigemptyset.
    let mut set = unsafe { set.assume_init() };
    for &signal in signals {
        // SAFETY: `set` is initialised, signals are valid numbers.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    set
}
