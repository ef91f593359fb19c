//! `rprof top` beside perf top: what each takes itself while it watches all CPUs, busy with deep stacks, and 30 new
//! programs a second that end at once.

use std::process::Command;

use anyhow::Result;

use super::measure::{self, Cost};
use super::recorder::busy_cpus;
use super::table::{heading, row};
use super::workloads::Bench;

/// How long each watches, seconds.
const SECONDS: u32 = 30;

/// What both are told.
const WATCH: &[&str] = &["top", "--stdio", "-a", "-F", "99"];

pub(super) fn run(bench: &Bench) -> Result<()> {
    heading("top: its own CPU time, in percent of one CPU, and peak memory");
    for (what, perf_words, rprof_words) in [
        ("no call chains", &[][..], &["--call-graph", "none"][..]),
        ("call chains (perf: frame pointers)", &["-g"], &[]),
    ] {
        let theirs = watch(bench, perf(bench, perf_words))?;
        let ours = watch(bench, rprof(bench, rprof_words))?;
        row(
            &format!("-a -F 99, {SECONDS} s, {what}"),
            &text(theirs),
            &text(ours),
            Some(theirs.cpu_s / ours.cpu_s.max(0.001)),
        );
    }
    Ok(())
}

/// What a program takes while the same goes on.
fn watch(bench: &Bench, mut top: Command) -> Result<Cost> {
    let busy = busy_cpus(bench)?.with_short_processes()?;
    let cost = measure::once(&mut top)?;
    drop(busy);
    Ok(cost)
}

/// It has no flag to end, and where its input ends it does nothing but look there.
fn perf(bench: &Bench, words: &[&str]) -> Command {
    let script = "sleep $(($0 + 1)) | timeout --preserve-status -s INT \"$0\" \"$@\"";
    let mut command = Command::new("bash");
    command.args(["-c", script, &SECONDS.to_string()]);
    command.arg(&bench.perf).args(WATCH).args(words);
    command
}

fn rprof(bench: &Bench, words: &[&str]) -> Command {
    let mut command = bench.rprof(WATCH);
    command
        .args(["--duration", &SECONDS.to_string()])
        .args(words);
    command
}

/// `1.20 % / 90 MB`.
fn text(cost: Cost) -> String {
    let percent = cost.cpu_s * 100.0 / f64::from(SECONDS);
    format!("{percent:.2} % / {} MB", cost.memory_kib / 1024)
}
