//! Flags and operations in words, as perf trace prints them.

mod tables;

use std::fmt::Write;
use tables::{
    AT, CLOEXEC_NONBLOCK, CLONE, FAMILIES, FCNTL, FUTEX, MADVISE, MAP, MSG, OPEN, OPEN_ARM64,
    PRCTL, PROT, RLIMITS, SOCKET_TYPES, STATX,
};

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
            // Of bits that are part of others, those come first that are more.
            let mut taken = Vec::new();
            for &(mask, word) in words.bits {
                assert!(
                    taken.iter().all(|before| mask & before != *before),
                    "{word}"
                );
                taken.push(mask);
            }
        }
    }
}
