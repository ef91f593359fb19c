//! The project's own chores: `cargo xtask` lists them, `cargo xtask <task>` runs one.
//!
//! A task is a file and a line of [`TASKS`]. Everything a task does can be seen: commands are
//! printed before they run.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a task talks to its user"
)]

mod args;
mod bench;
mod bless;
mod ci;
mod command;
mod demo;
mod dist;
mod files;
mod fixtures;
mod fuzz;
mod kill;
mod ratchet;
mod recordings;
mod sweep;
mod tidy;

use std::process::ExitCode;

use anyhow::Result;

/// Name, what it does (given the arguments after the name), one line of help.
type Task = (&'static str, fn(&[String]) -> Result<()>, &'static str);

const TASKS: &[Task] = &[
    (
        "ci",
        ci::run,
        "[--wide]: everything a change must pass; wide: with compilers and linkers that few have",
    ),
    ("tidy", tidy::run, "check the rules no compiler checks"),
    (
        "bless",
        bless::run,
        "rewrite the golden files, show what changed",
    ),
    (
        "fixtures",
        fixtures::run,
        "list the fixtures, their sizes and origins",
    ),
    (
        "fuzz",
        fuzz::run,
        "[target] [--seconds N] [--jobs N]: look for inputs that break the readers",
    ),
    (
        "kill",
        kill::run,
        "[runs]: kill recorders at random moments, read what they leave (by perf, too)",
    ),
    (
        "sweep",
        sweep::run,
        "FILE..: decode all code of ELF files, show where objdump has another length or text",
    ),
    (
        "bench",
        bench::run,
        "[record|stacks|read|symbols [FILE]|top|critical|diff|fleet|all|--repeat [N]]: measure against perf (needs perf, time, g++)",
    ),
    (
        "ratchet",
        ratchet::run,
        "[--write]: instructions and memory of fixed work, beside a table (needs valgrind, util-linux)",
    ),
    (
        "demo",
        demo::run,
        "[dir]: record, report and draw a small program",
    ),
    (
        "dist",
        dist::run,
        "[--docs]: build a release: static binary, .deb, archive, checksums; or man pages and completions. \
         The .deb's maintainer is $DEBFULLNAME <$DEBEMAIL>, else of Cargo's authors, else a placeholder",
    ),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = args.split_first() else {
        println!("{}", help());
        return ExitCode::SUCCESS;
    };
    if ["help", "--help", "-h"].contains(&name.as_str()) {
        println!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some((_, run, of_task)) = TASKS.iter().find(|task| task.0 == name) else {
        eprintln!("error: no task is called {name}\n\n{}", help());
        return ExitCode::from(2);
    };
    if rest
        .iter()
        .any(|arg| ["--help", "-h"].contains(&arg.as_str()))
    {
        println!("cargo xtask {name} {of_task}");
        return ExitCode::SUCCESS;
    }
    match run(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn help() -> String {
    let lines: Vec<String> = TASKS
        .iter()
        .map(|(name, _, help)| format!("    {name:<10}{help}"))
        .collect();
    format!("cargo xtask <task>\n\n{}", lines.join("\n"))
}
