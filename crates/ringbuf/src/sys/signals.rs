//! Signals as something to wait for and to read, and as they were when this program was started.

use super::calls::{check, read};
use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// Signals that were ignored and blocked at the start, bit n - 1 for signal n.
static IGNORED_AT_START: AtomicU64 = AtomicU64::new(0);
static BLOCKED_AT_START: AtomicU64 = AtomicU64::new(0);

/// Runs before `main`: std ignores SIGPIPE there, and what it was before cannot be asked for later.
// SAFETY: the section holds addresses of functions that the loader calls once, one after the other, with
// arguments that this one does not look at; it needs nothing of std.
#[cfg(not(miri))]
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK_AT_START: extern "C" fn() = {
    extern "C" fn look() {
        let bits = |is: &dyn Fn(libc::c_int) -> bool| {
            let bit = |signal: libc::c_int| u64::from(is(signal)) << (signal - 1);
            (1..=64).map(bit).fold(0, |all, one| all | one)
        };
        IGNORED_AT_START.store(bits(&is_ignored), Ordering::Relaxed);
        let blocked = blocked();
        // SAFETY: `blocked` is initialised; numbers that are no signals give an error.
        let is_blocked = |signal| unsafe { libc::sigismember(&raw const blocked, signal) } == 1;
        BLOCKED_AT_START.store(bits(&is_blocked), Ordering::Relaxed);
    }
    look
};

/// Gives the signals of this process back as they were when it was started, for a program that it is
/// about to execute. Between fork and exec it may be called.
pub fn restore_signals_of_start() {
    let ignored = IGNORED_AT_START.load(Ordering::Relaxed);
    let blocked = BLOCKED_AT_START.load(Ordering::Relaxed);
    let has = |bits: u64, signal: libc::c_int| bits >> (signal - 1) & 1 != 0;
    // What std, `SignalsAtStart` and `Signals::block` have changed.
    for signal in [libc::SIGPIPE, libc::SIGCHLD, libc::SIGXFSZ] {
        let action = if has(ignored, signal) {
            libc::SIG_IGN
        } else {
            libc::SIG_DFL
        };
        // SAFETY: both actions are always valid.
        unsafe { libc::signal(signal, action) };
    }
    let mut set = signal_set(&[]);
    for signal in (1..=64).filter(|&signal| has(blocked, signal)) {
        // SAFETY: `set` is initialised, the signal was a member of one.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    // SAFETY: `set` is initialised; no old mask is asked for.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut()) };
}

/// Stops this process as SIGTSTP does that nobody hears, until SIGCONT comes. Where no shell would continue it, the
/// kernel does not stop it.
pub fn suspend_process() {
    let (stop, mut before) = (signal_set(&[libc::SIGTSTP]), signal_set(&[]));
    // SAFETY: it asks for nothing but a signal for this thread.
    unsafe { libc::raise(libc::SIGTSTP) };
    // SAFETY: both sets are initialised; the kernel writes the old mask.
    unsafe { libc::sigprocmask(libc::SIG_UNBLOCK, &raw const stop, &raw mut before) };
    // SAFETY: the mask is initialised; no old one is asked for.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
}

/// A signal that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A child has ended.
    Child,
    /// SIGUSR2: somebody wants what was recorded until now.
    Snapshot,
    /// SIGINT, SIGTERM, or another that ends programs: somebody wants an end.
    Stop {
        /// Its number.
        number: i32,
        /// A key on the terminal (Ctrl-C): all processes in its foreground have it, too.
        is_from_terminal: bool,
    },
    /// SIGTSTP: somebody wants a pause. The terminal's owner has to give it back first.
    Suspend,
    /// SIGCONT: it goes on after a pause, and others may have changed the terminal.
    Continue,
}

/// Signals that a recording waits for, as a descriptor: SIGCHLD, SIGUSR2, and all that would end the program, but for
/// SIGKILL, SIGQUIT and those that say that it is broken.
///
/// They are blocked in this process from [`Signals::block`] on until this is dropped; threads
/// started meanwhile inherit that, and a child must undo it before exec
/// ([`restore_signals_of_start`]). Shells start what runs
/// in the background with SIGINT ignored; blocked, it comes all the same. Only SIGHUP stays
/// ignored where it was (nohup).
pub struct Signals {
    fd: OwnedFd,
    /// The mask before.
    before: libc::sigset_t,
}

impl Signal {
    /// The number of SIGINT.
    pub const INTERRUPT: i32 = libc::SIGINT;
}

impl Signals {
    const HANDLED: [libc::c_int; 13] = [
        libc::SIGINT,
        libc::SIGTERM,
        libc::SIGHUP,
        libc::SIGCHLD,
        libc::SIGUSR2,
        libc::SIGUSR1,
        libc::SIGALRM,
        libc::SIGVTALRM,
        libc::SIGPROF,
        libc::SIGIO,
        libc::SIGPWR,
        libc::SIGSTKFLT,
        libc::SIGXCPU,
    ];

    /// What stops a program whose terminal has to be given back first, and has it go on.
    const STOPS: [libc::c_int; 2] = [libc::SIGTSTP, libc::SIGCONT];

    /// Blocks them and opens the descriptor. Call before any thread is started.
    ///
    /// # Errors
    /// The kernel's.
    pub fn block() -> io::Result<Self> {
        Self::block_these(&Self::ending())
    }

    /// The same with SIGQUIT, where something else than this descriptor's reader has the terminal.
    ///
    /// # Errors
    /// The kernel's.
    pub fn block_beside_screen() -> io::Result<Self> {
        Self::block_these(&[&Self::ending()[..], &[libc::SIGQUIT]].concat())
    }

    /// The same, and what stops a program: its terminal has to be given back first.
    ///
    /// # Errors
    /// The kernel's.
    pub fn block_on_screen() -> io::Result<Self> {
        Self::block_these(&[&Self::ending()[..], &[libc::SIGQUIT], &Self::STOPS].concat())
    }

    /// With real-time signals, which end programs, too.
    fn ending() -> Vec<libc::c_int> {
        let real_time = libc::SIGRTMIN()..=libc::SIGRTMAX();
        Self::HANDLED.into_iter().chain(real_time).collect()
    }

    fn block_these(signals: &[libc::c_int]) -> io::Result<Self> {
        let heard = heard(signals);
        // Ignored, it would take our children's statuses away.
        // SAFETY: the default action is always valid.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
        let (set, before) = (signal_set(&heard), blocked());
        // SAFETY: `set` is initialised; no old mask is asked for.
        check(unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) })?;
        // SAFETY: as above.
        let fd = check(unsafe {
            libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
        })?;
        // SAFETY: the kernel just gave it to us.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self { fd, before })
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
            libc::SIGUSR2 => Signal::Snapshot,
            libc::SIGTSTP => Signal::Suspend,
            libc::SIGCONT => Signal::Continue,
            _ => Signal::Stop {
                number,
                is_from_terminal: number == libc::SIGINT && code == libc::SI_KERNEL,
            },
        })
    }
}

/// The signals that [`Signals::block`] hears, held back from the first moment on: one that comes before somebody
/// hears them is not lost, though a shell may have had it ignored. And a file that gets too large (`ulimit -f`) is
/// an error of who writes it, and ends nobody.
#[derive(Debug)]
pub struct SignalsAtStart {
    before: Mask,
}

struct Mask(libc::sigset_t);

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mask").finish_non_exhaustive()
    }
}

impl SignalsAtStart {
    /// Holds them back until this is dropped; those that came meanwhile, and that nobody has heard, then do what they
    /// would have done.
    pub fn hold() -> Self {
        // SAFETY: to ignore it is always valid.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        let (set, before) = (signal_set(&heard(&Signals::ending())), Mask(blocked()));
        // SAFETY: `set` is initialised; no old mask is asked for. Only numbers that are no request are errors.
        unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
        Self { before }
    }
}

impl Drop for SignalsAtStart {
    fn drop(&mut self) {
        let before = &raw const self.before.0;
        // SAFETY: the mask is initialised; no old one is asked for.
        unsafe { libc::sigprocmask(libc::SIG_SETMASK, before, std::ptr::null_mut()) };
    }
}

/// Those of some signals that are to be heard: where SIGHUP is ignored (nohup), it stays so.
fn heard(signals: &[libc::c_int]) -> Vec<libc::c_int> {
    let is_heard = |&signal: &libc::c_int| signal != libc::SIGHUP || !is_ignored(signal);
    signals.iter().copied().filter(is_heard).collect()
}

impl Drop for Signals {
    fn drop(&mut self) {
        // What came while it was to be heard here ends nothing any more.
        while self.next().is_some() {}
        let before = &raw const self.before;
        // SAFETY: the mask is initialised; no old one is asked for.
        unsafe { libc::sigprocmask(libc::SIG_SETMASK, before, std::ptr::null_mut()) };
    }
}

impl std::os::fd::AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl std::fmt::Debug for Signals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signals").finish_non_exhaustive()
    }
}

/// The mask of this thread.
fn blocked() -> libc::sigset_t {
    let mut set = signal_set(&[]);
    // SAFETY: no new mask is given; the kernel writes the old one.
    unsafe { libc::sigprocmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut set) };
    set
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
