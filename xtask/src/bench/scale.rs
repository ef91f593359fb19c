//! Long recordings: the same build 1, 5 and 42 times over, read by rprof and by perf.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::measure::{self, Cost, megabytes};
use super::table::{heading, row};
use super::workloads::Bench;
use crate::recordings::repeat;

/// Runs of rprof; perf takes minutes, once is enough.
const RUNS: usize = 3;

/// A way to read.
struct Way {
    what: &'static str,
    ours: &'static [&'static str],
    /// perf's flags for the same.
    theirs: Option<&'static [&'static str]>,
    /// Whether perf takes minutes and gigabytes for all but the build itself.
    is_slow: bool,
    /// Whether it is measured on one CPU, too.
    on_one: bool,
}

impl Way {
    const fn new(what: &'static str, ours: &'static [&'static str]) -> Self {
        Self {
            what,
            ours,
            theirs: None,
            is_slow: false,
            on_one: false,
        }
    }

    const fn and_perf(self, theirs: &'static [&'static str]) -> Self {
        Self {
            theirs: Some(theirs),
            on_one: true,
            ..self
        }
    }

    const fn slow(self) -> Self {
        Self {
            is_slow: true,
            ..self
        }
    }
}

const WAYS: &[Way] = &[
    Way::new("flat", &["report", "--no-children", "-g", "none"]).and_perf(&[
        "report",
        "--stdio",
        "--no-children",
        "-g",
        "none",
    ]),
    Way::new("trees", &["report"])
        .and_perf(&["report", "--stdio"])
        .slow(),
    Way::new("by time", &["report", "-s", "time"]),
    Way::new("by size of functions", &["report", "-s", "symbol_size"]),
    Way::new("flame", &["flame"]),
    Way::new("page", &["export", "--format", "html", "-o", "-"]),
    Way::new("Firefox", &["export", "--format", "firefox", "-o", "-"]),
    Way::new("script", &["script"]).and_perf(&["script"]),
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
        for way in WAYS {
            let what = way.what;
            for (cpus, is_one) in [("0", true), ("0-255", false)] {
                if is_one && !way.on_one {
                    continue;
                }
                let cost = measure::median(RUNS, || on_cpus(cpus, &bench.rprof(way.ours), file))?;
                let rate = format!("{}, {:.0} MB/s", cost.text(), mb_per_s(bytes, cost));
                let label = if is_one {
                    format!("{copies} x, {what}, 1 CPU")
                } else {
                    format!("{copies} x, {what}, {n_cpus} CPUs")
                };
                let is_short = *copies == 1 || !way.is_slow;
                let theirs = match way.theirs.filter(|_| !is_one && is_short) {
                    Some(args) => Some(measure::once(bench.perf().args(args).arg("-i").arg(file))?),
                    None => None,
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
            repeat("all", build, &file, copies)?;
        }
        Ok(file)
    }
}
