//! [`LockKind`]: what is waited for.

/// A kind of lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum LockKind {
    /// A futex: what mutexes, condition variables and the like of user space wait with.
    Futex,
    /// A futex that lends its priority.
    FutexPi,
    /// A lock of the kernel, by its flags.
    Kernel(u64),
}

/// `LCB_F_*`; include/trace/events/lock.h (v6.1).
pub(crate) const SPIN: u64 = 1;
const READ: u64 = 1 << 1;
const WRITE: u64 = 1 << 2;
const RT: u64 = 1 << 3;
const PERCPU: u64 = 1 << 4;
const MUTEX: u64 = 1 << 5;

impl LockKind {
    /// What perf lock calls it.
    ///
    /// Source: tools/perf/builtin-lock.c (v6.1), `lock_type_table`.
    pub(crate) fn name(self) -> &'static str {
        let flags = match self {
            Self::Futex => return "futex",
            Self::FutexPi => return "futex PI",
            Self::Kernel(flags) => flags,
        };
        let of = |base: u64, [any, read, write]: [&'static str; 3]| match flags {
            flags if flags == base | READ => Some(read),
            flags if flags == base | WRITE => Some(write),
            flags if flags == base => Some(any),
            _ => None,
        };
        of(0, ["semaphore", "rwsem:R", "rwsem:W"])
            .or_else(|| of(SPIN, ["spinlock", "rwlock:R", "rwlock:W"]))
            .or_else(|| of(RT, ["rt-mutex", "rwlock-rt:R", "rwlock-rt:W"]))
            .or_else(|| of(PERCPU, ["unknown", "pcpu-sem:R", "pcpu-sem:W"]))
            .or_else(|| (flags & !SPIN == MUTEX).then_some("mutex"))
            .unwrap_or("unknown")
    }
}

/// Functions that wait, by how their names begin after underscores: who called them wants the lock.
const WAITERS: &[&str] = &[
    "down_interruptible",
    "down_killable",
    "down_read",
    "down_timeout",
    "down_write",
    "futex_abstimed_wait",
    "futex_wait",
    "lll_",
    "mutex_lock",
    "native_queued_",
    "percpu_down",
    "percpu_rwsem",
    "pthread_cond_",
    "pthread_mutex_",
    "pthread_rwlock_",
    "pv_queued_",
    "queued_read_lock",
    "queued_spin_lock",
    "queued_write_lock",
    "raw_read_lock",
    "raw_spin_lock",
    "raw_write_lock",
    "rt_mutex_",
    "rt_spin_lock",
    "rwsem_",
];

/// The same with their whole names.
const WAITERS_BY_NAME: &[&str] = &["down", "schedule", "schedule_timeout", "syscall"];

/// Whether a function is one that waits for others.
pub(crate) fn is_waiter(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    let name = name.strip_prefix("GI_").unwrap_or(name);
    let name = name.trim_start_matches('_');
    WAITERS.iter().any(|start| name.starts_with(start)) || WAITERS_BY_NAME.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_perfs_names() {
        for (flags, name) in [
            (0, "semaphore"),
            (SPIN, "spinlock"),
            (SPIN | WRITE, "rwlock:W"),
            (READ, "rwsem:R"),
            (WRITE, "rwsem:W"),
            (RT, "rt-mutex"),
            (PERCPU | READ, "pcpu-sem:R"),
            (MUTEX, "mutex"),
            (MUTEX | SPIN, "mutex"),
            (1 << 20, "unknown"),
        ] {
            assert_eq!(LockKind::Kernel(flags).name(), name);
        }
    }

    #[test]
    fn callers_are_not_those_that_wait() {
        for waiter in [
            "__pthread_mutex_lock_full",
            "__GI___lll_lock_wait",
            "down_read",
            "down",
        ] {
            assert!(is_waiter(waiter), "{waiter}");
        }
        for caller in ["main", "do_exit", "download", "__pthread_clockjoin_ex"] {
            assert!(!is_waiter(caller), "{caller}");
        }
    }
}
