//! `cargo xtask kill [runs]`: kills recorders at random moments, and has rprof and perf read what they left.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::command::{self, cargo, command, target_folder};
use anyhow::{Context, Result, ensure};

/// How recordings are written, by turns.
const MODES: [&[&str]; 5] = [
    &[],
    &["-z"],
    &["--switch-output=64K"],
    &["--call-graph", "fp"],
    &["--overwrite", "--switch-output"],
];

/// It works, and starts others that do.
const COMMAND: &str =
    "while :; do n=0; while [ $n -lt 5000 ]; do n=$((n + 1)); done; /bin/true; done";

/// The latest moment after the start.
const LATEST_MS: u64 = 1500;

/// Runs as many recordings as are asked for, or 100.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let runs = match args {
        [] => 100,
        [runs] => runs.parse().context("how many runs")?,
        _ => anyhow::bail!("at most one argument: how many runs"),
    };
    command::run(cargo().args(["build", "--locked", "-p", "rprof-cli"]))?;
    let target = target_folder()?;
    let (rprof, folder) = (target.join("debug/rprof"), target.join("kill"));
    let has_perf = command("perf").arg("version").output().is_ok();
    let mut counts = KilledRuns::default();
    for nth in 0..runs {
        // What was left before, also by a run that failed.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).context("making a folder")?;
        let mode = MODES.get(nth % MODES.len()).copied().unwrap_or_default();
        let moment = RandomState::new().hash_one(nth) % (LATEST_MS * 1000);
        record_and_kill(&rprof, &folder, mode, Duration::from_micros(moment))?;
        *counts.modes.entry(mode.join(" ")).or_default() += 1;
        for entry in fs::read_dir(&folder).context("listing what is left")? {
            let file = entry.context("listing what is left")?.path();
            let perf = has_perf && !mode.contains(&"-z");
            let read = counts.read(&rprof, &file, perf);
            read.with_context(|| format!("{mode:?}, killed after {moment} us"))?;
        }
    }
    let _ = fs::remove_dir_all(&folder);
    println!("{counts:#?}");
    Ok(())
}

/// Starts a recorder in a process group of its own, and kills all of it.
fn record_and_kill(rprof: &Path, folder: &Path, mode: &[&str], after: Duration) -> Result<()> {
    let mut record = Command::new(rprof);
    record.args(["record", "-q", "-F", "4000", "-e", "cpu-clock", "-o"]);
    record.arg(folder.join("perf.data")).args(mode);
    record.args(["--", "sh", "-c", COMMAND]);
    let record = record.process_group(0).stderr(Stdio::null());
    let mut recorder = record.spawn().context("starting rprof record")?;
    sleep(after);
    recorder.kill().context("killing the recorder")?;
    recorder.wait().context("waiting for the recorder")?;
    let group = format!("-{}", recorder.id());
    // It may not have started anything yet.
    let kill = Command::new("kill")
        .args(["-KILL", "--", &group])
        .stderr(Stdio::null())
        .status();
    kill.context("killing the command").map(drop)
}

/// What was found.
#[derive(Debug, Default)]
struct KilledRuns {
    modes: BTreeMap<String, usize>,
    files: usize,
    /// Nothing was written yet, not even a header.
    empty: usize,
    without_samples: usize,
    samples: u64,
    /// perf read as many samples; or fewer, as the header was not told of the last ones.
    same_by_perf: usize,
    fewer_by_perf: usize,
}

impl KilledRuns {
    /// Reads a file by rprof, and by perf if that can.
    fn read(&mut self, rprof: &Path, file: &PathBuf, perf: bool) -> Result<()> {
        self.files += 1;
        if fs::metadata(file).context("looking at it")?.len() == 0 {
            self.empty += 1;
            return Ok(());
        }
        let mut report = Command::new(rprof);
        let report = report
            .args(["report", "-g", "none", "-i"])
            .arg(file)
            .output()?;
        let said = String::from_utf8_lossy(&report.stderr);
        ensure!(!said.contains("panicked"), "rprof report: {said}");
        let table = String::from_utf8_lossy(&report.stdout);
        let samples = table
            .lines()
            .find_map(|line| line.strip_prefix("# Samples: "));
        let samples: Option<u64> = samples.and_then(|text| text.split(' ').next()?.parse().ok());
        ensure!(
            samples.is_some() || said.contains("no samples"),
            "rprof report: {said}{table}"
        );
        let samples = samples.unwrap_or(0);
        self.without_samples += usize::from(samples == 0);
        self.samples += samples;
        if !perf {
            return Ok(());
        }
        let mut script = command("perf");
        let script = script
            .args(["script", "-F", "comm,time,ip", "-G", "-i"])
            .arg(file)
            .output()?;
        let by_perf = String::from_utf8_lossy(&script.stdout).lines().count() as u64;
        ensure!(
            by_perf <= samples,
            "perf reads {by_perf} samples, rprof {samples}"
        );
        if by_perf == samples {
            self.same_by_perf += 1
        } else {
            self.fewer_by_perf += 1
        }
        Ok(())
    }
}
