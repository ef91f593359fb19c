//! The HTML page in a real browser: its bytes, how soon it is ready, how long everything that users do takes.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::measure::{self, megabytes};
use super::workloads::{Bench, compile};
use crate::command::{captured, root};

/// A recording, and what its page is to reach.
struct Goal {
    what: &'static str,
    recording: PathBuf,
    max_bytes: u64,
    ready_ms: f64,
}

/// 99 of 100 interactions are to take less.
const INTERACTION_MS: f64 = 50.0;

/// Threads of a program whose lanes scroll.
const THREADS: u32 = 2000;

/// Pages of these recordings, or of a build recording, the same 42 times over, and a program of many threads.
pub(super) fn run(bench: &Bench, recordings: &[&str], copies: u64) -> Result<()> {
    let goals = if recordings.is_empty() {
        let build = bench.build_recording("perf")?;
        let long = bench.repeated(&build, copies)?;
        vec![
            goal("a build", build, 2_500_000, 1000.0),
            goal("a build, many times over", long, 15_000_000, 3000.0),
            goal("2,000 threads", threads(bench)?, 2_500_000, 1000.0),
        ]
    } else {
        let one = |&path: &&str| goal("a recording", path.into(), 15_000_000, 3000.0);
        recordings.iter().map(one).collect()
    };
    println!("loads of the machine: {}", loads());
    for goal in goals {
        page(bench, &goal)?;
    }
    Ok(())
}

fn goal(what: &'static str, recording: PathBuf, max_bytes: u64, ready_ms: f64) -> Goal {
    Goal {
        what,
        recording,
        max_bytes,
        ready_ms,
    }
}

/// The load averages, which times depend on.
fn loads() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().take(3).collect();
    words.join(" ")
}

fn page(bench: &Bench, goal: &Goal) -> Result<()> {
    let page = bench.file("page.html");
    let mut export = bench.rprof(&["export", "--no-debuginfod", "-o"]);
    export.arg(&page).arg("-i").arg(&goal.recording);
    let cost = measure::once(&mut export)?;
    println!("\n## {}: {}\n", goal.what, megabytes(&goal.recording)?);
    println!("written: {}", cost.text());
    let mut node = Command::new("node");
    node.arg(root().join("tests/page/bench.js")).arg(&page);
    let measured = captured(&mut node).context("driving the browser (node, chromium)")?;
    let measured: Value = serde_json::from_str(&measured).context("reading what was measured")?;
    let bytes = measured["bytes"].as_u64().unwrap_or(0);
    let is_small = bytes <= goal.max_bytes;
    println!(
        "bytes: {bytes} (goal {}): {}",
        goal.max_bytes,
        verdict(is_small)
    );
    let ready = numbers(&measured["ready"]);
    let is_soon = quantile(&ready, 0.5) <= goal.ready_ms;
    println!(
        "ready: {:.0} ms, median of {} (goal {:.0}): {}; first paint {:.0} ms",
        quantile(&ready, 0.5),
        ready.len(),
        goal.ready_ms,
        verdict(is_soon),
        quantile(&numbers(&measured["painted"]), 0.5),
    );
    interactions(&measured["done"])?;
    lanes(&measured["lanes"]);
    Ok(())
}

fn verdict(is_reached: bool) -> &'static str {
    if is_reached { "reached" } else { "not reached" }
}

/// A row for each thing that users do.
fn interactions(done: &Value) -> Result<()> {
    let done = done.as_object().context("no interactions were measured")?;
    println!("\n| what | p50 | p99 | p99 of the script |\n|---|---:|---:|---:|");
    let mut all = Vec::new();
    for (what, times) in done {
        let times = times.as_array().context("no times")?;
        let column =
            |at: usize| -> Vec<f64> { times.iter().filter_map(|pair| pair[at].as_f64()).collect() };
        let (shown, script) = (column(0), column(1));
        println!(
            "| {what} | {:.0} ms | {:.0} ms | {:.0} ms |",
            quantile(&shown, 0.5),
            quantile(&shown, 0.99),
            quantile(&script, 0.99),
        );
        all.extend(shown);
    }
    let p99 = quantile(&all, 0.99);
    println!(
        "\nall {} interactions: p50 {:.0} ms, p99 {p99:.0} ms (goal {INTERACTION_MS:.0}): {}",
        all.len(),
        quantile(&all, 0.5),
        verdict(p99 <= INTERACTION_MS),
    );
    Ok(())
}

fn lanes(lanes: &Value) {
    let (frames, draws) = (numbers(&lanes["frames"]), numbers(&lanes["draws"]));
    if frames.is_empty() {
        return;
    }
    println!(
        "{} lanes scroll: {:.1} ms between frames, p99 {:.1} ms; drawing p50 {:.1} ms, p99 {:.1} ms",
        lanes["lanes"],
        quantile(&frames, 0.5),
        quantile(&frames, 0.99),
        quantile(&draws, 0.5),
        quantile(&draws, 0.99),
    );
}

fn numbers(list: &Value) -> Vec<f64> {
    let list = list.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(Value::as_f64).collect()
}

/// The smallest value that a share of all do not exceed.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a place among some thousand values"
    )]
    let at = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(at.saturating_sub(1)).copied().unwrap_or(0.0)
}

/// A recording of a program with many threads, made if it is not there.
fn threads(bench: &Bench) -> Result<PathBuf> {
    let recording = bench.file("threads.data");
    if recording.exists() {
        return Ok(recording);
    }
    let program = bench.file("threads");
    let source = bench.file("threads.c");
    std::fs::write(&source, threads_source()).context("writing a program of many threads")?;
    compile("gcc", &["-O1", "-g", "-pthread"], &source, &program)?;
    record(bench, &program, &recording)?;
    ensure!(recording.exists(), "no recording of many threads");
    Ok(recording)
}

fn record(bench: &Bench, program: &Path, recording: &Path) -> Result<()> {
    let mut record = bench.rprof(&["record", "-e", "cpu-clock", "-F", "999", "-o"]);
    record.arg(recording).arg("--").arg(program);
    crate::command::run(&mut record)
}

/// Threads that wait for each other's start, and work a little each.
fn threads_source() -> String {
    format!(
        r#"#include <pthread.h>
#include <stdio.h>
#include <time.h>
static volatile double sum;
static void *work(void *name) {{
    struct timespec now;
    do {{
        for (int i = 0; i < 1000; i++) sum += i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    }} while (now.tv_sec == 0 && now.tv_nsec < 10000000);
    return name;
}}
int main(void) {{
    static pthread_t threads[{THREADS}];
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 65536);
    for (int i = 0; i < {THREADS}; i++) pthread_create(&threads[i], &attr, work, 0);
    for (int i = 0; i < {THREADS}; i++) pthread_join(threads[i], 0);
}}
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(quantile(&values, 0.5).to_string(), "50");
        assert_eq!(quantile(&values, 0.99).to_string(), "99");
        assert_eq!(quantile(&[7.0], 0.99).to_string(), "7");
        assert_eq!(quantile(&[], 0.5).to_string(), "0");
    }
}
