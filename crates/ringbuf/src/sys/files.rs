//! Limits of this process: how many files may be open, how large the stack may become.

/// How large the stack of the first thread may become, bytes (`RLIMIT_STACK`, `ulimit -s`).
pub fn stack_limit() -> u64 {
    let mut limit = UNLIMITED;
    // SAFETY: the kernel writes one rlimit.
    let _ = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) };
    limit.rlim_cur
}

const UNLIMITED: libc::rlimit = libc::rlimit {
    rlim_cur: libc::RLIM_INFINITY,
    rlim_max: libc::RLIM_INFINITY,
};

/// `RLIMIT_NOFILE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFilesLimit {
    /// What counts now.
    pub soft: u64,
    /// What everybody may raise it to.
    pub hard: u64,
}

impl OpenFilesLimit {
    /// The limit of this process; no limit if the kernel does not say.
    pub fn now() -> Self {
        let mut limit = UNLIMITED;
        // SAFETY: the kernel writes one rlimit.
        let _ = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
        Self {
            soft: limit.rlim_cur,
            hard: limit.rlim_max,
        }
    }

    /// Raises the soft limit to the hard one; returns whether that gained anything.
    pub fn raise() -> bool {
        let Self { soft, hard } = Self::now();
        if soft >= hard {
            return false;
        }
        let limit = libc::rlimit {
            rlim_cur: hard,
            rlim_max: hard,
        };
        // SAFETY: reads one rlimit.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) == 0 }
    }
}
