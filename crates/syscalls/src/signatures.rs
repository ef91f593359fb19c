//! The arguments of each system call, by its name: a letter says how it reads (`arguments.rs`), or a word for
//! flags and operations (`flags.rs`).
//!
//! Source: the kernel's own fields of `syscalls:sys_enter_*` (v6.18); include/linux/syscalls.h.

/// A line for each, sorted by name.
pub(crate) const SIGNATURES: &str = "\
_llseek fd:u offset_high:z offset_low:z result:p whence:u
_newselect n:i inp:p outp:p exp:p tvp:p
accept fd:i upeer_sockaddr:p upeer_addrlen:p
accept4 fd:i upeer_sockaddr:p upeer_addrlen:p flags:cloexec
access filename:p mode:a
acct name:p
add_key type:p description:p payload:p plen:z ringid:i
adjtimex txc_p:p
alarm seconds:u
arch_prctl option:i arg2:p
bind fd:i umyaddr:p addrlen:i
bpf cmd:i uattr:p size:u
brk brk:p
cachestat fd:u cstat_range:p cstat:p flags:x
capget header:p dataptr:p
capset header:p data:p
chdir filename:p
chmod filename:p mode:o
chown filename:p user:u group:u
chown32 filename:p user:u group:u
chroot filename:p
clock_adjtime which_clock:i utx:p
clock_adjtime64 which_clock:i utx:p
clock_getres which_clock:i tp:p
clock_getres_time64 which_clock:i tp:p
clock_gettime which_clock:i tp:p
clock_gettime64 which_clock:i tp:p
clock_nanosleep which_clock:i flags:x rqtp:p rmtp:p
clock_nanosleep_time64 which_clock:i flags:x rqtp:p rmtp:p
clock_settime which_clock:i tp:p
clock_settime64 which_clock:i tp:p
clone clone_flags:clone newsp:p parent_tidptr:p child_tidptr:p tls:p
clone3 uargs:p size:z
close fd:u
close_range fd:u max_fd:u flags:x
connect fd:i uservaddr:p addrlen:i
copy_file_range fd_in:i off_in:p fd_out:i off_out:p len:z flags:x
creat pathname:p mode:o
delete_module name_user:p flags:x
dup fildes:u
dup2 oldfd:u newfd:u
dup3 oldfd:u newfd:u flags:cloexec
epoll_create size:i
epoll_create1 flags:cloexec
epoll_ctl epfd:i op:epoll fd:i event:p
epoll_pwait epfd:i events:p maxevents:i timeout:i sigmask:p sigsetsize:z
epoll_pwait2 epfd:i events:p maxevents:i timeout:p sigmask:p sigsetsize:z
epoll_wait epfd:i events:p maxevents:i timeout:i
eventfd count:u
eventfd2 count:u flags:eventfd
execve filename:p argv:p envp:p
execveat fd:i filename:p argv:p envp:p flags:at
exit error_code:i
exit_group error_code:i
faccessat dfd:f filename:p mode:a
faccessat2 dfd:f filename:p mode:a flags:x
fadvise64 fd:i offset:l len:z advice:i
fallocate fd:i mode:i offset:l len:l
fanotify_init flags:x event_f_flags:x
fanotify_mark fanotify_fd:i flags:x mask:x dfd:f pathname:p
fchdir fd:u
fchmod fd:u mode:o
fchmodat dfd:f filename:p mode:o
fchmodat2 dfd:f filename:p mode:o flags:x
fchown fd:u user:u group:u
fchown32 fd:u user:u group:u
fchownat dfd:f filename:p user:u group:u flag:at
fcntl fd:u cmd:fcntl arg:x
fcntl64 fd:u cmd:fcntl arg:p
fdatasync fd:u
fgetxattr fd:i name:p value:p size:z
file_getattr dfd:f filename:p ufattr:p usize:z at_flags:x
file_setattr dfd:f filename:p ufattr:p usize:z at_flags:x
finit_module fd:i uargs:p flags:x
flistxattr fd:i list:p size:z
flock fd:u cmd:flock
fork
fremovexattr fd:i name:p
fsconfig fd:i cmd:x key:p value:p aux:i
fsetxattr fd:i name:p value:p size:z flags:x
fsmount fs_fd:i flags:x attr_flags:x
fsopen fs_name:p flags:x
fspick dfd:f path:p flags:x
fstat fd:u statbuf:p
fstat64 fd:z statbuf:p
fstatat64 dfd:f filename:p statbuf:p flag:at
fstatfs fd:u buf:p
fstatfs64 fd:u sz:z buf:p
fsync fd:u
ftruncate fd:u length:l
futex uaddr:p op:futex val:u utime:p uaddr2:p val3:match
futex_requeue waiters:p flags:x nr_wake:i nr_requeue:i
futex_time64 uaddr:p op:futex val:u utime:p uaddr2:p val3:match
futex_wait uaddr:p val:z mask:x flags:x timeout:p clockid:i
futex_waitv waiters:p nr_futexes:u flags:x timeout:p clockid:i
futex_wake uaddr:p mask:x nr:i flags:x
futimesat dfd:f filename:p utimes:p
get_mempolicy policy:p nmask:p maxnode:z addr:x flags:x
get_robust_list pid:i head_ptr:p len_ptr:p
get_thread_area u_info:p
getcpu cpup:p nodep:p unused:p
getcwd buf:p size:z
getdents fd:u dirent:p count:u
getdents64 fd:u dirent:p count:u
getegid
getegid32
geteuid
geteuid32
getgid
getgid32
getgroups gidsetsize:i grouplist:p
getgroups32 gidsetsize:i grouplist:p
getitimer which:i value:p
getpeername fd:i usockaddr:p usockaddr_len:p
getpgid pid:i
getpgrp
getpid
getppid
getpriority which:i who:i
getrandom ubuf:p len:z flags:getrandom
getresgid rgidp:p egidp:p sgidp:p
getresgid32 rgidp:p egidp:p sgidp:p
getresuid ruidp:p euidp:p suidp:p
getresuid32 ruidp:p euidp:p suidp:p
getrlimit resource:rlimit rlim:p
getrusage who:i ru:p
getsid pid:i
getsockname fd:i usockaddr:p usockaddr_len:p
getsockopt fd:i level:i optname:i optval:p optlen:p
gettid
gettimeofday tv:p tz:p
getuid
getuid32
getxattr pathname:p name:p value:p size:z
getxattrat dfd:f pathname:p at_flags:x name:p uargs:p usize:z
init_module umod:p len:z uargs:p
inotify_add_watch fd:i pathname:p mask:x
inotify_init
inotify_init1 flags:cloexec
inotify_rm_watch fd:i wd:i
io_cancel ctx_id:p iocb:p result:p
io_destroy ctx:p
io_getevents ctx_id:p min_nr:l nr:l events:p timeout:p
io_pgetevents ctx_id:p min_nr:l nr:l events:p timeout:p usig:p
io_pgetevents_time64 ctx_id:p min_nr:l nr:l events:p timeout:p usig:p
io_setup nr_events:u ctxp:p
io_submit ctx_id:p nr:l iocbpp:p
io_uring_enter fd:u to_submit:u min_complete:u flags:x argp:p argsz:z
io_uring_register fd:u opcode:u arg:p nr_args:u
io_uring_setup entries:u params:p
ioctl fd:u cmd:x arg:x
ioperm from:z num:z turn_on:i
iopl level:u
ioprio_get which:i who:i
ioprio_set which:i who:i ioprio:i
ipc call:u first:i second:z third:z ptr:p fifth:l
kcmp pid1:i pid2:i type:i idx1:z idx2:z
kexec_file_load kernel_fd:i initrd_fd:i cmdline_len:z cmdline_ptr:p flags:x
kexec_load entry:p nr_segments:z segments:p flags:x
keyctl option:i arg2:p arg3:p arg4:p arg5:p
kill pid:i sig:s
landlock_add_rule ruleset_fd:i rule_type:i rule_attr:p flags:x
landlock_create_ruleset attr:p size:z flags:x
landlock_restrict_self ruleset_fd:i flags:x
lchown filename:p user:u group:u
lchown32 filename:p user:u group:u
lgetxattr pathname:p name:p value:p size:z
link oldname:p newname:p
linkat olddfd:f oldname:p newdfd:f newname:p flags:at
listen fd:i backlog:i
listmount req:p mnt_ids:p nr_mnt_ids:z flags:x
listxattr pathname:p list:p size:z
listxattrat dfd:f pathname:p at_flags:x list:p size:z
llistxattr pathname:p list:p size:z
lremovexattr pathname:p name:p
lseek fd:u offset:l whence:whence
lsetxattr pathname:p name:p value:p size:z flags:x
lsm_get_self_attr attr:u ctx:p size:p flags:x
lsm_list_modules ids:p size:p flags:x
lsm_set_self_attr attr:u ctx:p size:u flags:x
lstat filename:p statbuf:p
lstat64 filename:p statbuf:p
madvise start:x len_in:z behavior:madvise
mbind start:x len:z mode:z nmask:p maxnode:z flags:x
membarrier cmd:x flags:x cpu_id:i
memfd_create uname:p flags:x
memfd_secret flags:x
migrate_pages pid:i maxnode:z old_nodes:p new_nodes:p
mincore start:x len:z vec:p
mkdir pathname:p mode:o
mkdirat dfd:f pathname:p mode:o
mknod filename:p mode:o dev:u
mknodat dfd:f filename:p mode:o dev:u
mlock start:x len:z
mlock2 start:x len:z flags:x
mlockall flags:x
mmap addr:x len:z prot:prot flags:map fd:i off:x
mmap2 addr:p len:z prot:prot flags:map fd:i pgoff:z
modify_ldt func:i ptr:p bytecount:z
mount dev_name:p dir_name:p type:p flags:x data:p
mount_setattr dfd:f path:p flags:x uattr:p usize:z
move_mount from_dfd:f from_pathname:p to_dfd:f to_pathname:p flags:x
move_pages pid:i nr_pages:z pages:p nodes:p status:p flags:x
mprotect start:x len:z prot:prot
mq_getsetattr mqdes:i u_mqstat:p u_omqstat:p
mq_notify mqdes:i u_notification:p
mq_open u_name:p oflag:i mode:o u_attr:p
mq_timedreceive mqdes:i u_msg_ptr:p msg_len:z u_msg_prio:p u_abs_timeout:p
mq_timedreceive_time64 mqdes:i u_msg_ptr:p msg_len:z u_msg_prio:p u_abs_timeout:p
mq_timedsend mqdes:i u_msg_ptr:p msg_len:z msg_prio:u u_abs_timeout:p
mq_timedsend_time64 mqdes:i u_msg_ptr:p msg_len:z msg_prio:u u_abs_timeout:p
mq_unlink u_name:p
mremap addr:x old_len:z new_len:z flags:mremap new_addr:p
mseal start:x len:z flags:x
msgctl msqid:i cmd:i buf:p
msgget key:i msgflg:i
msgrcv msqid:i msgp:p msgsz:z msgtyp:l msgflg:i
msgsnd msqid:i msgp:p msgsz:z msgflg:i
msync start:x len:z flags:x
munlock start:x len:z
munlockall
munmap addr:x len:z
name_to_handle_at dfd:f name:p handle:p mnt_id:p flag:x
nanosleep rqtp:p rmtp:p
newfstatat dfd:f filename:p statbuf:p flag:at
nice increment:i
olduname name:p
open filename:p flags:open mode:o
open_by_handle_at mountdirfd:i handle:p flags:open
open_tree dfd:f filename:p flags:x
open_tree_attr dfd:f filename:p flags:x uattr:p usize:z
openat dfd:f filename:p flags:open mode:o
openat2 dfd:f filename:p how:p usize:z
pause
perf_event_open attr_uptr:p pid:i cpu:i group_fd:i flags:x
personality personality:u
pidfd_getfd pidfd:i fd:i flags:x
pidfd_open pid:i flags:x
pidfd_send_signal pidfd:i sig:s info:p flags:x
pipe fildes:p
pipe2 fildes:p flags:cloexec
pivot_root new_root:p put_old:p
pkey_alloc flags:x init_val:z
pkey_free pkey:i
pkey_mprotect start:x len:z prot:prot pkey:i
poll ufds:p nfds:u timeout_msecs:i
ppoll ufds:p nfds:u tsp:p sigmask:p sigsetsize:z
ppoll_time64 ufds:p nfds:u tsp:p sigmask:p sigsetsize:z
prctl option:prctl arg2:p arg3:p arg4:p arg5:p
pread64 fd:u buf:p count:z pos:l
preadv fd:z vec:p vlen:z pos_l:z pos_h:z
preadv2 fd:z vec:p vlen:z pos_l:z pos_h:z flags:x
prlimit64 pid:i resource:rlimit new_rlim:p old_rlim:p
process_madvise pidfd:i vec:p vlen:z behavior:madvise flags:x
process_mrelease pidfd:i flags:x
process_vm_readv pid:i lvec:p liovcnt:z rvec:p riovcnt:z flags:x
process_vm_writev pid:i lvec:p liovcnt:z rvec:p riovcnt:z flags:x
pselect6 n:i inp:p outp:p exp:p tsp:p sig:p
pselect6_time64 n:i inp:p outp:p exp:p tsp:p sig:p
ptrace request:l pid:l addr:x data:p
pwrite64 fd:u buf:p count:z pos:l
pwritev fd:z vec:p vlen:z pos_l:z pos_h:z
pwritev2 fd:z vec:p vlen:z pos_l:z pos_h:z flags:x
quotactl cmd:x special:p id:u addr:p
quotactl_fd fd:u cmd:x id:u addr:p
read fd:u buf:p count:z
readahead fd:i offset:l count:z
readlink path:p buf:p bufsiz:i
readlinkat dfd:f pathname:p buf:p bufsiz:i
readv fd:z vec:p vlen:z
reboot magic1:i magic2:i cmd:x arg:p
recvfrom fd:i ubuf:p size:z flags:msg addr:p addr_len:p
recvmmsg fd:i mmsg:p vlen:u flags:msg timeout:p
recvmmsg_time64 fd:i mmsg:p vlen:u flags:msg timeout:p
recvmsg fd:i msg:p flags:msg
remap_file_pages start:x size:z prot:x pgoff:z flags:x
removexattr pathname:p name:p
removexattrat dfd:f pathname:p at_flags:x name:p
rename oldname:p newname:p
renameat olddfd:f oldname:p newdfd:f newname:p
renameat2 olddfd:f oldname:p newdfd:f newname:p flags:rename
request_key type:p description:p callout_info:p destringid:i
restart_syscall
rmdir pathname:p
rseq rseq:p rseq_len:u flags:x sig:s
rt_sigaction sig:s act:p oact:p sigsetsize:z
rt_sigpending uset:p sigsetsize:z
rt_sigprocmask how:sighow nset:p oset:p sigsetsize:z
rt_sigqueueinfo pid:i sig:s uinfo:p
rt_sigreturn
rt_sigsuspend unewset:p sigsetsize:z
rt_sigtimedwait uthese:p uinfo:p uts:p sigsetsize:z
rt_sigtimedwait_time64 uthese:p uinfo:p uts:p sigsetsize:z
rt_tgsigqueueinfo tgid:i pid:i sig:s uinfo:p
sched_get_priority_max policy:i
sched_get_priority_min policy:i
sched_getaffinity pid:i len:u user_mask_ptr:p
sched_getattr pid:i uattr:p usize:u flags:x
sched_getparam pid:i param:p
sched_getscheduler pid:i
sched_rr_get_interval pid:i interval:p
sched_rr_get_interval_time64 pid:i interval:p
sched_setaffinity pid:i len:u user_mask_ptr:p
sched_setattr pid:i uattr:p flags:x
sched_setparam pid:i param:p
sched_setscheduler pid:i policy:i param:p
sched_yield
seccomp op:x flags:x uargs:p
select n:i inp:p outp:p exp:p tvp:p
semctl semid:i semnum:i cmd:i arg:x
semget key:i nsems:i semflg:i
semop semid:i tsops:p nsops:u
semtimedop semid:i tsops:p nsops:u timeout:p
semtimedop_time64 semid:i tsops:p nsops:u timeout:p
sendfile out_fd:i in_fd:i offset:p count:z
sendfile64 out_fd:i in_fd:i offset:p count:z
sendmmsg fd:i mmsg:p vlen:u flags:msg
sendmsg fd:i msg:p flags:msg
sendto fd:i buff:p len:z flags:msg addr:p addr_len:i
set_mempolicy mode:i nmask:p maxnode:z
set_mempolicy_home_node start:x len:z home_node:z flags:x
set_robust_list head:p len:z
set_thread_area u_info:p
set_tid_address tidptr:p
setdomainname name:p len:i
setfsgid gid:u
setfsgid32 gid:u
setfsuid uid:u
setfsuid32 uid:u
setgid gid:u
setgid32 gid:u
setgroups gidsetsize:i grouplist:p
setgroups32 gidsetsize:i grouplist:p
sethostname name:p len:i
setitimer which:i value:p ovalue:p
setns fd:i flags:x
setpgid pid:i pgid:i
setpriority which:i who:i niceval:i
setregid rgid:u egid:u
setregid32 rgid:u egid:u
setresgid rgid:u egid:u sgid:u
setresgid32 rgid:u egid:u sgid:u
setresuid ruid:u euid:u suid:u
setresuid32 ruid:u euid:u suid:u
setreuid ruid:u euid:u
setreuid32 ruid:u euid:u
setrlimit resource:rlimit rlim:p
setsid
setsockopt fd:i level:i optname:i optval:p optlen:i
settimeofday tv:p tz:p
setuid uid:u
setuid32 uid:u
setxattr pathname:p name:p value:p size:z flags:x
setxattrat dfd:f pathname:p at_flags:x name:p uargs:p usize:z
shmat shmid:i shmaddr:p shmflg:i
shmctl shmid:i cmd:i buf:p
shmdt shmaddr:p
shmget key:i size:z shmflg:i
shutdown fd:i how:i
sigaction sig:s act:p oact:p
sigaltstack uss:p uoss:p
signal sig:s handler:p
signalfd ufd:i user_mask:p sizemask:x
signalfd4 ufd:i user_mask:p sizemask:x flags:cloexec
sigpending set:p
sigprocmask how:sighow nset:p oset:p
sigreturn
socket family:family type:socktype protocol:i
socketcall call:i args:p
socketpair family:family type:socktype protocol:i usockvec:p
splice fd_in:i off_in:p fd_out:i off_out:p len:z flags:x
stat filename:p statbuf:p
stat64 filename:p statbuf:p
statfs pathname:p buf:p
statfs64 path:p sz:z buf:p
statmount req:p buf:p bufsize:z flags:x
statx dfd:f filename:p flags:at mask:statx buffer:p
swapoff specialfile:p
swapon specialfile:p swap_flags:x
symlink oldname:p newname:p
symlinkat oldname:p newdfd:f newname:p
sync
sync_file_range fd:i offset:l nbytes:l flags:x
sync_file_range2 fd:i flags:x offset:l nbytes:l
syncfs fd:i
sysfs option:i arg1:z arg2:p
sysinfo info:p
syslog type:i buf:p len:i
tee fdin:i fdout:i len:z flags:x
tgkill tgid:i pid:i sig:s
time tloc:p
timer_create which_clock:i timer_event_spec:p created_timer_id:p
timer_delete timer_id:i
timer_getoverrun timer_id:i
timer_gettime timer_id:i setting:p
timer_gettime64 timer_id:i setting:p
timer_settime timer_id:i flags:x new_setting:p old_setting:p
timer_settime64 timer_id:i flags:x new_setting:p old_setting:p
timerfd_create clockid:i flags:cloexec
timerfd_gettime ufd:i otmr:p
timerfd_gettime64 ufd:i otmr:p
timerfd_settime ufd:i flags:x utmr:p otmr:p
timerfd_settime64 ufd:i flags:x utmr:p otmr:p
times tbuf:p
tkill pid:i sig:s
truncate path:p length:l
ugetrlimit resource:rlimit rlim:p
umask mask:x
umount name:p flags:x
umount2 name:p flags:x
uname name:p
unlink pathname:p
unlinkat dfd:f pathname:p flag:unlinkat
unshare unshare_flags:clone
uprobe
uretprobe
userfaultfd flags:x
ustat dev:u ubuf:p
utime filename:p times:p
utimensat dfd:f filename:p utimes:p flags:at
utimensat_time64 dfd:f filename:p utimes:p flags:x
utimes filename:p utimes:p
vfork
vhangup
vmsplice fd:i uiov:p nr_segs:z flags:x
wait4 upid:i stat_addr:p options:wait ru:p
waitid which:i upid:i infop:p options:wait ru:p
waitpid pid:i stat_addr:p options:wait
write fd:u buf:p count:z
writev fd:z vec:p vlen:z";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::write_words;

    #[test]
    fn signatures_are_sorted_and_have_known_kinds() {
        let names = SIGNATURES.lines().map(|line| line.split(' ').next());
        assert!(names.is_sorted_by(|a, b| a < b));
        for line in SIGNATURES.lines() {
            let arguments = line.split(' ').skip(1);
            assert!(arguments.clone().count() <= 6, "{line}");
            for argument in arguments {
                let kind = argument.split_once(':').map(|(_, kind)| kind);
                let is_known = kind.is_some_and(|kind| match kind.len() {
                    1 => "iulzxpofsa".contains(kind),
                    _ => kind == "match" || write_words(kind, 0, &mut String::new()),
                });
                assert!(is_known, "{line}");
            }
        }
    }
}
