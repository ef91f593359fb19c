//! Names: what it takes to name a recording's frames, inlined functions among them.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::measure::{self, Cost};
use super::table::{heading, row};
use super::workloads::Bench;
use crate::command;

const RUNS: usize = 5;

/// Copies of stacks of rprof itself, as it reads a recording again and again.
const OWN: &str = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do \
    \"$0\" report -i \"$1\" >/dev/null; done";

/// Of a recording that is given, or of one of rprof's own binary.
pub(super) fn run(bench: &Bench, recording: Option<&str>) -> Result<()> {
    let file = match recording {
        Some(file) => PathBuf::from(file),
        None => own_recording(bench)?,
    };
    heading(&format!("names of {}", file.display()));
    let rprof = |args: &[&str]| {
        let mut rprof = bench.rprof(args);
        rprof.arg("-i").arg(&file);
        rprof
    };
    let perf = |args: &[&str]| {
        let mut perf = bench.perf();
        perf.args(args).arg("-i").arg(&file);
        perf
    };
    // rprof keeps nothing between runs: the first one differs only by what the kernel has in memory.
    let first = measure::once(&mut rprof(&["report"]))?;
    let theirs = measure::once(&mut perf(&["report", "--stdio"]))?;
    compare("trees with inlined functions, first run", theirs, first);
    let again = measure::median(RUNS, || rprof(&["report"]))?;
    compare("  again (median)", theirs, again);
    let ours = measure::median(RUNS, || rprof(&["report", "--no-inline"]))?;
    let theirs = measure::once(&mut perf(&["report", "--stdio", "--no-inline"]))?;
    compare("trees without them", theirs, ours);
    let fields = ["script", "-F", "comm,ip,sym,srcline"];
    let ours = measure::median(RUNS, || rprof(&fields))?;
    let theirs = measure::once(&mut perf(&["script"]))?;
    compare("script, of perf without lines", theirs, ours);
    Ok(())
}

fn own_recording(bench: &Bench) -> Result<PathBuf> {
    let deep = bench.deep()?;
    let read = bench.recording("perf", "deep", &[&deep.to_string_lossy(), "12"])?;
    let file = bench.file("symbols.perf.data");
    if !file.exists() {
        let options = ["-F", "4999", "--call-graph", "dwarf,16384"];
        let mut recorder = bench.recorder("perf", &options, &file);
        let rprof = bench.rprof(&[]);
        recorder.args(["sh", "-c", OWN]).arg(rprof.get_program());
        command::run(recorder.arg(&read)).context("recording rprof")?;
    }
    Ok(file)
}

fn compare(what: &str, theirs: Cost, ours: Cost) {
    let text = |cost: Cost| format!("{} {:.2} s CPU", cost.text(), cost.cpu_s);
    let ratio = theirs.wall_s / ours.wall_s;
    row(what, &text(theirs), &text(ours), Some(ratio));
}
