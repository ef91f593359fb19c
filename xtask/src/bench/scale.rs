//! Long recordings: the same build 1, 5 and 42 times over, read by rprof and by perf.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::measure::{self, Cost, megabytes};
use super::table::{heading, row};
use super::workloads::Bench;
use crate::repeat::repeat;

/// Runs of rprof; perf takes minutes, once is enough.
const RUNS: usize = 3;

/// Ways to read, with perf's flags for the same.
const WAYS: &[(&str, &[&str], &[&str])] = &[
    (
        "flat",
        &["report", "--no-children", "-g", "none"],
        &["report", "--stdio", "--no-children", "-g", "none"],
    ),
    ("trees", &["report"], &["report", "--stdio"]),
    ("script", &["script"], &["script"]),
];

pub(super) fn run(bench: &Bench, copies: u64) -> Result<()> {
    let build = bench.build_recording("perf")?;
    let mut files = vec![(1, build.clone())];
    for copies in [copies.div_ceil(9).max(2), copies] {
        files.push((copies, bench.repeated(&build, copies)?));
    }
    let n_cpus = std::thread::available_parallelism().map_or(1, usize::from);
    heading("a build of all CPUs, repeated: wall / peak memory");
    for (copies, file) in &files {
        let bytes = std::fs::metadata(file)
            .context("looking at a recording")?
            .len();
        let cat = measure::median(RUNS, || {
            let mut cat = Command::new("cat");
            cat.arg(file);
            cat
        })?;
        row(
            &format!("{copies} x: {}, cat", megabytes(file)?),
            "",
            &cat.text(),
            None,
        );
        for (what, ours, theirs) in WAYS {
            for (cpus, is_one) in [("0", true), ("0-255", false)] {
                let cost = measure::median(RUNS, || on_cpus(cpus, &bench.rprof(ours), file))?;
                let rate = format!("{}, {:.0} MB/s", cost.text(), mb_per_s(bytes, cost));
                let label = if is_one {
                    format!("{copies} x, {what}, 1 CPU")
                } else {
                    format!("{copies} x, {what}, {n_cpus} CPUs")
                };
                let theirs = match is_one {
                    true => None,
                    false if *copies == 1 || *what != "trees" => {
                        let mut perf = Command::new("perf");
                        perf.args(*theirs).arg("-i").arg(file);
                        Some(measure::once(&mut perf)?)
                    }
                    false => None,
                };
                let text = theirs.map_or_else(String::new, Cost::text);
                let ratio = theirs.map(|theirs| theirs.wall_s / cost.wall_s);
                row(&label, &text, &rate, ratio);
            }
        }
    }
    Ok(())
}

fn mb_per_s(bytes: u64, cost: Cost) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a rate that is displayed")]
    let bytes = bytes as f64;
    bytes / 1e6 / cost.wall_s
}

/// A command on some of the CPUs only.
fn on_cpus(cpus: &str, command: &Command, file: &Path) -> Command {
    let mut bound = Command::new("taskset");
    bound.args(["-c", cpus]).arg(command.get_program());
    bound.args(command.get_args()).arg("-i").arg(file);
    bound
}

impl Bench {
    /// A recording of `copies` copies of another, made if it is not there.
    pub(super) fn repeated(&self, build: &Path, copies: u64) -> Result<PathBuf> {
        let file = self.folder.join(format!("build.x{copies}.data"));
        if !file.exists() {
            repeat(build, &file, copies, |_| true)?;
        }
        Ok(file)
    }
}
