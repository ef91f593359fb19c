//! [`Cause`]: why a thread left its CPU, by the functions of the kernel that it was in.

use crate::{SwitchState, ThreadState};

/// Why a thread does not run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// It runs.
    Running,
    /// It could run: there is no CPU for it.
    Runnable,
    /// A lock, condition variable or the like of user space.
    Futex,
    /// A pipe or FIFO.
    Pipe,
    /// A socket.
    Socket,
    /// `epoll_wait`.
    Epoll,
    /// `poll`.
    Poll,
    /// `select`.
    Select,
    /// `eventfd`.
    Eventfd,
    /// `io_uring`.
    IoUring,
    /// A terminal.
    Tty,
    /// A file's contents or a disk.
    FileIo,
    /// Memory that is not there yet.
    PageFault,
    /// A moment: `nanosleep`, `timerfd`.
    Sleep,
    /// A child, or a program that it starts (`vfork`).
    Child,
    /// A signal: `sigsuspend`, `sigtimedwait`, `pause`.
    Signal,
    /// It was stopped by a signal or a debugger.
    Stop,
    /// A lock of the kernel.
    KernelLock,
    /// What was recorded does not say.
    #[default]
    Unknown,
}

/// Functions of the kernel in which threads wait for one thing only, whichever release has them (v4.14 to v6.18).
/// Sorted.
const WAITS: &[(&str, Cause)] = &[
    ("__down", Cause::KernelLock),
    ("__down_interruptible", Cause::KernelLock),
    ("__down_killable", Cause::KernelLock),
    ("__futex_wait", Cause::Futex),
    ("__inet_stream_connect", Cause::Socket),
    ("__mutex_lock", Cause::KernelLock),
    ("__mutex_lock_interruptible_slowpath", Cause::KernelLock),
    ("__mutex_lock_killable_slowpath", Cause::KernelLock),
    ("__mutex_lock_slowpath", Cause::KernelLock),
    ("__rt_mutex_slowlock", Cause::KernelLock),
    ("__skb_wait_for_more_packets", Cause::Socket),
    ("__sys_accept4", Cause::Socket),
    ("__sys_connect", Cause::Socket),
    ("__sys_recvfrom", Cause::Socket),
    ("__sys_sendto", Cause::Socket),
    ("anon_pipe_read", Cause::Pipe),
    ("anon_pipe_write", Cause::Pipe),
    ("core_sys_select", Cause::Select),
    ("do_epoll_wait", Cause::Epoll),
    ("do_futex", Cause::Futex),
    ("do_nanosleep", Cause::Sleep),
    ("do_poll", Cause::Poll),
    ("do_select", Cause::Select),
    ("do_signal_stop", Cause::Stop),
    ("do_sigtimedwait", Cause::Signal),
    ("do_sys_poll", Cause::Poll),
    ("do_user_addr_fault", Cause::PageFault),
    ("do_wait", Cause::Child),
    ("ep_poll", Cause::Epoll),
    ("eventfd_read", Cause::Eventfd),
    ("eventfd_write", Cause::Eventfd),
    ("ext4_sync_file", Cause::FileIo),
    ("fifo_open", Cause::Pipe),
    ("filemap_read", Cause::FileIo),
    ("folio_wait_bit_common", Cause::FileIo),
    ("folio_wait_writeback", Cause::FileIo),
    ("fuse_wait_on_request", Cause::FileIo),
    ("futex_do_wait", Cause::Futex),
    ("futex_lock_pi", Cause::Futex),
    ("futex_wait", Cause::Futex),
    ("futex_wait_multiple", Cause::Futex),
    ("futex_wait_queue", Cause::Futex),
    ("futex_wait_queue_me", Cause::Futex),
    ("futex_wait_requeue_pi", Cause::Futex),
    ("handle_mm_fault", Cause::PageFault),
    ("hrtimer_nanosleep", Cause::Sleep),
    ("inet_csk_accept", Cause::Socket),
    ("inet_csk_wait_for_connect", Cause::Socket),
    ("inet_wait_for_connect", Cause::Socket),
    ("io_cqring_wait", Cause::IoUring),
    ("io_schedule", Cause::FileIo),
    ("io_schedule_timeout", Cause::FileIo),
    ("jbd2_log_wait_commit", Cause::FileIo),
    ("kernel_wait4", Cause::Child),
    ("kernel_waitid", Cause::Child),
    ("n_tty_read", Cause::Tty),
    ("n_tty_write", Cause::Tty),
    ("nfs_wait_bit_killable", Cause::FileIo),
    ("percpu_rwsem_wait", Cause::KernelLock),
    ("pipe_read", Cause::Pipe),
    ("pipe_wait_readable", Cause::Pipe),
    ("pipe_wait_writable", Cause::Pipe),
    ("pipe_write", Cause::Pipe),
    ("ptrace_stop", Cause::Stop),
    ("rt_mutex_slowlock", Cause::KernelLock),
    ("rwsem_down_read_slowpath", Cause::KernelLock),
    ("rwsem_down_write_slowpath", Cause::KernelLock),
    ("sigsuspend", Cause::Signal),
    ("sk_stream_wait_connect", Cause::Socket),
    ("sk_stream_wait_memory", Cause::Socket),
    ("sk_wait_data", Cause::Socket),
    ("sock_alloc_send_pskb", Cause::Socket),
    ("sock_read_iter", Cause::Socket),
    ("sock_recvmsg", Cause::Socket),
    ("sock_sendmsg", Cause::Socket),
    ("sock_write_iter", Cause::Socket),
    ("timerfd_read", Cause::Sleep),
    ("timerfd_read_iter", Cause::Sleep),
    ("unix_accept", Cause::Socket),
    ("unix_stream_connect", Cause::Socket),
    ("unix_stream_data_wait", Cause::Socket),
    ("unix_stream_read_generic", Cause::Socket),
    ("unix_wait_for_peer", Cause::Socket),
    ("wait_for_vfork_done", Cause::Child),
    ("wait_on_page_bit_common", Cause::FileIo),
];

/// Functions that only timers call as they wake a thread. Sorted.
const TIMERS: &[&str] = &[
    "alarmtimer_fired",
    "hrtimer_wakeup",
    "it_real_fn",
    "posix_timer_fn",
    "process_timeout",
    "timerfd_tmrproc",
];

impl Cause {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::Running,
        Self::Runnable,
        Self::Futex,
        Self::Pipe,
        Self::Socket,
        Self::Epoll,
        Self::Poll,
        Self::Select,
        Self::Eventfd,
        Self::IoUring,
        Self::Tty,
        Self::FileIo,
        Self::PageFault,
        Self::Sleep,
        Self::Child,
        Self::Signal,
        Self::Stop,
        Self::KernelLock,
        Self::Unknown,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Runnable => "runnable",
            Self::Futex => "futex",
            Self::Pipe => "pipe",
            Self::Socket => "socket",
            Self::Epoll => "epoll",
            Self::Poll => "poll",
            Self::Select => "select",
            Self::Eventfd => "eventfd",
            Self::IoUring => "io_uring",
            Self::Tty => "tty",
            Self::FileIo => "file I/O",
            Self::PageFault => "page fault",
            Self::Sleep => "sleep",
            Self::Child => "child",
            Self::Signal => "signal",
            Self::Stop => "stop",
            Self::KernelLock => "kernel lock",
            Self::Unknown => "unknown",
        }
    }

    /// Its place in [`Self::ALL`].
    pub const fn number(self) -> u64 {
        self as u64
    }

    /// The one at a place of [`Self::ALL`].
    pub fn from_number(number: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// What the functions say, innermost first, in which a thread left its CPU. The innermost one that waits for one
    /// thing only decides; but where a page fault led to a file, it is the fault that is waited for.
    pub fn of_functions<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let mut known = names.filter_map(|name| {
            let found = WAITS.binary_search_by_key(&without_suffix(name), |&(wait, _)| wait);
            WAITS.get(found.ok()?).map(|&(_, cause)| cause)
        });
        match known.next() {
            Some(Self::FileIo) if known.any(|cause| cause == Self::PageFault) => Self::PageFault,
            first => first.unwrap_or_default(),
        }
    }

    /// Why a thread is in a state, where its functions say that it waits for this.
    pub fn in_state(self, state: ThreadState) -> Self {
        match state {
            ThreadState::Running => Self::Running,
            ThreadState::Runnable | ThreadState::Preempted => Self::Runnable,
            ThreadState::Blocked(SwitchState::Stopped | SwitchState::Traced) => Self::Stop,
            ThreadState::Blocked(_) => self,
        }
    }
}

/// Whether functions of the kernel, in any order, are those of a timer that wakes a thread.
pub fn is_timer<'n>(mut names: impl Iterator<Item = &'n str>) -> bool {
    names.any(|name| TIMERS.binary_search(&without_suffix(name)).is_ok())
}

/// A function's name without what compilers add to parts and copies of it: `do_poll.constprop.0`.
fn without_suffix(name: &str) -> &str {
    name.split_once('.').map_or(name, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(names: &[&str]) -> &'static str {
        Cause::of_functions(names.iter().copied()).name()
    }

    #[test]
    fn numbers_are_places() {
        for (number, cause) in (0..).zip(Cause::ALL) {
            assert_eq!(cause.number(), number);
            assert_eq!(Cause::from_number(number), Some(cause));
        }
    }

    #[test]
    fn tables_are_sorted() {
        assert!(WAITS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(TIMERS.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn the_innermost_function_that_waits_for_one_thing_decides() {
        let futex = ["__schedule", "schedule", "futex_do_wait", "do_syscall_64"];
        assert_eq!(cause(&futex), "futex");
        let select = ["schedule", "do_select.constprop.0", "core_sys_select"];
        assert_eq!(cause(&select), "select");
        let lock = [
            "schedule",
            "rwsem_down_read_slowpath",
            "handle_mm_fault",
            "asm_exc_page_fault",
        ];
        assert_eq!(cause(&lock), "kernel lock");
    }

    #[test]
    fn a_fault_that_reads_a_file_is_a_fault() {
        let read = ["io_schedule", "folio_wait_bit_common", "filemap_read"];
        assert_eq!(cause(&read), "file I/O");
        let fault = [
            "io_schedule",
            "folio_wait_bit_common",
            "filemap_fault",
            "handle_mm_fault",
        ];
        assert_eq!(cause(&fault), "page fault");
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        assert_eq!(
            cause(&["schedule", "schedule_timeout", "worker_thread"]),
            "unknown"
        );
        assert_eq!(cause(&[]), "unknown");
        let stopped = ThreadState::Blocked(SwitchState::Stopped);
        assert_eq!(Cause::Unknown.in_state(stopped), Cause::Stop);
        assert_eq!(
            Cause::Pipe.in_state(ThreadState::Preempted),
            Cause::Runnable
        );
    }

    #[test]
    fn timers_are_told_from_other_interrupts() {
        assert!(is_timer(["try_to_wake_up", "hrtimer_wakeup"].into_iter()));
        assert!(!is_timer(["try_to_wake_up", "virtblk_done"].into_iter()));
    }
}
