//! [`Cause`]: why a thread left its CPU, by the functions of the kernel that it was in.

mod look;

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

/// Functions of the kernel in which threads wait for one thing only, whatever is called to wait, whichever release has
/// them (v4.14 to v6.18). Sorted.
const WAITS: &[(&str, Cause)] = &[
    ("__down", Cause::KernelLock),
    ("__down_interruptible", Cause::KernelLock),
    ("__down_killable", Cause::KernelLock),
    ("__futex_wait", Cause::Futex),
    ("__mutex_lock", Cause::KernelLock),
    ("__mutex_lock_interruptible_slowpath", Cause::KernelLock),
    ("__mutex_lock_killable_slowpath", Cause::KernelLock),
    ("__mutex_lock_slowpath", Cause::KernelLock),
    ("__rt_mutex_slowlock", Cause::KernelLock),
    ("__rwsem_down_read_failed_common", Cause::KernelLock),
    ("__rwsem_down_write_failed_common", Cause::KernelLock),
    ("__skb_wait_for_more_packets", Cause::Socket),
    ("core_sys_select", Cause::Select),
    ("do_epoll_wait", Cause::Epoll),
    ("do_nanosleep", Cause::Sleep),
    ("do_poll", Cause::Poll),
    ("do_select", Cause::Select),
    ("do_sigtimedwait", Cause::Signal),
    ("do_sys_poll", Cause::Poll),
    ("do_wait", Cause::Child),
    ("ep_poll", Cause::Epoll),
    ("folio_wait_bit_common", Cause::FileIo),
    ("folio_wait_writeback", Cause::FileIo),
    ("futex_do_wait", Cause::Futex),
    ("futex_lock_pi", Cause::Futex),
    ("futex_wait", Cause::Futex),
    ("futex_wait_multiple", Cause::Futex),
    ("futex_wait_queue", Cause::Futex),
    ("futex_wait_queue_me", Cause::Futex),
    ("futex_wait_requeue_pi", Cause::Futex),
    ("handle_userfault", Cause::PageFault),
    ("hrtimer_nanosleep", Cause::Sleep),
    ("inet_csk_wait_for_connect", Cause::Socket),
    ("inet_wait_for_connect", Cause::Socket),
    ("io_cqring_wait", Cause::IoUring),
    ("io_schedule", Cause::FileIo),
    ("io_schedule_timeout", Cause::FileIo),
    ("jbd2_log_wait_commit", Cause::FileIo),
    ("kernel_wait4", Cause::Child),
    ("kernel_waitid", Cause::Child),
    ("nfs_wait_bit_killable", Cause::FileIo),
    ("percpu_rwsem_wait", Cause::KernelLock),
    ("pipe_wait_readable", Cause::Pipe),
    ("pipe_wait_writable", Cause::Pipe),
    ("ptrace_stop", Cause::Stop),
    ("request_wait_answer", Cause::FileIo),
    ("rt_mutex_finish_proxy_lock", Cause::Futex),
    ("rt_mutex_slowlock", Cause::KernelLock),
    ("rt_mutex_wait_proxy_lock", Cause::Futex),
    ("rwsem_down_read_failed", Cause::KernelLock),
    ("rwsem_down_read_failed_killable", Cause::KernelLock),
    ("rwsem_down_read_slowpath", Cause::KernelLock),
    ("rwsem_down_write_failed", Cause::KernelLock),
    ("rwsem_down_write_failed_killable", Cause::KernelLock),
    ("rwsem_down_write_slowpath", Cause::KernelLock),
    ("sigsuspend", Cause::Signal),
    ("sk_stream_wait_connect", Cause::Socket),
    ("sk_stream_wait_memory", Cause::Socket),
    ("sk_wait_data", Cause::Socket),
    ("sock_alloc_send_pskb", Cause::Socket),
    ("sys_poll", Cause::Poll),
    ("sys_ppoll", Cause::Poll),
    ("sys_pselect6", Cause::Select),
    ("sys_select", Cause::Select),
    ("unix_stream_data_wait", Cause::Socket),
    ("unix_wait_for_peer", Cause::Socket),
    ("wait_for_vfork_done", Cause::Child),
    ("wait_on_page_bit_common", Cause::FileIo),
];

/// Functions that wait for this if they have called the scheduler themselves; they do other things, too, and what waits
/// in these waits for something else. Sorted.
const OWN_WAITS: &[(&str, Cause)] = &[
    ("__inet_stream_connect", Cause::Socket),
    ("anon_pipe_read", Cause::Pipe),
    ("anon_pipe_write", Cause::Pipe),
    ("do_futex", Cause::Futex),
    ("do_signal_stop", Cause::Stop),
    ("eventfd_read", Cause::Eventfd),
    ("eventfd_write", Cause::Eventfd),
    ("fifo_open", Cause::Pipe),
    ("inet_csk_accept", Cause::Socket),
    ("n_tty_read", Cause::Tty),
    ("n_tty_write", Cause::Tty),
    ("pipe_read", Cause::Pipe),
    ("pipe_write", Cause::Pipe),
    ("sys_accept", Cause::Socket),
    ("sys_accept4", Cause::Socket),
    ("sys_pause", Cause::Signal),
    ("sys_recvfrom", Cause::Socket),
    ("sys_recvmmsg", Cause::Socket),
    ("sys_recvmsg", Cause::Socket),
    ("sys_sendmmsg", Cause::Socket),
    ("sys_sendmsg", Cause::Socket),
    ("sys_sendto", Cause::Socket),
    ("timerfd_read", Cause::Sleep),
    ("timerfd_read_iter", Cause::Sleep),
    ("unix_accept", Cause::Socket),
    ("unix_stream_connect", Cause::Socket),
    ("unix_stream_read_generic", Cause::Socket),
];

/// What leads from a function that waits to the switch. Sorted.
const SCHEDULER: &[&str] = &[
    "__perf_event_task_sched_out",
    "__schedule",
    "__traceiter_sched_switch",
    "do_wait_intr",
    "do_wait_intr_irq",
    "perf_trace_run_bpf_submit",
    "perf_trace_sched_switch",
    "preempt_schedule",
    "preempt_schedule_common",
    "rt_mutex_schedule",
    "schedule",
    "schedule_hrtimeout",
    "schedule_hrtimeout_range",
    "schedule_hrtimeout_range_clock",
    "schedule_timeout",
    "wait_woken",
];

/// What the kernel calls files that are no paths (`/proc/PID/fd`), and what threads wait for in these.
const FILES: &[(&str, Cause)] = &[
    ("pipe:[", Cause::Pipe),
    ("socket:[", Cause::Socket),
    ("anon_inode:[eventfd]", Cause::Eventfd),
    ("anon_inode:[eventpoll]", Cause::Epoll),
    ("anon_inode:[io_uring]", Cause::IoUring),
    ("anon_inode:[timerfd]", Cause::Sleep),
];

/// Functions that make a page that is not there. Sorted.
const FAULTS: &[&str] = &["do_user_addr_fault", "filemap_fault", "handle_mm_fault"];

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
    /// thing only decides; but where a page fault led to a file, it is the fault that is waited for, and where a mutex
    /// of user space is one of the kernel's, the mutex.
    pub fn of_functions<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let mut names = names.map(plain_name);
        let mut is_innermost = true;
        let found = names.find_map(|name| {
            let own = find(OWN_WAITS, name).filter(|_| is_innermost);
            is_innermost &= SCHEDULER.binary_search(&name).is_ok();
            Some((name, find(WAITS, name).or(own)?))
        });
        match found {
            Some((_, Self::FileIo)) if names.any(|name| FAULTS.binary_search(&name).is_ok()) => {
                Self::PageFault
            }
            Some((name, Self::KernelLock)) if name.contains("rt_mutex") => {
                let of_user = names.filter_map(|name| find(WAITS, name));
                let mut futex = of_user.filter(|&cause| cause == Self::Futex);
                futex.next().unwrap_or(Self::KernelLock)
            }
            found => found.map_or(Self::Unknown, |(_, cause)| cause),
        }
    }

    /// Whether a thread that waits for this may do so through a descriptor. Where it waits for memory or a lock in between,
    /// it does not.
    pub const fn may_be_of_descriptor(self) -> bool {
        !matches!(
            self,
            Self::Running
                | Self::Runnable
                | Self::Futex
                | Self::PageFault
                | Self::Child
                | Self::Signal
                | Self::Stop
                | Self::KernelLock
        )
    }

    /// What a thread waits for in a file with this name, if that says it.
    pub fn of_file(name: &[u8]) -> Self {
        let its = FILES.iter();
        let mut its = its.filter(|(start, _)| name.starts_with(start.as_bytes()));
        its.next().map_or(Self::Unknown, |&(_, cause)| cause)
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

/// Whether nothing is known but that a system call has called the scheduler, as `/proc/PID/wchan` says for many: then it
/// waits for its file.
pub fn is_bare_call<'n>(mut names: impl Iterator<Item = &'n str>) -> bool {
    let mut has_call = false;
    let is_bare = names.all(|name| {
        let name = plain_name(name);
        has_call |= name.starts_with("sys_");
        name.starts_with("sys_") || SCHEDULER.binary_search(&name).is_ok()
    });
    is_bare && has_call
}

/// Whether functions of the kernel, in any order, are those of a timer that wakes a thread.
pub fn is_timer<'n>(mut names: impl Iterator<Item = &'n str>) -> bool {
    names.any(|name| TIMERS.binary_search(&plain_name(name)).is_ok())
}

fn find(table: &[(&str, Cause)], name: &str) -> Option<Cause> {
    let at = table.binary_search_by_key(&name, |&(wait, _)| wait).ok()?;
    table.get(at).map(|&(_, cause)| cause)
}

/// A function's name without what compilers add to parts and copies of it, as in `do_poll.constprop.0`, and without what
/// is before the name of a system call (`SYSCALL_DEFINEx` in include/linux/syscalls.h and its like, v6.18).
fn plain_name(name: &str) -> &str {
    let name = name.split_once('.').map_or(name, |(name, _)| name);
    let wrappers = ["__x64_", "__arm64_", "__riscv_", "__se_", "__do_"];
    let of_call = wrappers
        .iter()
        .find_map(|wrapper| name.strip_prefix(wrapper));
    of_call
        .filter(|rest| rest.starts_with("sys_"))
        .unwrap_or(name)
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
        for table in [WAITS, OWN_WAITS] {
            assert!(table.is_sorted_by(|a, b| a.0 < b.0));
        }
        for table in [SCHEDULER, FAULTS] {
            assert!(table.is_sorted_by(|a, b| a < b));
        }
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
    fn what_waits_in_a_function_that_does_more_waits_for_something_else() {
        assert_eq!(cause(&["__schedule", "schedule", "pipe_read"]), "pipe");
        let reclaim = ["schedule_timeout", "reclaim_throttle", "pipe_write"];
        assert_eq!(cause(&reclaim), "unknown");
        let reclaim = ["schedule", "reclaim_throttle", "handle_mm_fault"];
        assert_eq!(cause(&reclaim), "unknown");
        assert_eq!(cause(&["schedule", "__do_sys_pause"]), "signal");
        assert_eq!(
            cause(&["poll_schedule_timeout", "__x64_sys_pselect6"]),
            "select"
        );
    }

    #[test]
    fn older_kernels_have_other_names() {
        let lock = ["schedule", "rwsem_down_read_failed", "handle_mm_fault"];
        assert_eq!(cause(&lock), "kernel lock");
        let pi = [
            "schedule",
            "__rt_mutex_slowlock",
            "rt_mutex_wait_proxy_lock",
            "futex_lock_pi",
        ];
        assert_eq!(cause(&pi), "futex");
        let own = ["schedule", "__rt_mutex_slowlock", "i2c_transfer"];
        assert_eq!(cause(&own), "kernel lock");
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
    fn a_call_of_which_nothing_else_is_known_waits_for_its_file() {
        assert_eq!(cause(&["wait_woken", "sys_recvfrom"]), "socket");
        assert_eq!(cause(&["reclaim_throttle", "sys_recvfrom"]), "unknown");
        let bare = |names: &[&str]| is_bare_call(names.iter().copied());
        assert!(bare(&["do_wait_intr_irq", "sys_read"]) && bare(&["sys_read"]));
        assert!(!bare(&["schedule", "reclaim_throttle", "sys_read"]));
        assert!(!bare(&["schedule"]) && !bare(&[]));
        for (name, cause) in [
            ("pipe:[12]", Cause::Pipe),
            ("anon_inode:[timerfd]", Cause::Sleep),
            ("anon_inode:[perf_event]", Cause::Unknown),
            ("/tmp/pipe:[12]", Cause::Unknown),
        ] {
            assert_eq!(Cause::of_file(name.as_bytes()), cause, "{name}");
        }
    }

    #[test]
    fn timers_are_told_from_other_interrupts() {
        assert!(is_timer(["try_to_wake_up", "hrtimer_wakeup"].into_iter()));
        assert!(!is_timer(["try_to_wake_up", "virtblk_done"].into_iter()));
    }
}
