//! Processes that are found by their names, now or later.

use super::{sampled, sampled_processes};
use crate::common::{
    FRAME_POINTERS, Program, Running, alone, both, needs, rprof, run, scratch, tool, until,
    work::worker,
};
use std::path::{Path, PathBuf};

/// A shell under another name.
#[track_caller]
fn shell_named(dir: &Path, name: &str) -> PathBuf {
    let path = dir.join(name);
    run(tool("cp").args(["/bin/sh".as_ref(), path.as_os_str()])).ok();
    path
}

#[test]
fn processes_are_found_by_name_and_the_recording_ends_with_them() {
    needs!(alone);
    let dir = scratch();
    let start = |name: &str| {
        let mut shell = tool(shell_named(dir.path(), name));
        Running::start(shell.args(["-c", &worker(10)]))
    };
    let mut found = [start("rp-worker-a"), start("rp-worker-b")];
    let mut other = start("rp-other");
    let words = [
        "record",
        "-F",
        "999",
        "-e",
        "cpu-clock",
        "--name",
        "^rp-work.*[ab]$",
    ];
    let mut record = rprof(words);
    let mut recorder = Running::start(&mut both(record.current_dir(dir.path())));
    let said = until(&mut recorder, "press Ctrl-C to stop");
    assert!(
        said.contains("recording processes named ^rp-work.*[ab]$;"),
        "{said}"
    );
    other.work();
    for shell in &mut found {
        shell.work();
        shell.close_input();
    }
    let pids = found.each_ref().map(Running::pid);
    for shell in found {
        shell.finish();
    }
    // The other one still runs.
    recorder.finish().ok();
    let sampled = sampled_processes(&dir.path().join("perf.data"));
    assert_eq!(sampled, pids.into_iter().collect());
    assert!(other.is_running());
}

#[test]
fn a_process_is_waited_for() {
    let source = r#"
#include <stdio.h>
volatile unsigned long sink;
__attribute__((noinline)) void later(void) { WORK(80, sink += i) }
int main(void) { if (getchar() == '\n') later(); return 0; }
"#;
    let Some(program) = Program::new(source, FRAME_POINTERS) else {
        return;
    };
    let _live = alone();
    let path = program.file("rp-waited-for");
    std::fs::rename(program.path(), &path).unwrap();
    let words = "record -F 999 -e cpu-clock --wait --name ^rp-waited-for$";
    let mut record = rprof(words.split(' '));
    let mut recorder = Running::start(&mut both(record.current_dir(program.dir())));
    until(
        &mut recorder,
        "waiting for processes named ^rp-waited-for$; press Ctrl-C to stop",
    );
    let mut running = Running::start(&mut tool(&path));
    until(&mut recorder, "found: recording began at most ");
    running.type_in(b"\n");
    running.finish().ok();
    recorder.finish().ok();
    assert_eq!(sampled(&program.file("perf.data"), &["later"]), ["later"]);
}

#[test]
fn names_that_are_not_there_or_cannot_be_are_one_line() {
    needs!(live);
    let dir = scratch();
    for (words, code, said) in [
        (
            &["--name", "^rp-nobody-has-it$"][..],
            1,
            "no matching process: processes named ^rp-nobody-has-it$",
        ),
        (&["--name", "("], 2, "'('"),
        (&["--wait", "true"], 2, "--name"),
    ] {
        let error = run(rprof(["record"]).args(words).current_dir(dir.path())).fails(code);
        assert!(error.contains(said), "{error}");
    }
}
