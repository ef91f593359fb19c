//! `--overwrite`: the last samples, in rings that are overwritten.

use super::switched::{finished, recorder, samples_of, switch};
use crate::common::{
    FRAME_POINTERS, Program, has, needs, perf, report, rprof, run, samples, scratch,
};
use std::collections::HashSet;
use std::path::Path;

#[test]
fn only_the_last_samples_are_written_in_order_and_with_callers() {
    // On one CPU: each has a ring, in which what is older stays.
    let source = r#"
        #include <sched.h>
        static volatile unsigned long sink;
        __attribute__((noinline)) static void early(void) { WORK(400, sink += i); }
        __attribute__((noinline)) static void late(void) { WORK(600, sink += i); }
        __attribute__((noinline)) static void caller(void) { late(); sink++; }
        int main(void) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(sched_getcpu(), &one);
            sched_setaffinity(0, sizeof one, &one);
            early();
            caller();
            return 0;
        }
    "#;
    let Some(program) = Program::new(source, FRAME_POINTERS) else {
        return;
    };
    // 16 KiB: some hundred samples.
    let recording = program.record(&["-F", "999", "--overwrite", "-m", "4"], &[]);
    let n = samples(&recording.stderr);
    assert!(n > 10, "{}", recording.stderr);
    let table = recording.read("report", &["--no-children", "-g", "none"]);
    assert!(table.contains(" late"), "{table}");
    assert!(!table.contains(" early"), "{table}");
    let folded = recording.read("flame", &["--folded"]);
    assert!(folded.contains("main;caller;late"), "{folded}");
    if has("perf", "linux-perf") {
        let mut script = perf(["script", "-F", "comm,time,ip", "-G", "-i"]);
        let ran = run(script.arg(&recording.file)).ok();
        assert_eq!(ran.stdout.lines().count() as u64, n, "{}", ran.stdout);
        assert!(!ran.stderr.contains("out of order"), "{}", ran.stderr);
    }
}

/// The times of all samples.
fn times(file: &Path) -> Vec<String> {
    let mut script = rprof(["script", "-F", "time", "-i"]);
    let text = run(script.arg(file)).ok().stdout;
    let mut times = Vec::new();
    for line in text.lines() {
        times.push(line.trim().to_owned());
    }
    times
}

#[test]
fn a_snapshot_has_what_came_since_the_one_before() {
    needs!(alone);
    let dir = scratch();
    let args = ["--overwrite", "--switch-output=signal", "-m", "64"];
    let mut recorder = recorder(dir.path(), &args);
    recorder.work();
    switch(&mut recorder, dir.path());
    switch(&mut recorder, dir.path());
    recorder.work();
    recorder.close_input();
    let ran = recorder.finish().ok();
    let files = finished(dir.path());
    assert_eq!(files.len(), 3, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("while 2 snapshots were taken"),
        "{}",
        ran.stderr
    );
    let mut seen = HashSet::new();
    for file in &files {
        assert!(samples_of(file) > 0, "{}", ran.stderr);
        let times = times(file);
        assert!(times.iter().all(|time| seen.insert(time.clone())), "twice");
        let table = report(file, &["--no-children", "-g", "none", "--sort", "comm,dso"]);
        assert!(!table.contains("[unknown]"), "{table}");
    }
    assert_eq!(seen.len() as u64, samples(&ran.stderr));
}

#[test]
fn a_snapshot_switches_nothing_on() {
    needs!(live);
    let dir = scratch();
    let args = ["--overwrite", "--switch-output=signal", "-D", "-1"];
    let mut recorder = recorder(dir.path(), &args);
    switch(&mut recorder, dir.path());
    recorder.work();
    recorder.close_input();
    let ran = recorder.finish().ok();
    assert_eq!(finished(dir.path()).len(), 2, "{}", ran.stderr);
    assert_eq!(samples(&ran.stderr), 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("never enabled"), "{}", ran.stderr);
}

#[test]
fn stack_dumps_are_not_for_overwritten_rings() {
    let error = run(rprof(["record", "--overwrite", "--call-graph", "dwarf"]).arg("true")).fails(2);
    assert!(error.contains("--call-graph fp"), "{error}");
}
