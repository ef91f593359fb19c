//! `rprof critical`: what it says that a faster function saves, beside what it does save. The six programs of
//! `fixtures/workloads/critical.c` are recorded once, and then run with all of the work of their function `target`, and
//! with less.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::workloads::{Bench, compile};
use crate::command::{self, captured, root};

/// The programs.
const PROGRAMS: [&str; 6] = ["serial", "amdahl", "slack", "queue", "lock", "server"];

/// How much of its work `target` does when it is made faster, percent.
const FASTER: [u64; 2] = [90, 50];

/// Runs of each, by turns: what else runs on the machine disturbs all of them.
const RUNS: usize = 15;

pub(super) fn run(bench: &Bench) -> Result<()> {
    let program = bench.file("critical");
    let source = root().join("fixtures/workloads/critical.c");
    compile("cc", &["-O2", "-g", "-pthread"], &source, &program)?;
    let before = realtime();
    println!("\n## critical: what a faster function saves, percent of the program's time\n");
    println!(
        "| program  | CPU share | path share | 10 % less: predicted | measured | 50 % less: predicted | measured |"
    );
    println!("|---|---|---|---|---|---|---|");
    for name in PROGRAMS {
        let shares = recorded(bench, &before, &program, name)?;
        let [all, faster, fastest] = measured(&before, &program, name)?;
        let saved = |seconds: f64| 100.0 * (all - seconds) / all;
        println!(
            "| {name:<8} | {:9.2} | {:10.2} | {:20.2} | {:8.2} | {:20.2} | {:8.2} |",
            shares.cpu,
            shares.path,
            shares.path / 10.0,
            saved(faster),
            shares.path / 2.0,
            saved(fastest),
        );
    }
    Ok(())
}

/// What stands before a command so that nothing else takes its CPU, if that is permitted.
fn realtime() -> Vec<&'static str> {
    let words = vec!["chrt", "-f", "10"];
    let mut chrt = Command::new("chrt");
    chrt.args(["-f", "10", "true"]).stderr(Stdio::null());
    if chrt.status().is_ok_and(|status| status.success()) {
        return words;
    }
    println!("without real-time priority: what else runs on this machine is measured, too");
    Vec::new()
}

/// A command that what is recorded cannot keep from its CPU.
fn first(before: &[&str], command: &Command) -> Command {
    let mut first = match before {
        [] => Command::new(command.get_program()),
        _ => Command::new("chrt"),
    };
    if !before.is_empty() {
        first.args(["-f", "20"]).arg(command.get_program());
    }
    first.args(command.get_args());
    first
}

/// Shares of a function, percent.
struct Shares {
    cpu: f64,
    path: f64,
}

/// What `rprof critical` says of `target`.
fn recorded(bench: &Bench, before: &[&str], program: &Path, name: &str) -> Result<Shares> {
    let recording = bench.file(&format!("critical.{name}.data"));
    let options = ["--off-cpu", "-q", "-F", "1999", "-m", "16M"];
    let mut recorder = bench.recorder("rprof", &options, &recording);
    recorder.args(before).arg(program).args([name, "100"]);
    let mut recorder = first(before, &recorder);
    command::run(&mut recorder)?;
    let mut critical = bench.rprof(&["critical", "--json"]);
    let text = captured(critical.arg(&recording))?;
    let all: Value = serde_json::from_str(&text).context("reading what rprof critical prints")?;
    let number = |value: &Value, name: &str| value[name].as_f64().unwrap_or(0.0);
    let functions = all["functions"].as_array().context("no functions")?;
    let target = functions.iter().find(|one| one["symbol"] == "[.] target");
    let target = target.context("no function target")?;
    let duration = number(&all, "duration_ns");
    ensure!(
        duration > 0.0 && number(&all, "unknown_ns") < duration / 100.0,
        "records of {name} are lost: try again"
    );
    Ok(Shares {
        cpu: 100.0 * number(target, "cpu_ns") / number(&all, "cpu_ns"),
        path: 100.0 * number(target, "path_ns") / duration,
    })
}

/// Median seconds of a program with all work, and with less.
fn measured(before: &[&str], program: &Path, name: &str) -> Result<[f64; 3]> {
    let [faster, fastest] = FASTER;
    let percents = [100, faster, fastest];
    let mut seconds: [Vec<f64>; 3] = Default::default();
    for _ in 0..RUNS {
        for (seconds, percent) in seconds.iter_mut().zip(percents) {
            let words = before.iter().map(Path::new).chain([program]);
            let words: Vec<&Path> = words.collect();
            let (first, rest) = words.split_first().context("no command")?;
            let mut command = Command::new(first);
            command.args(rest).arg(name).arg(percent.to_string());
            let start = Instant::now();
            let status = command.status().context("starting a program")?;
            seconds.push(start.elapsed().as_secs_f64());
            ensure!(status.success(), "{name} failed ({status})");
        }
    }
    let median = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(0.0)
    };
    Ok(seconds.map(median))
}
