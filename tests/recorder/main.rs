//! How the recorder behaves: flags, signals, limits, pipes, and what it says and advises.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

#[path = "../common/mod.rs"]
mod common;

mod advice;
mod children;
mod coverage;
mod ends;
mod fallbacks;
mod files;
mod flags;
mod gone;
mod identity;
mod neighbours;
mod pipe;
mod terminal;
mod watching;

use common::{Running, tool};
use std::process::Command;

/// A command whose errors come with its output, in order.
fn both(command: &Command) -> Command {
    let mut shell = tool("sh");
    shell.args(["-c", "exec \"$@\" 2>&1", "sh"]);
    shell.arg(command.get_program()).args(command.get_args());
    if let Some(dir) = command.get_current_dir() {
        shell.current_dir(dir);
    }
    shell
}

/// Reads what a program says up to a line that has this; returns all of it.
#[track_caller]
fn until(running: &mut Running, text: &str) -> String {
    let mut said = String::new();
    loop {
        let line = running.line();
        assert!(!line.is_empty(), "it never said {text:?}: {said}");
        said.push_str(&line);
        said.push('\n');
        if line.contains(text) {
            return said;
        }
    }
}
