//! `--switch-output-event`: another file begins when an event happens.

use super::switched::{finished, samples_of};
use crate::common::{Program, needs, rprof, run, samples};
use std::path::{Path, PathBuf};

/// The files of a recording beside its program.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut files = finished(dir);
    files.retain(|file| file.to_str().unwrap().contains("perf.data."));
    files
}

#[test]
fn a_file_ends_when_a_breakpoint_is_hit() {
    let source = r#"
        static volatile unsigned long sink;
        __attribute__((noinline)) static void mark(void) { __asm__ volatile("" ::: "memory"); }
        int main(void) {
            for (int n = 0; n < 3; n++) { WORK(300, sink += i); mark(); }
            WORK(300, sink += i);
            return 0;
        }
    "#;
    let options = ["-O1", "-static", "-no-pie"];
    let Some(program) = Program::new(source, &options) else {
        return;
    };
    needs!("nm" in "binutils");
    let names = run(crate::common::tool("nm").arg(program.path()))
        .ok()
        .stdout;
    let mark = names.lines().find(|line| line.ends_with(" mark")).unwrap();
    let event = format!(
        "--switch-output-event=mem:0x{}:x",
        mark.split(' ').next().unwrap()
    );
    let recording = program.record(&["-F", "999", &event], &[]);
    // Each hit ends one.
    let files = files(program.dir());
    assert_eq!(files.len(), 4, "{}", recording.stderr);
    let sum: u64 = files.iter().map(|file| samples_of(file)).sum();
    assert_eq!(sum, samples(&recording.stderr), "{}", recording.stderr);
}

#[test]
fn an_event_and_another_reason_exclude_each_other() {
    let mut record = rprof([
        "record",
        "--switch-output=1s",
        "--switch-output-event=faults",
        "true",
    ]);
    let error = run(&mut record).fails(2);
    assert!(error.contains("exclude each other"), "{error}");
    let error = run(&mut rprof([
        "record",
        "--switch-output-event=nothing",
        "true",
    ]))
    .fails(2);
    assert!(error.contains("nothing"), "{error}");
}
