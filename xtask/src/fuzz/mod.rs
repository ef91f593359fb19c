//! `cargo xtask fuzz [TARGET] [--seconds N] [--jobs N]`: builds the programs of `tests/fuzz` with
//! coverage and lets them look for inputs that break the readers.
//!
//! Any stable compiler does, and nothing else has to be installed. Everything is kept in
//! `target/fuzz`: programs, the inputs found so far (the next run goes on from them), logs, and
//! inputs that broke something. Inputs start from the fixtures and, if `RPROF_CORPUS` is set, from
//! the recordings in that folder.

mod args;
mod outcome;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::command::{self, cargo, host, root};
use crate::files::{all_below, make_file, make_folder};
use args::Args;
use outcome::Outcome;

/// A program of `tests/fuzz`, and the longest input that it is given.
type Target = (&'static str, u32);

const TARGETS: &[Target] = &[
    ("reader", 32 << 10),
    ("report", 32 << 10),
    ("sample", 4 << 10),
    ("features", 16 << 10),
    ("module", 64 << 10),
    ("instructions", 4 << 10),
    ("unwind", 4 << 10),
    ("symbols", 32 << 10),
    ("import", 32 << 10),
];

/// What LLVM is told, so that the fuzzer sees which code an input reaches.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// More memory than this is a finding, MiB.
const MEMORY_MIB: u32 = 1024;

/// An input that takes longer is a finding, seconds.
const TIMEOUT_S: u32 = 10;

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, TARGETS)?;
    let folder = root().join("target/fuzz");
    let programs = build(&folder)?;
    seed(&folder)?;
    let mut outcomes = Vec::new();
    for &target in &args.targets {
        outcomes.push(fuzz(target, &args, &folder, &programs)?);
    }
    println!();
    for outcome in &outcomes {
        println!("{outcome}");
    }
    let n_findings: usize = outcomes.iter().map(|one| one.findings.len()).sum();
    ensure!(n_findings == 0, "fuzz: {n_findings} findings");
    Ok(())
}

/// Builds all targets; returns the folder they are in.
fn build(folder: &Path) -> Result<PathBuf> {
    let host = host()?;
    // With a target given, build scripts and macros are built without these flags.
    let build = [
        "build",
        "--release",
        "--locked",
        "--bins",
        "--target",
        &host,
    ];
    command::run(in_fuzz(&build, folder).env("RUSTFLAGS", COVERAGE))?;
    Ok(folder.join("build").join(host).join("release"))
}

/// Cargo, in the workspace of the targets.
fn in_fuzz(args: &[&str], folder: &Path) -> Command {
    let mut cargo = cargo();
    cargo.current_dir(root().join("tests/fuzz"));
    cargo.env("CARGO_TARGET_DIR", folder.join("build"));
    cargo.args(args);
    cargo
}

/// Writes the inputs to start from.
fn seed(folder: &Path) -> Result<()> {
    // The programs take anything.
    let mut recordings = all_below(&root().join("fixtures"))?;
    if let Some(corpus) = std::env::var_os("RPROF_CORPUS") {
        recordings.extend(all_below(Path::new(&corpus))?);
    }
    recordings.retain(|path| path.is_file());
    recordings.sort();
    let mut seeds = in_fuzz(&["run", "--quiet", "--example", "seeds", "--"], folder);
    println!(
        "$ {} OUT {} files",
        command::shown(&seeds),
        recordings.len()
    );
    let status = seeds.arg(folder.join("seeds")).args(&recordings).status();
    ensure!(status.context("starting cargo")?.success(), "seeds failed");
    Ok(())
}

/// Runs one target, in as many processes as there are jobs, to the end of its time.
fn fuzz(target: Target, args: &Args, folder: &Path, programs: &Path) -> Result<Outcome> {
    let (name, max_len) = target;
    let [inputs, crashes, logs] = ["inputs", "crashes", "logs"].map(|part| folder.join(part));
    let (inputs, crashes) = (inputs.join(name), crashes.join(name));
    for folder in [&inputs, &crashes, &logs] {
        make_folder(folder)?;
    }
    let mut jobs = Vec::new();
    for job in 0..args.jobs {
        let log = logs.join(format!("{name}-{job}.log"));
        let file = make_file(&log)?;
        let mut program = command::command(programs.join(name));
        program
            .arg(&inputs)
            .arg(folder.join("seeds").join(name))
            .arg(format!("-max_total_time={}", args.seconds))
            .arg(format!("-max_len={max_len}"))
            .arg(format!("-rss_limit_mb={MEMORY_MIB}"))
            .arg(format!("-timeout={TIMEOUT_S}"))
            .arg(format!("-artifact_prefix={}/", crashes.display()))
            .args(["-reload=1", "-print_final_stats=1"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file);
        println!("$ {}", command::shown(&program));
        let child = program.spawn();
        jobs.push((child.with_context(|| format!("starting {name}"))?, log));
    }
    let mut outcome = Outcome::new(name, programs.join(name));
    for (mut child, log) in jobs {
        let status = child
            .wait()
            .with_context(|| format!("waiting for {name}"))?;
        outcome.take(status, &log)?;
    }
    Ok(outcome)
}
