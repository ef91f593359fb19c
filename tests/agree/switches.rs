//! Samples between events that switch them on and off, and those of a socket, are those that perf has.

use crate::common::{self, needs, rprof, run, scratch, tracefs};
use std::path::Path;

/// Cells of the rows, by event.
fn rows(table: &str) -> Vec<String> {
    let is_row = |line: &&str| line.starts_with(' ') || line.contains(" of event ");
    let rows = table.lines().filter(is_row).map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.join(" ")
    });
    // Tables without rows are not there in either.
    let mut rows: Vec<String> = rows
        .filter(|row| !row.starts_with("# Samples: 0 "))
        .collect();
    rows.sort();
    rows
}

fn compare_tables(file: &Path, args: &[&str]) {
    let table = [
        "report",
        "--no-children",
        "-g",
        "none",
        "-n",
        "-s",
        "comm",
        "-i",
    ];
    let mut perf = common::perf(table);
    let theirs = run(perf.arg(file).arg("--stdio").args(args)).ok().stdout;
    let ours = run(rprof(table).arg(file).args(args));
    assert_eq!(rows(&ours.stdout), rows(&theirs), "{args:?}");
}

/// Compares tables and lines; returns how many lines there are.
fn compare(file: &Path, args: &[&str]) -> usize {
    compare_tables(file, args);
    let lines = ["script", "-G", "-F", "comm,tid,time,event", "-i"];
    let theirs = run(common::perf(lines).arg(file).args(args)).ok().stdout;
    let ours = run(rprof(lines).arg(file).args(args)).ok().stdout;
    let words = |text: &str| -> Vec<String> {
        let lines = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.collect()
    };
    assert_eq!(words(&ours), words(&theirs), "{args:?}");
    ours.lines().count()
}

#[test]
fn events_switch_samples_on_and_off() {
    needs!(perf);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let file = dir.path().join("perf.data");
    let (fork, exit) = ("sched:sched_process_fork", "sched:sched_process_exit");
    let events = ["-e", "cpu-clock", "-e", fork, "-e", exit];
    let program = "i=0; while [ $i -lt 20 ]; do (j=0; while [ $j -lt 999 ]; do j=$((j+1)); done); i=$((i+1)); done";
    let mut record = common::perf(["record", "-q", "-F", "1999", "--sample-cpu"]);
    let record = record.args(events).arg("-o").arg(&file);
    run(&mut tracefs.within(record.args(["sh", "-c", program]))).ok();
    let all = compare(&file, &[]);
    for args in [
        &["--switch-on", fork][..],
        &["--switch-on", fork, "--show-on-off-events"],
        &["--switch-on", fork, "--switch-off", exit],
        &[
            "--switch-on",
            exit,
            "--switch-off",
            fork,
            "--show-on-off-events",
        ],
        &["--switch-on", fork, "--switch-off", fork],
        &["--switch-on", exit, "--time", "50%-100%"],
    ] {
        let n = compare(&file, args);
        assert!((1..all).contains(&n), "{args:?}: {n} of {all}");
    }
    compare_tables(&file, &["--socket-filter", "0"]);
    let switched = |args: &[&str]| run(rprof(["report", "-i"]).arg(&file).args(args));
    let error = switched(&["--switch-on", "sched_process_fork"]).fails(1);
    let why =
        "--switch-on: the recording has no event 'sched_process_fork' (events are: cpu-clock, ";
    assert!(error.contains(why), "{error}");
    let said = switched(&["--socket-filter", "77"]).ok().stderr;
    assert!(
        said.contains("--socket-filter '77' leaves no samples"),
        "{said}"
    );
    // Of this, perf leaves out only the event's own samples.
    let off = ["--switch-off", fork, "--show-on-off-events", "-F", "event"];
    let lines = run(rprof(["script", "-i"]).arg(&file).args(off))
        .ok()
        .stdout;
    let last = lines.lines().rfind(|line| !line.trim().is_empty());
    assert_eq!(
        last.map(|line| line.trim().trim_end_matches(':')),
        Some(fork)
    );
    assert_eq!(lines.matches(fork).count(), 1, "{lines}");
}
