//! Reading: reports and flame graphs of the same files by both.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::measure::{self, megabytes};
use super::rows;
use super::table::{compare, heading, row};
use super::workloads::{self, Bench, SAMPLY, has_samply};
use crate::command::captured;

/// perf's trees of a build take half a minute and gigabytes: once is enough.
const SLOW_RUNS: usize = 1;
const RUNS: usize = 5;

pub(super) fn run(bench: &Bench) -> Result<()> {
    let build = bench.build_recording("perf")?;
    let own_build = bench.build_recording("rprof")?;
    let deep = bench.deep()?;
    let deep = deep.to_string_lossy();
    let mut all = vec![build.clone(), own_build.clone()];
    for by in ["perf", "rprof"] {
        all.push(bench.recording(by, "deep", &[&deep, "12"])?);
        all.push(bench.recording(by, "loop", &["sh", "-c", workloads::LOOP])?);
    }

    heading("reading a build of all CPUs, recorded by perf");
    row("file", &megabytes(&build)?, &megabytes(&own_build)?, None);
    reports(bench, &build)?;
    flames(bench, &build)?;
    profiles(bench, &build)?;

    heading("rows of 0.1 % and more, flat and with children");
    for file in &all {
        agreement(bench, file)?;
    }
    Ok(())
}

fn report(mut program: Command, file: &Path, flags: &[&str]) -> Command {
    program.arg("report").arg("-i").arg(file).args(flags);
    program
}

const FLAT: &[&str] = &["--stdio", "--no-children", "-g", "none"];
const TREES: &[&str] = &["--stdio"];

fn reports(bench: &Bench, file: &Path) -> Result<()> {
    for (what, flags, perf_runs) in [
        ("report, flat: wall / peak memory", FLAT, RUNS),
        (
            "report with call trees: wall / peak memory",
            TREES,
            SLOW_RUNS,
        ),
    ] {
        let ours = measure::median(RUNS, || report(bench.rprof(&[]), file, flags))?;
        let perf = || report(bench.perf(), file, flags);
        let theirs = match perf_runs {
            SLOW_RUNS => measure::once(&mut perf())?,
            runs => measure::median(runs, perf)?,
        };
        compare(what, theirs, ours);
    }
    Ok(())
}

fn flames(bench: &Bench, file: &Path) -> Result<()> {
    let ours = measure::median(RUNS, || {
        let mut rprof = bench.rprof(&["flame", "-i"]);
        rprof.arg(file);
        rprof
    })?;
    let has_inferno = ["inferno-collapse-perf", "inferno-flamegraph"]
        .iter()
        .all(|program| captured(Command::new(program).arg("--version")).is_ok());
    if !has_inferno {
        let absent = "(cargo install inferno)";
        row("flame: wall / peak memory", absent, &ours.text(), None);
        return Ok(());
    }
    let pipeline = "\"$1\" script -i \"$0\" | inferno-collapse-perf | inferno-flamegraph";
    let mut shell = Command::new("sh");
    shell.args(["-c", pipeline]).arg(file).arg(&bench.perf);
    let theirs = measure::once(&mut shell)?;
    compare("flame: wall / peak memory", theirs, ours);
    Ok(())
}

/// Profiles for Firefox Profiler, with names: samply writes these into a file beside.
fn profiles(bench: &Bench, file: &Path) -> Result<()> {
    let what = "for Firefox Profiler (samply import): wall / memory";
    let (own, peers) = (bench.file("own.json.gz"), bench.file("samply.json.gz"));
    let ours = measure::median(RUNS, || {
        let mut rprof = bench.rprof(&["export", "-i"]);
        rprof.arg(file).arg("-o").arg(&own);
        rprof
    })?;
    if !has_samply() {
        row(what, "(cargo install samply)", &ours.text(), None);
        return Ok(());
    }
    let theirs = measure::median(RUNS, || {
        let mut samply = Command::new(SAMPLY);
        samply.args(["import", "--save-only", "--unstable-presymbolicate"]);
        samply.arg("-o").arg(&peers).arg(file);
        samply
    })?;
    compare(what, theirs, ours);
    row("  size", &megabytes(&peers)?, &megabytes(&own)?, None);
    Ok(())
}

fn agreement(bench: &Bench, file: &Path) -> Result<()> {
    let name = file
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    // perf's rows of samples have no inlined functions. Light rows have to be asked for where there are trees.
    let children = ["--stdio", "-g", "none", "--percent-limit", "0.1"];
    for (what, flags) in [("flat", FLAT), ("children", &children)] {
        let rows = |program| -> Result<_> {
            let mut report = report(program, file, flags);
            Ok(rows::parse(&captured(report.arg("--no-inline"))?))
        };
        let ours = rows(bench.rprof(&[]))?;
        let theirs = rows(bench.perf())?;
        let only_theirs: Vec<_> = theirs.difference(&ours).collect();
        let equal = theirs.len() - only_theirs.len();
        let text = format!("{equal} of {} equal", theirs.len());
        row(
            &format!("{name}, {what}"),
            &theirs.len().to_string(),
            &text,
            None,
        );
        for row in only_theirs {
            println!("  perf has {row}");
        }
        for row in ours.difference(&theirs) {
            println!("  rprof has {row}");
        }
    }
    Ok(())
}
