//! Flags and operations in words, as perf trace prints them.
//!
//! Source: headers in include/uapi (v6.18); the order is that of tools/perf/trace/beauty (v6.1).

use std::fmt::Write;

/// How a number reads.
struct Words {
    /// Bits of a value that is one of these: in perf's `RDWR|CLOEXEC`, that is the first.
    choice_mask: u64,
    choices: &'static [(u64, &'static str)],
    bits: &'static [(u64, &'static str)],
    /// Without any bit.
    zero: &'static str,
    /// Whether only the low 32 bits of the argument count.
    is_int: bool,
}

const FLAGS: Words = Words {
    choice_mask: 0,
    choices: &[],
    bits: &[],
    zero: "0",
    is_int: true,
};

/// One of these.
const fn one_of(choices: &'static [(u64, &'static str)]) -> Words {
    Words {
        choice_mask: u64::MAX,
        choices,
        ..FLAGS
    }
}

/// Any of these.
const fn any_of(bits: &'static [(u64, &'static str)]) -> Words {
    Words { bits, ..FLAGS }
}

/// Appends a number in the words of a kind; returns false if there is no such kind. What has no word is a hexadecimal
/// number.
pub(crate) fn write_words(kind: &str, arg: u64, out: &mut String) -> bool {
    let Some(words) = words_of(kind) else {
        return false;
    };
    let value = if words.is_int {
        arg & u64::from(u32::MAX)
    } else {
        arg
    };
    let mut rest = value;
    let mut n_words = 0;
    let mut say = |word: &str| {
        if n_words > 0 {
            out.push('|');
        }
        out.push_str(word);
        n_words += 1;
    };
    let chosen = value & words.choice_mask;
    let choice = words.choices.iter().find(|(number, _)| *number == chosen);
    if let Some((_, word)) = choice {
        say(word);
        rest &= !words.choice_mask;
    }
    for &(mask, word) in words.bits {
        if rest & mask == mask {
            say(word);
            rest &= !mask;
        }
    }
    if rest != 0 {
        say("");
        // Writing to a string does not fail.
        let _ = write!(out, "{rest:#x}");
    } else if n_words == 0 {
        out.push_str(words.zero);
    }
    true
}

fn words_of(kind: &str) -> Option<Words> {
    Some(match kind {
        "open" | "open_arm64" => Words {
            choice_mask: 3,
            choices: &[(0, "RDONLY"), (2, "RDWR")],
            bits: if kind == "open" { OPEN } else { OPEN_ARM64 },
            ..FLAGS
        },
        "prot" => Words {
            zero: "NONE",
            is_int: false,
            ..any_of(PROT)
        },
        "map" => Words {
            choice_mask: 3,
            choices: &[(1, "SHARED"), (2, "PRIVATE"), (3, "SHARED_VALIDATE")],
            bits: MAP,
            is_int: false,
            ..FLAGS
        },
        "mremap" => any_of(&[(1, "MAYMOVE"), (2, "FIXED"), (4, "DONTUNMAP")]),
        "madvise" => one_of(MADVISE),
        "clone" => Words {
            is_int: false,
            ..any_of(CLONE)
        },
        "futex" => Words {
            choice_mask: 0x7f,
            choices: FUTEX,
            bits: &[(0x80, "PRIVATE_FLAG"), (0x100, "CLOCK_REALTIME")],
            ..FLAGS
        },
        "family" => one_of(FAMILIES),
        "socktype" => Words {
            choice_mask: 0xf,
            choices: SOCKET_TYPES,
            bits: CLOEXEC_NONBLOCK,
            ..FLAGS
        },
        "msg" => any_of(MSG),
        "cloexec" => any_of(CLOEXEC_NONBLOCK),
        "eventfd" => any_of(&[(1, "SEMAPHORE"), (0x8_0000, "CLOEXEC"), (0x800, "NONBLOCK")]),
        "whence" => one_of(&[(0, "SET"), (1, "CUR"), (2, "END"), (3, "DATA"), (4, "HOLE")]),
        "fcntl" => one_of(FCNTL),
        "flock" => any_of(&[(1, "SH"), (2, "EX"), (4, "NB"), (8, "UN"), (32, "MAND")]),
        "getrandom" => any_of(&[(1, "NONBLOCK"), (2, "RANDOM")]),
        "sighow" => one_of(&[(0, "BLOCK"), (1, "UNBLOCK"), (2, "SETMASK")]),
        "rename" => any_of(&[(1, "NOREPLACE"), (2, "EXCHANGE"), (4, "WHITEOUT")]),
        "epoll" => one_of(&[(1, "ADD"), (2, "DEL"), (3, "MOD")]),
        "rlimit" => one_of(RLIMITS),
        "wait" => any_of(&[
            (1, "NOHANG"),
            (2, "UNTRACED"),
            (4, "EXITED"),
            (8, "CONTINUED"),
        ]),
        "at" => any_of(AT),
        "unlinkat" => any_of(&[(0x200, "REMOVEDIR")]),
        "statx" => any_of(STATX),
        "prctl" => one_of(PRCTL),
        _ => return None,
    })
}

/// `O_SYNC` has the bit of `O_DSYNC`, too.
const OPEN: &[(u64, &str)] = &[
    (0x400, "APPEND"),
    (0x2000, "ASYNC"),
    (0x8_0000, "CLOEXEC"),
    (0x40, "CREAT"),
    (0x4000, "DIRECT"),
    (0x1_0000, "DIRECTORY"),
    (0x80, "EXCL"),
    (0x8000, "LARGEFILE"),
    (0x2_0000, "NOFOLLOW"),
    (0x40_0000, "TMPFILE"),
    (0x4_0000, "NOATIME"),
    (0x100, "NOCTTY"),
    (0x800, "NONBLOCK"),
    (0x20_0000, "PATH"),
    (0x10_1000, "SYNC"),
    (0x1000, "DSYNC"),
    (0x200, "TRUNC"),
    (1, "WRONLY"),
];

/// arch/arm64/include/uapi/asm/fcntl.h.
const OPEN_ARM64: &[(u64, &str)] = &[
    (0x400, "APPEND"),
    (0x2000, "ASYNC"),
    (0x8_0000, "CLOEXEC"),
    (0x40, "CREAT"),
    (0x1_0000, "DIRECT"),
    (0x4000, "DIRECTORY"),
    (0x80, "EXCL"),
    (0x2_0000, "LARGEFILE"),
    (0x8000, "NOFOLLOW"),
    (0x40_0000, "TMPFILE"),
    (0x4_0000, "NOATIME"),
    (0x100, "NOCTTY"),
    (0x800, "NONBLOCK"),
    (0x20_0000, "PATH"),
    (0x10_1000, "SYNC"),
    (0x1000, "DSYNC"),
    (0x200, "TRUNC"),
    (1, "WRONLY"),
];

const PROT: &[(u64, &str)] = &[
    (1, "READ"),
    (2, "WRITE"),
    (4, "EXEC"),
    (8, "SEM"),
    (0x100_0000, "GROWSDOWN"),
    (0x200_0000, "GROWSUP"),
];

const MAP: &[(u64, &str)] = &[
    (0x10, "FIXED"),
    (0x20, "ANONYMOUS"),
    (0x40, "32BIT"),
    (0x100, "GROWSDOWN"),
    (0x800, "DENYWRITE"),
    (0x1000, "EXECUTABLE"),
    (0x2000, "LOCKED"),
    (0x4000, "NORESERVE"),
    (0x8000, "POPULATE"),
    (0x1_0000, "NONBLOCK"),
    (0x2_0000, "STACK"),
    (0x4_0000, "HUGETLB"),
    (0x8_0000, "SYNC"),
    (0x10_0000, "FIXED_NOREPLACE"),
    (0x400_0000, "UNINITIALIZED"),
];

const MADVISE: &[(u64, &str)] = &[
    (0, "MADV_NORMAL"),
    (1, "MADV_RANDOM"),
    (2, "MADV_SEQUENTIAL"),
    (3, "MADV_WILLNEED"),
    (4, "MADV_DONTNEED"),
    (8, "MADV_FREE"),
    (9, "MADV_REMOVE"),
    (10, "MADV_DONTFORK"),
    (11, "MADV_DOFORK"),
    (12, "MADV_MERGEABLE"),
    (13, "MADV_UNMERGEABLE"),
    (14, "MADV_HUGEPAGE"),
    (15, "MADV_NOHUGEPAGE"),
    (16, "MADV_DONTDUMP"),
    (17, "MADV_DODUMP"),
    (18, "MADV_WIPEONFORK"),
    (19, "MADV_KEEPONFORK"),
    (20, "MADV_COLD"),
    (21, "MADV_PAGEOUT"),
    (22, "MADV_POPULATE_READ"),
    (23, "MADV_POPULATE_WRITE"),
    (24, "MADV_DONTNEED_LOCKED"),
    (25, "MADV_COLLAPSE"),
    (100, "MADV_HWPOISON"),
    (101, "MADV_SOFT_OFFLINE"),
    (102, "MADV_GUARD_INSTALL"),
    (103, "MADV_GUARD_REMOVE"),
];

/// The low byte is the signal that the child ends with, which perf prints as a number, too.
const CLONE: &[(u64, &str)] = &[
    (0x100, "VM"),
    (0x200, "FS"),
    (0x400, "FILES"),
    (0x800, "SIGHAND"),
    (0x1000, "PIDFD"),
    (0x2000, "PTRACE"),
    (0x4000, "VFORK"),
    (0x8000, "PARENT"),
    (0x1_0000, "THREAD"),
    (0x2_0000, "NEWNS"),
    (0x4_0000, "SYSVSEM"),
    (0x8_0000, "SETTLS"),
    (0x10_0000, "PARENT_SETTID"),
    (0x20_0000, "CHILD_CLEARTID"),
    (0x40_0000, "DETACHED"),
    (0x80_0000, "UNTRACED"),
    (0x100_0000, "CHILD_SETTID"),
    (0x200_0000, "NEWCGROUP"),
    (0x400_0000, "NEWUTS"),
    (0x800_0000, "NEWIPC"),
    (0x1000_0000, "NEWUSER"),
    (0x2000_0000, "NEWPID"),
    (0x4000_0000, "NEWNET"),
    (0x8000_0000, "IO"),
];

const FUTEX: &[(u64, &str)] = &[
    (0, "WAIT"),
    (1, "WAKE"),
    (2, "FD"),
    (3, "REQUEUE"),
    (4, "CMP_REQUEUE"),
    (5, "WAKE_OP"),
    (6, "LOCK_PI"),
    (7, "UNLOCK_PI"),
    (8, "TRYLOCK_PI"),
    (9, "WAIT_BITSET"),
    (10, "WAKE_BITSET"),
    (11, "WAIT_REQUEUE_PI"),
    (12, "CMP_REQUEUE_PI"),
    (13, "LOCK_PI2"),
];

const FAMILIES: &[(u64, &str)] = &[
    (0, "UNSPEC"),
    (1, "LOCAL"),
    (2, "INET"),
    (3, "AX25"),
    (4, "IPX"),
    (5, "APPLETALK"),
    (6, "NETROM"),
    (7, "BRIDGE"),
    (8, "ATMPVC"),
    (9, "X25"),
    (10, "INET6"),
    (15, "KEY"),
    (16, "NETLINK"),
    (17, "PACKET"),
    (21, "RDS"),
    (24, "PPPOX"),
    (26, "LLC"),
    (27, "IB"),
    (28, "MPLS"),
    (29, "CAN"),
    (30, "TIPC"),
    (31, "BLUETOOTH"),
    (33, "RXRPC"),
    (38, "ALG"),
    (39, "NFC"),
    (40, "VSOCK"),
    (41, "KCM"),
    (42, "QIPCRTR"),
    (43, "SMC"),
    (44, "XDP"),
    (45, "MCTP"),
];

const SOCKET_TYPES: &[(u64, &str)] = &[
    (1, "STREAM"),
    (2, "DGRAM"),
    (3, "RAW"),
    (4, "RDM"),
    (5, "SEQPACKET"),
    (6, "DCCP"),
    (10, "PACKET"),
];

/// Of files and sockets of all kinds.
const CLOEXEC_NONBLOCK: &[(u64, &str)] = &[(0x8_0000, "CLOEXEC"), (0x800, "NONBLOCK")];

const MSG: &[(u64, &str)] = &[
    (1, "OOB"),
    (2, "PEEK"),
    (4, "DONTROUTE"),
    (8, "CTRUNC"),
    (0x10, "PROBE"),
    (0x20, "TRUNC"),
    (0x40, "DONTWAIT"),
    (0x80, "EOR"),
    (0x100, "WAITALL"),
    (0x200, "FIN"),
    (0x400, "SYN"),
    (0x800, "CONFIRM"),
    (0x1000, "RST"),
    (0x2000, "ERRQUEUE"),
    (0x4000, "NOSIGNAL"),
    (0x8000, "MORE"),
    (0x1_0000, "WAITFORONE"),
    (0x400_0000, "ZEROCOPY"),
    (0x2000_0000, "FASTOPEN"),
    (0x4000_0000, "CMSG_CLOEXEC"),
];

const FCNTL: &[(u64, &str)] = &[
    (0, "DUPFD"),
    (1, "GETFD"),
    (2, "SETFD"),
    (3, "GETFL"),
    (4, "SETFL"),
    (5, "GETLK"),
    (6, "SETLK"),
    (7, "SETLKW"),
    (8, "SETOWN"),
    (9, "GETOWN"),
    (10, "SETSIG"),
    (11, "GETSIG"),
    (15, "SETOWN_EX"),
    (16, "GETOWN_EX"),
    (17, "GETOWNER_UIDS"),
    (36, "OFD_GETLK"),
    (37, "OFD_SETLK"),
    (38, "OFD_SETLKW"),
    (1024, "SETLEASE"),
    (1025, "GETLEASE"),
    (1026, "NOTIFY"),
    (1029, "CANCELLK"),
    (1030, "DUPFD_CLOEXEC"),
    (1031, "SETPIPE_SZ"),
    (1032, "GETPIPE_SZ"),
    (1033, "ADD_SEALS"),
    (1034, "GET_SEALS"),
    (1035, "GET_RW_HINT"),
    (1036, "SET_RW_HINT"),
    (1037, "GET_FILE_RW_HINT"),
    (1038, "SET_FILE_RW_HINT"),
];

const RLIMITS: &[(u64, &str)] = &[
    (0, "CPU"),
    (1, "FSIZE"),
    (2, "DATA"),
    (3, "STACK"),
    (4, "CORE"),
    (5, "RSS"),
    (6, "NPROC"),
    (7, "NOFILE"),
    (8, "MEMLOCK"),
    (9, "AS"),
    (10, "LOCKS"),
    (11, "SIGPENDING"),
    (12, "MSGQUEUE"),
    (13, "NICE"),
    (14, "RTPRIO"),
    (15, "RTTIME"),
];

const AT: &[(u64, &str)] = &[
    (0x100, "SYMLINK_NOFOLLOW"),
    (0x400, "SYMLINK_FOLLOW"),
    (0x800, "NO_AUTOMOUNT"),
    (0x1000, "EMPTY_PATH"),
    (0x2000, "STATX_FORCE_SYNC"),
    (0x4000, "STATX_DONT_SYNC"),
];

const STATX: &[(u64, &str)] = &[
    (1, "TYPE"),
    (2, "MODE"),
    (4, "NLINK"),
    (8, "UID"),
    (0x10, "GID"),
    (0x20, "ATIME"),
    (0x40, "MTIME"),
    (0x80, "CTIME"),
    (0x100, "INO"),
    (0x200, "SIZE"),
    (0x400, "BLOCKS"),
    (0x800, "BTIME"),
    (0x1000, "MNT_ID"),
];

const PRCTL: &[(u64, &str)] = &[
    (1, "SET_PDEATHSIG"),
    (2, "GET_PDEATHSIG"),
    (3, "GET_DUMPABLE"),
    (4, "SET_DUMPABLE"),
    (7, "GET_KEEPCAPS"),
    (8, "SET_KEEPCAPS"),
    (15, "SET_NAME"),
    (16, "GET_NAME"),
    (21, "GET_SECCOMP"),
    (22, "SET_SECCOMP"),
    (23, "CAPBSET_READ"),
    (24, "CAPBSET_DROP"),
    (29, "SET_TIMERSLACK"),
    (30, "GET_TIMERSLACK"),
    (35, "SET_MM"),
    (36, "SET_CHILD_SUBREAPER"),
    (37, "GET_CHILD_SUBREAPER"),
    (38, "SET_NO_NEW_PRIVS"),
    (39, "GET_NO_NEW_PRIVS"),
    (41, "SET_THP_DISABLE"),
    (42, "GET_THP_DISABLE"),
    (47, "CAP_AMBIENT"),
    (0x5356_4d41, "SET_VMA"),
    (0x5961_6d61, "SET_PTRACER"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn words(kind: &str, arg: u64) -> String {
        let mut out = String::new();
        assert!(write_words(kind, arg, &mut out), "{kind}");
        out
    }

    #[test]
    fn flags_read_as_perf_trace_has_them() {
        for (kind, arg, text) in [
            ("open", 0o2_005_102, "RDWR|CLOEXEC|CREAT|NONBLOCK|TRUNC"),
            ("open", 0x23_0000, "RDONLY|DIRECTORY|NOFOLLOW|PATH"),
            ("open", 0x41_0002, "RDWR|DIRECTORY|TMPFILE"),
            ("open", 0x10_1401, "APPEND|SYNC|WRONLY"),
            ("open", 0x1001, "DSYNC|WRONLY"),
            ("open_arm64", 0x4000, "RDONLY|DIRECTORY"),
            ("prot", 0, "NONE"),
            ("prot", 0x100_0009, "READ|SEM|GROWSDOWN"),
            ("map", 0x2_4022, "PRIVATE|ANONYMOUS|NORESERVE|STACK"),
            ("map", 0xa021, "SHARED|ANONYMOUS|LOCKED|POPULATE"),
            ("madvise", 4, "MADV_DONTNEED"),
            ("madvise", 77, "0x4d"),
            ("futex", 0, "WAIT"),
            ("futex", 0x189, "WAIT_BITSET|PRIVATE_FLAG|CLOCK_REALTIME"),
            ("futex", 0x14, "0x14"),
            ("clone", 0x120_0011, "CHILD_CLEARTID|CHILD_SETTID|0x11"),
            ("family", 1, "LOCAL"),
            ("socktype", 0x8_0801, "STREAM|CLOEXEC|NONBLOCK"),
            ("msg", 0x4040, "DONTWAIT|NOSIGNAL"),
            ("eventfd", 0x8_0801, "SEMAPHORE|CLOEXEC|NONBLOCK"),
            ("cloexec", 0, "0"),
            ("flock", 6, "EX|NB"),
            ("fcntl", 1030, "DUPFD_CLOEXEC"),
            ("rlimit", 3, "STACK"),
        ] {
            assert_eq!(words(kind, arg), text, "{kind} {arg:#x}");
        }
    }

    #[test]
    fn only_the_bits_of_an_int_count() {
        assert_eq!(words("futex", 0xffff_ffff_0000_0080), "WAIT|PRIVATE_FLAG");
        assert_eq!(words("map", 0x1_0000_0022), "PRIVATE|ANONYMOUS|0x100000000");
        assert!(!write_words("x", 1, &mut String::new()));
    }

    #[test]
    fn words_are_of_bits_that_none_before_them_has_taken() {
        for kind in [
            "open",
            "open_arm64",
            "prot",
            "map",
            "clone",
            "msg",
            "at",
            "statx",
        ] {
            let words = words_of(kind).unwrap();
            let mut taken = 0;
            for &(mask, word) in words.bits {
                assert_ne!(mask & !taken, 0, "{word}");
                taken |= mask;
            }
        }
    }
}
