//! Numbers of system calls and their names. A line has the number of its first name; the others follow.

use crate::call::X32_BIT;
use crate::signatures::SIGNATURES;
use foldhash::HashMap;

/// Which numbers system calls have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyscallAbi {
    /// x86-64, with x32.
    X86_64,
    /// 32-bit x86.
    I386,
    /// 64-bit RISC-V.
    Generic,
    /// 64-bit ARM: the same, but for some flags.
    Arm64,
    /// One whose numbers are not known here.
    Other,
}

/// The names of one ABI's system calls, and of their arguments.
#[derive(Clone, Debug)]
pub struct SyscallNames(HashMap<i64, KnownSyscall>);

#[derive(Clone, Copy, Debug)]
struct KnownSyscall {
    name: &'static str,
    /// As [`SIGNATURES`] has them.
    arguments: Option<&'static str>,
}

/// The first number that x32 has for itself.
const FIRST_OF_X32: i64 = 512;

impl SyscallAbi {
    /// That of a machine, by its name in `uname -m`.
    pub fn of_machine(name: &str) -> Self {
        match name {
            "x86_64" => Self::X86_64,
            "aarch64" => Self::Arm64,
            "riscv64" => Self::Generic,
            "i386" | "i486" | "i586" | "i686" => Self::I386,
            _ => Self::Other,
        }
    }

    /// That of 32-bit tasks of the same machine.
    pub fn of_32_bit_tasks(self) -> Self {
        match self {
            Self::X86_64 | Self::I386 => Self::I386,
            Self::Generic | Self::Arm64 | Self::Other => Self::Other,
        }
    }
}

impl SyscallNames {
    /// Those of an ABI.
    pub fn of(abi: SyscallAbi) -> Self {
        let tables: &[&str] = match abi {
            SyscallAbi::X86_64 => &[X86_64, COMMON],
            SyscallAbi::I386 => &[I386, COMMON],
            SyscallAbi::Generic | SyscallAbi::Arm64 => &[GENERIC, COMMON],
            SyscallAbi::Other => &[],
        };
        let numbered = tables.iter().flat_map(|table| rows(table));
        let arguments = arguments_of(abi);
        let known = numbered.map(|(number, name)| {
            let arguments = arguments.get(name).copied();
            (number, KnownSyscall { name, arguments })
        });
        let mut names: HashMap<i64, KnownSyscall> = known.collect();
        if abi == SyscallAbi::X86_64 {
            let native = names.clone().into_iter();
            let native = native.filter(|&(number, _)| number < FIRST_OF_X32);
            names.extend(native.map(|(number, known)| (number | X32_BIT, known)));
            // They take what those of 64 bits of the same name take.
            names.extend(rows(X32).map(|(number, name)| {
                let arguments = arguments.get(name).copied();
                (number | X32_BIT, KnownSyscall { name, arguments })
            }));
        }
        Self(names)
    }

    /// The name of a number; `None` if it is not known.
    pub fn name(&self, number: i64) -> Option<&'static str> {
        self.0.get(&number).map(|known| known.name)
    }

    /// The arguments of a number, for [`write_arguments`](crate::write_arguments); `None` if they are not known.
    pub fn arguments(&self, number: i64) -> Option<&'static str> {
        self.0.get(&number).and_then(|known| known.arguments)
    }

    /// Whether what a number returns is an address.
    pub fn returns_address(&self, number: i64) -> bool {
        matches!(
            self.name(number),
            Some("mmap" | "mmap2" | "mremap" | "brk" | "shmat" | "map_shadow_stack")
        )
    }

    /// All numbers, with their names.
    pub fn all(&self) -> impl Iterator<Item = (i64, &'static str)> {
        self.0.iter().map(|(&number, known)| (number, known.name))
    }

    /// All numbers with a name.
    pub fn numbers(&self, name: &str) -> Vec<i64> {
        let all = self.0.iter().filter(|(_, known)| known.name == name);
        let mut numbers: Vec<i64> = all.map(|(&number, _)| number).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// The arguments of system calls by name. Those of 32-bit tasks are not told: some take two for one of 64 bits, and some
/// of the same name take others.
fn arguments_of(abi: SyscallAbi) -> HashMap<&'static str, &'static str> {
    if abi == SyscallAbi::I386 {
        return HashMap::default();
    }
    let lines = SIGNATURES.lines();
    let mut all: HashMap<_, _> = lines
        .map(|line| line.split_once(' ').unwrap_or((line, "")))
        .collect();
    if matches!(abi, SyscallAbi::Generic | SyscallAbi::Arm64) {
        all.insert("clone", CLONE_BACKWARDS);
    }
    if abi == SyscallAbi::Arm64 {
        all.extend([
            ("openat", "dfd:f filename:p flags:open_arm64 mode:o"),
            (
                "open_by_handle_at",
                "mountdirfd:i handle:p flags:open_arm64",
            ),
        ]);
    }
    all
}

/// `CONFIG_CLONE_BACKWARDS`; kernel/fork.c.
const CLONE_BACKWARDS: &str = "clone_flags:clone newsp:p parent_tidptr:p tls:p child_tidptr:p";

/// The numbers and names of a table.
fn rows(table: &'static str) -> impl Iterator<Item = (i64, &'static str)> {
    table.lines().flat_map(|line| {
        let mut words = line.split(' ');
        let first = words.next().and_then(|word| word.parse::<i64>().ok());
        (first.unwrap_or(i64::MIN)..).zip(words)
    })
}

/// x86-64: arch/x86/entry/syscalls/syscall_64.tbl (v6.18).
const X86_64: &str = "\
0 read write open close stat fstat lstat poll lseek mmap
10 mprotect munmap brk rt_sigaction rt_sigprocmask rt_sigreturn ioctl pread64 pwrite64 readv
20 writev access pipe select sched_yield mremap msync mincore madvise shmget
30 shmat shmctl dup dup2 pause nanosleep getitimer alarm setitimer getpid
40 sendfile socket connect accept sendto recvfrom sendmsg recvmsg shutdown bind
50 listen getsockname getpeername socketpair setsockopt getsockopt clone fork vfork execve
60 exit wait4 kill uname semget semop semctl shmdt msgget msgsnd
70 msgrcv msgctl fcntl flock fsync fdatasync truncate ftruncate getdents getcwd
80 chdir fchdir rename mkdir rmdir creat link unlink symlink readlink
90 chmod fchmod chown fchown lchown umask gettimeofday getrlimit getrusage sysinfo
100 times ptrace getuid syslog getgid setuid setgid geteuid getegid setpgid
110 getppid getpgrp setsid setreuid setregid getgroups setgroups setresuid getresuid setresgid
120 getresgid getpgid setfsuid setfsgid getsid capget capset rt_sigpending rt_sigtimedwait rt_sigqueueinfo
130 rt_sigsuspend sigaltstack utime mknod uselib personality ustat statfs fstatfs sysfs
140 getpriority setpriority sched_setparam sched_getparam sched_setscheduler sched_getscheduler
146 sched_get_priority_max sched_get_priority_min sched_rr_get_interval mlock
150 munlock mlockall munlockall vhangup modify_ldt pivot_root _sysctl prctl arch_prctl adjtimex
160 setrlimit chroot sync acct settimeofday mount umount2 swapon swapoff reboot
170 sethostname setdomainname iopl ioperm create_module init_module delete_module get_kernel_syms query_module
179 quotactl
180 nfsservctl getpmsg putpmsg afs_syscall tuxcall security gettid readahead setxattr lsetxattr
190 fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr
199 fremovexattr
200 tkill time futex sched_setaffinity sched_getaffinity set_thread_area io_setup io_destroy io_getevents
209 io_submit
210 io_cancel get_thread_area lookup_dcookie epoll_create epoll_ctl_old epoll_wait_old remap_file_pages
217 getdents64 set_tid_address restart_syscall
220 semtimedop fadvise64 timer_create timer_settime timer_gettime timer_getoverrun timer_delete clock_settime
228 clock_gettime clock_getres
230 clock_nanosleep exit_group epoll_wait epoll_ctl tgkill utimes vserver mbind set_mempolicy get_mempolicy
240 mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr kexec_load waitid add_key
249 request_key
250 keyctl ioprio_set ioprio_get inotify_init inotify_add_watch inotify_rm_watch migrate_pages openat mkdirat
259 mknodat
260 fchownat futimesat newfstatat unlinkat renameat linkat symlinkat readlinkat fchmodat faccessat
270 pselect6 ppoll unshare set_robust_list get_robust_list splice tee sync_file_range vmsplice move_pages
280 utimensat epoll_pwait signalfd timerfd_create eventfd fallocate timerfd_settime timerfd_gettime accept4
289 signalfd4
290 eventfd2 epoll_create1 dup3 pipe2 inotify_init1 preadv pwritev rt_tgsigqueueinfo perf_event_open recvmmsg
300 fanotify_init fanotify_mark prlimit64 name_to_handle_at open_by_handle_at clock_adjtime syncfs sendmmsg
308 setns getcpu
310 process_vm_readv process_vm_writev kcmp finit_module sched_setattr sched_getattr renameat2 seccomp
318 getrandom memfd_create
320 kexec_file_load bpf execveat userfaultfd membarrier mlock2 copy_file_range preadv2 pwritev2 pkey_mprotect
330 pkey_alloc pkey_free statx io_pgetevents rseq uretprobe uprobe";

/// What x32 has for itself, without its bit: the same table.
const X32: &str = "\
512 rt_sigaction rt_sigreturn ioctl readv writev recvfrom sendmsg recvmsg
520 execve ptrace rt_sigpending rt_sigtimedwait rt_sigqueueinfo sigaltstack timer_create mq_notify kexec_load
529 waitid set_robust_list get_robust_list vmsplice move_pages preadv pwritev rt_tgsigqueueinfo recvmmsg sendmmsg
539 process_vm_readv process_vm_writev setsockopt getsockopt io_setup io_submit execveat preadv2 pwritev2";

/// 32-bit x86: arch/x86/entry/syscalls/syscall_32.tbl (v6.18).
const I386: &str = "\
0 restart_syscall exit fork read write open close waitpid creat link
10 unlink execve chdir time mknod chmod lchown break oldstat lseek
20 getpid mount umount setuid getuid stime ptrace alarm oldfstat pause
30 utime stty gtty access nice ftime sync kill rename mkdir
40 rmdir dup pipe times prof brk setgid getgid signal geteuid
50 getegid acct umount2 lock ioctl fcntl mpx setpgid ulimit oldolduname
60 umask chroot ustat dup2 getppid getpgrp setsid sigaction sgetmask ssetmask
70 setreuid setregid sigsuspend sigpending sethostname setrlimit getrlimit getrusage gettimeofday settimeofday
80 getgroups setgroups select symlink oldlstat readlink uselib swapon reboot readdir
90 mmap munmap truncate ftruncate fchmod fchown getpriority setpriority profil statfs
100 fstatfs ioperm socketcall syslog setitimer getitimer stat lstat fstat olduname
110 iopl vhangup idle vm86old wait4 swapoff sysinfo ipc fsync sigreturn
120 clone setdomainname uname modify_ldt adjtimex mprotect sigprocmask create_module init_module delete_module
130 get_kernel_syms quotactl getpgid fchdir bdflush sysfs personality afs_syscall setfsuid setfsgid
140 _llseek getdents _newselect flock msync readv writev getsid fdatasync _sysctl
150 mlock munlock mlockall munlockall sched_setparam sched_getparam sched_setscheduler sched_getscheduler
158 sched_yield sched_get_priority_max
160 sched_get_priority_min sched_rr_get_interval nanosleep mremap setresuid getresuid vm86 query_module poll
169 nfsservctl
170 setresgid getresgid prctl rt_sigreturn rt_sigaction rt_sigprocmask rt_sigpending rt_sigtimedwait
178 rt_sigqueueinfo rt_sigsuspend
180 pread64 pwrite64 chown getcwd capget capset sigaltstack sendfile getpmsg putpmsg
190 vfork ugetrlimit mmap2 truncate64 ftruncate64 stat64 lstat64 fstat64 lchown32 getuid32
200 getgid32 geteuid32 getegid32 setreuid32 setregid32 getgroups32 setgroups32 fchown32 setresuid32
209 getresuid32
210 setresgid32 getresgid32 chown32 setuid32 setgid32 setfsuid32 setfsgid32 pivot_root mincore madvise
220 getdents64 fcntl64
224 gettid readahead setxattr lsetxattr fsetxattr getxattr
230 lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr tkill sendfile64
240 futex sched_setaffinity sched_getaffinity set_thread_area get_thread_area io_setup io_destroy io_getevents
248 io_submit io_cancel
250 fadvise64
252 exit_group lookup_dcookie epoll_create epoll_ctl epoll_wait remap_file_pages set_tid_address timer_create
260 timer_settime timer_gettime timer_getoverrun timer_delete clock_settime clock_gettime clock_getres
267 clock_nanosleep statfs64 fstatfs64
270 tgkill utimes fadvise64_64 vserver mbind get_mempolicy set_mempolicy mq_open mq_unlink mq_timedsend
280 mq_timedreceive mq_notify mq_getsetattr kexec_load waitid
286 add_key request_key keyctl ioprio_set
290 ioprio_get inotify_init inotify_add_watch inotify_rm_watch migrate_pages openat mkdirat mknodat fchownat
299 futimesat
300 fstatat64 unlinkat renameat linkat symlinkat readlinkat fchmodat faccessat pselect6 ppoll
310 unshare set_robust_list get_robust_list splice sync_file_range tee vmsplice move_pages getcpu epoll_pwait
320 utimensat signalfd timerfd_create eventfd fallocate timerfd_settime timerfd_gettime signalfd4 eventfd2
329 epoll_create1
330 dup3 pipe2 inotify_init1 preadv pwritev rt_tgsigqueueinfo perf_event_open recvmmsg fanotify_init
339 fanotify_mark
340 prlimit64 name_to_handle_at open_by_handle_at clock_adjtime syncfs sendmmsg setns process_vm_readv
348 process_vm_writev kcmp
350 finit_module sched_setattr sched_getattr renameat2 seccomp getrandom memfd_create bpf execveat socket
360 socketpair bind connect listen accept4 getsockopt setsockopt getsockname getpeername sendto
370 sendmsg recvfrom recvmsg shutdown userfaultfd membarrier mlock2 copy_file_range preadv2 pwritev2
380 pkey_mprotect pkey_alloc pkey_free statx arch_prctl io_pgetevents rseq
393 semget semctl shmget shmctl shmat shmdt msgget
400 msgsnd msgrcv msgctl clock_gettime64 clock_settime64 clock_adjtime64 clock_getres_time64
407 clock_nanosleep_time64 timer_gettime64 timer_settime64
410 timerfd_gettime64 timerfd_settime64 utimensat_time64 pselect6_time64 ppoll_time64
416 io_pgetevents_time64 recvmmsg_time64 mq_timedsend_time64 mq_timedreceive_time64
420 semtimedop_time64 rt_sigtimedwait_time64 futex_time64 sched_rr_get_interval_time64";

/// 64-bit ARM and RISC-V: include/uapi/asm-generic/unistd.h (v6.18).
const GENERIC: &str = "\
0 io_setup io_destroy io_submit io_cancel io_getevents setxattr lsetxattr fsetxattr getxattr lgetxattr
10 fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr getcwd lookup_dcookie
19 eventfd2
20 epoll_create1 epoll_ctl epoll_pwait dup dup3 fcntl inotify_init1 inotify_add_watch inotify_rm_watch ioctl
30 ioprio_set ioprio_get flock mknodat mkdirat unlinkat symlinkat linkat renameat umount2
40 mount pivot_root nfsservctl statfs fstatfs truncate ftruncate fallocate faccessat chdir
50 fchdir chroot fchmod fchmodat fchownat fchown openat close vhangup pipe2
60 quotactl getdents64 lseek read write readv writev pread64 pwrite64 preadv
70 pwritev sendfile pselect6 ppoll signalfd4 vmsplice splice tee readlinkat newfstatat
80 fstat sync fsync fdatasync sync_file_range2 timerfd_create timerfd_settime timerfd_gettime utimensat acct
90 capget capset personality exit exit_group waitid set_tid_address unshare futex set_robust_list
100 get_robust_list nanosleep getitimer setitimer kexec_load init_module delete_module timer_create
108 timer_gettime timer_getoverrun
110 timer_settime timer_delete clock_settime clock_gettime clock_getres clock_nanosleep syslog ptrace
118 sched_setparam sched_setscheduler
120 sched_getscheduler sched_getparam sched_setaffinity sched_getaffinity sched_yield sched_get_priority_max
126 sched_get_priority_min sched_rr_get_interval restart_syscall kill
130 tkill tgkill sigaltstack rt_sigsuspend rt_sigaction rt_sigprocmask rt_sigpending rt_sigtimedwait
138 rt_sigqueueinfo rt_sigreturn
140 setpriority getpriority reboot setregid setgid setreuid setuid setresuid getresuid setresgid
150 getresgid setfsuid setfsgid times setpgid getpgid getsid setsid getgroups setgroups
160 uname sethostname setdomainname getrlimit setrlimit getrusage umask prctl getcpu gettimeofday
170 settimeofday adjtimex getpid getppid getuid geteuid getgid getegid gettid sysinfo
180 mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr msgget msgctl msgrcv msgsnd
190 semget semctl semtimedop semop shmget shmctl shmat shmdt socket socketpair
200 bind listen accept connect getsockname getpeername sendto recvfrom setsockopt getsockopt
210 shutdown sendmsg recvmsg readahead brk munmap mremap add_key request_key keyctl
220 clone execve mmap fadvise64 swapon swapoff mprotect msync mlock munlock
230 mlockall munlockall mincore madvise remap_file_pages mbind get_mempolicy set_mempolicy migrate_pages
239 move_pages
240 rt_tgsigqueueinfo perf_event_open accept4 recvmmsg
260 wait4 prlimit64 fanotify_init fanotify_mark name_to_handle_at open_by_handle_at clock_adjtime syncfs setns
269 sendmmsg
270 process_vm_readv process_vm_writev kcmp finit_module sched_setattr sched_getattr renameat2 seccomp
278 getrandom memfd_create
280 bpf execveat userfaultfd membarrier mlock2 copy_file_range preadv2 pwritev2 pkey_mprotect pkey_alloc
290 pkey_free statx io_pgetevents rseq kexec_file_load";

/// The same numbers everywhere: scripts/syscall.tbl (v6.18).
const COMMON: &str = "\
424 pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount
430 fsopen fsconfig fsmount fspick pidfd_open clone3 close_range openat2 pidfd_getfd faccessat2
440 process_madvise epoll_pwait2 mount_setattr quotactl_fd landlock_create_ruleset landlock_add_rule
446 landlock_restrict_self memfd_secret process_mrelease futex_waitv
450 set_mempolicy_home_node cachestat fchmodat2 map_shadow_stack futex_wake futex_wait futex_requeue statmount
458 listmount lsm_get_self_attr
460 lsm_set_self_attr lsm_list_modules mseal setxattrat getxattrat listxattrat removexattrat open_tree_attr
468 file_getattr file_setattr";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_kernel() {
        let name = |abi, number| SyscallNames::of(abi).name(number).unwrap_or("");
        for (abi, number, expected) in [
            (SyscallAbi::X86_64, 0, "read"),
            (SyscallAbi::X86_64, 59, "execve"),
            (SyscallAbi::X86_64, 231, "exit_group"),
            (SyscallAbi::X86_64, 262, "newfstatat"),
            (SyscallAbi::X86_64, 334, "rseq"),
            (SyscallAbi::X86_64, 0x4000_0000 + 39, "getpid"),
            (SyscallAbi::X86_64, 0x4000_0000 + 520, "execve"),
            (SyscallAbi::X86_64, 0x4000_0000 + 547, "pwritev2"),
            (SyscallAbi::X86_64, 520, ""),
            (SyscallAbi::X86_64, 400, ""),
            (SyscallAbi::I386, 3, "read"),
            (SyscallAbi::I386, 11, "execve"),
            (SyscallAbi::I386, 252, "exit_group"),
            (SyscallAbi::I386, 403, "clock_gettime64"),
            (SyscallAbi::Generic, 63, "read"),
            (SyscallAbi::Generic, 79, "newfstatat"),
            (SyscallAbi::Generic, 94, "exit_group"),
            (SyscallAbi::Generic, 221, "execve"),
            (SyscallAbi::Generic, 291, "statx"),
            (SyscallAbi::Generic, 403, ""),
            (SyscallAbi::Other, 0, ""),
        ] {
            assert_eq!(name(abi, number), expected, "{abi:?} {number}");
        }
        for abi in [SyscallAbi::X86_64, SyscallAbi::I386, SyscallAbi::Generic] {
            assert_eq!(name(abi, 435), "clone3");
            assert_eq!(name(abi, 462), "mseal");
            assert_eq!(name(abi, 999), "");
            assert_eq!(name(abi, -1), "");
        }
    }

    #[test]
    fn each_number_is_there_once() {
        for table in [X86_64, X32, I386, GENERIC, COMMON] {
            let numbers: Vec<i64> = rows(table).map(|(number, _)| number).collect();
            assert!(numbers.is_sorted_by(|a, b| a < b));
            assert!(numbers[0] >= 0);
        }
    }

    #[test]
    fn machines_have_the_numbers_of_their_kernels() {
        assert_eq!(SyscallAbi::of_machine("riscv64"), SyscallAbi::Generic);
        assert_eq!(SyscallAbi::of_machine("aarch64"), SyscallAbi::Arm64);
        assert_eq!(SyscallAbi::of_machine("s390x"), SyscallAbi::Other);
        let x86 = SyscallAbi::of_machine("x86_64");
        assert_eq!(x86.of_32_bit_tasks(), SyscallAbi::I386);
        let names = SyscallNames::of(x86);
        assert_eq!(names.numbers("futex")[0], 202);
        assert_eq!(names.arguments(39), Some(""));
        assert_eq!(names.arguments(3), Some("fd:u"));
        assert_eq!(SyscallNames::of(SyscallAbi::I386).arguments(6), None);
        let last = |abi, number| {
            let arguments = SyscallNames::of(abi).arguments(number);
            arguments.and_then(|all| all.split(' ').next_back())
        };
        assert_eq!(last(SyscallAbi::X86_64, 56), Some("tls:p"));
        assert_eq!(last(SyscallAbi::Generic, 220), Some("child_tidptr:p"));
        let openat = SyscallNames::of(SyscallAbi::Arm64);
        assert!(
            openat
                .arguments(56)
                .is_some_and(|all| all.contains("flags:open_arm64"))
        );
    }
}
