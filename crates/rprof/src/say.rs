//! Lines for the user, on stderr. Text from a recording is made fit for a terminal first.

use std::fmt::Display;
use std::io::{IsTerminal, Write};

/// A line of information.
pub(crate) fn line(message: impl Display) {
    // A reader that has gone away must not end a recording.
    let _ = writeln!(
        std::io::stderr().lock(),
        "rprof: {}",
        one_line(&message.to_string())
    );
}

/// A warning: something could not be used.
pub(crate) fn warning(message: impl Display) {
    line(format_args!("warning: {message}"));
}

/// What ended the command, with its causes.
pub(crate) fn error(error: &anyhow::Error) {
    line(format_args!("error: {error:#}"));
}

/// What to do next; only for somebody who watches.
pub(crate) fn next(command: impl Display) {
    if std::io::stderr().is_terminal() {
        line(format_args!("next: {command}"));
    }
}

fn one_line(message: &str) -> String {
    let escape = |c: char| match c {
        c if c.is_control() => format!("\\x{:02x}", u32::from(c)),
        c => c.to_string(),
    };
    message.chars().map(escape).collect()
}
