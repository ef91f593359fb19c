//! Death by a signal, in words.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// Signals that end a process unless it does something about them, with what shells say of them.
const DEADLY: &[(i32, &str, &str)] = &[
    (libc::SIGHUP, "SIGHUP", "hangup"),
    (libc::SIGINT, "SIGINT", "interrupt"),
    (libc::SIGQUIT, "SIGQUIT", "quit"),
    (libc::SIGILL, "SIGILL", "illegal instruction"),
    (libc::SIGTRAP, "SIGTRAP", "trace or breakpoint trap"),
    (libc::SIGABRT, "SIGABRT", "aborted"),
    (libc::SIGBUS, "SIGBUS", "bus error"),
    (libc::SIGFPE, "SIGFPE", "arithmetic error"),
    (libc::SIGKILL, "SIGKILL", "killed"),
    (libc::SIGUSR1, "SIGUSR1", "user-defined signal 1"),
    (libc::SIGSEGV, "SIGSEGV", "segmentation fault"),
    (libc::SIGUSR2, "SIGUSR2", "user-defined signal 2"),
    (libc::SIGPIPE, "SIGPIPE", "broken pipe"),
    (libc::SIGALRM, "SIGALRM", "alarm clock"),
    (libc::SIGTERM, "SIGTERM", "terminated"),
    (libc::SIGXCPU, "SIGXCPU", "CPU time limit exceeded"),
    (libc::SIGXFSZ, "SIGXFSZ", "file size limit exceeded"),
    (libc::SIGSYS, "SIGSYS", "bad system call"),
];

/// The signal that killed a process: its name, what it means, and whether a core was dumped; `None` if it ended by
/// itself.
pub fn killed_by(status: ExitStatus) -> Option<String> {
    let signal = status.signal()?;
    let known = DEADLY.iter().find(|(number, ..)| *number == signal);
    let name = match known {
        Some((_, name, meaning)) => format!("{name} ({meaning})"),
        None => format!("signal {signal}"),
    };
    Some(if status.core_dumped() {
        format!("{name}, core dumped")
    } else {
        name
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_their_names() {
        let killed = |raw| killed_by(ExitStatus::from_raw(raw));
        assert_eq!(killed(11).as_deref(), Some("SIGSEGV (segmentation fault)"));
        let dumped = "SIGABRT (aborted), core dumped";
        assert_eq!(killed(6 | 0x80).as_deref(), Some(dumped));
        assert_eq!(killed(40).as_deref(), Some("signal 40"));
        // A status of 11.
        assert_eq!(killed(11 << 8), None);
    }
}
