//! What system calls are passed: the names of their arguments, and how each reads.
//!
//! Source: the kernel's own fields of `syscalls:sys_enter_*` (v6.18); include/linux/syscalls.h.

use crate::flags::write_words;
use std::fmt::Write;

/// Appends arguments as they read: `fd: 3, buf: 0x7f0012345678, count: 512`. Without a signature (of
/// [`SyscallNames`](crate::SyscallNames)) they are hexadecimal numbers.
pub fn write_arguments(signature: Option<&str>, args: &[u64; 6], out: &mut String) {
    match signature {
        None => {
            for (nth, &arg) in args.iter().enumerate() {
                separate(nth, out);
                hex(arg, out);
            }
        }
        Some(signature) => {
            let words = signature.split_whitespace().zip(args);
            for (nth, (word, &arg)) in words.enumerate() {
                let (name, kind) = word.split_once(':').unwrap_or((word, "x"));
                separate(nth, out);
                out.push_str(name);
                out.push_str(": ");
                write_argument(kind, arg, out);
            }
        }
    }
}

fn separate(nth: usize, out: &mut String) {
    if nth > 0 {
        out.push_str(", ");
    }
}

/// An argument of a kind:
///
/// - `i` int, `u` unsigned int, `l` long, `z` unsigned long: only so many of its bits count
/// - `x` flags, `p` an address, `o` the mode of a file
/// - `f` the descriptor of a folder, `s` a signal, `a` what a file may be used for
/// - `match` the bits that a futex is waited for with; any other word is that of flags or operations ([`write_words`])
fn write_argument(kind: &str, arg: u64, out: &mut String) {
    let low = u32::try_from(arg & u64::from(u32::MAX)).unwrap_or(0);
    let int = low.cast_signed();
    // Writing to a string does not fail.
    let _ = match kind {
        "i" => write!(out, "{int}"),
        "u" => write!(out, "{low}"),
        "l" => write!(out, "{}", arg.cast_signed()),
        "z" => write!(out, "{arg}"),
        "o" => match low & 0xffff {
            0 => write!(out, "0"),
            mode => write!(out, "0{mode:o}"),
        },
        "f" if int == AT_FDCWD => write!(out, "CWD"),
        "match" if low == u32::MAX => write!(out, "MATCH_ANY"),
        "match" => write!(out, "{low}"),
        "a" if low & !7 == 0 => return access(low, out),
        "f" => write!(out, "{int}"),
        "s" => match usize::try_from(int).ok().and_then(|at| SIGNALS.get(at)) {
            Some(name) if int > 0 => write!(out, "SIG{name}"),
            _ => write!(out, "{int}"),
        },
        kind => {
            if !write_words(kind, arg, out) {
                hex(arg, out);
            }
            return;
        }
    };
}

/// Whether a file may be read, written and executed; whether it is there.
fn access(mode: u32, out: &mut String) {
    let words = [(4, 'R'), (2, 'W'), (1, 'X')];
    out.extend(
        words
            .iter()
            .filter(|(bit, _)| mode & bit != 0)
            .map(|(_, word)| word),
    );
    if mode == 0 {
        out.push('F');
    }
}

fn hex(number: u64, out: &mut String) {
    let _ = match number {
        0 => write!(out, "0"),
        number => write!(out, "{number:#x}"),
    };
}

/// include/uapi/linux/fcntl.h.
const AT_FDCWD: i32 = -100;

/// By number, on x86, ARM and RISC-V; include/uapi/asm-generic/signal.h.
const SIGNALS: &[&str] = &[
    "", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
    "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: Option<&str>, args: [u64; 6]) -> String {
        let mut out = String::new();
        write_arguments(name, &args, &mut out);
        out
    }

    #[test]
    fn arguments_read_by_their_kinds() {
        let int = |n: i32| u64::from(n.cast_unsigned());
        let openat = [int(-100), 0x7f00_1000, 0x80000, 0o644, 7, 7];
        assert_eq!(
            text(Some("dfd:f filename:p flags:x mode:o"), openat),
            "dfd: CWD, filename: 0x7f001000, flags: 0x80000, mode: 0644"
        );
        let words = Some("op:futex val3:match mode:a mode:a");
        assert_eq!(
            text(words, [0x81, 0xffff_ffff, 6, 0, 0, 0]),
            "op: WAKE|PRIVATE_FLAG, val3: MATCH_ANY, mode: RW, mode: F"
        );
        let kill = [int(-1), 15, 0, 0, 0, 0];
        assert_eq!(text(Some("pid:i sig:s"), kill), "pid: -1, sig: SIGTERM");
        let lseek = [3, (-8i64).cast_unsigned(), 1, 0, 0, 0];
        let offset = Some("fd:u offset:l whence:u");
        assert_eq!(text(offset, lseek), "fd: 3, offset: -8, whence: 1");
        assert_eq!(text(Some(""), [9; 6]), "");
        assert_eq!(text(None, [1, 0, 0xff, 0, 0, 0]), "0x1, 0, 0xff, 0, 0, 0");
    }
}
