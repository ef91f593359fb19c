//! A test leaves nothing behind, however it ends: this program starts itself again, to be a test that
//! ends badly while a recording runs.

use crate::common::{MARK, Running, needs, rprof, shared_folder, signal, tool};
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::Duration;

/// Environment variable: how [`bad_test`] is to end.
const HOW: &str = "RPROF_TEST_ENDS";

/// Shells that never end: the command that is recorded, one below it, and one that has left its
/// group and its session.
const ENDLESS: &str = "
    sh -c 'while :; do :; done' &
    setsid sh -c 'echo runs; while :; do :; done' &
    while :; do :; done";

#[test]
fn bad_test() {
    let Some(how) = std::env::var_os(HOW) else {
        return;
    };
    let mut recorder = rprof(["record", "-q", "-e", "cpu-clock", "-o"]);
    recorder.arg(shared_folder().join("perf.data"));
    recorder.args(["--", "sh", "-c", ENDLESS]);
    // Whoever reads what we say waits for the last of those that could say something.
    let recorder = recorder.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut recorder = recorder.spawn().unwrap();
    let mut said = BufReader::new(recorder.stdout.take().unwrap());
    let recorder = Running::of(recorder);
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    println!("\n{line}{}", shared_folder().display());
    match how.to_str().unwrap() {
        "by a panic" => panic!("{recorder:?}"),
        "by the watchdog" => drop(recorder.finish_within(Duration::ZERO)),
        _ => drop(recorder.finish()),
    }
}

/// Runs the bad test until nobody is left that has its stderr.
#[track_caller]
fn assert_nothing_is_left(how: &str) {
    needs!(live);
    let mut bad = tool(std::env::current_exe().unwrap());
    bad.args(["--exact", "endings::left::bad_test", "--nocapture"]);
    // It is to clean up by itself.
    bad.env(HOW, how)
        .env_remove(MARK)
        .env("RUST_BACKTRACE", "0");
    let mut bad = Running::start(&mut bad);
    while bad.line() != "runs" {
        assert!(bad.is_running());
    }
    let folder = bad.line();
    if how == "by SIGKILL" {
        signal(bad.pid(), "KILL");
    }
    let ran = bad.finish();
    let expected = match how {
        "by SIGKILL" => (None, Some(9)),
        _ => (Some(101), None),
    };
    let status = (ran.status.code(), ran.status.signal());
    assert_eq!(status, expected, "{}", ran.stderr);
    assert!(!std::fs::exists(&folder).unwrap(), "{folder}");
}

#[test]
fn a_test_that_is_killed_leaves_nothing_behind() {
    assert_nothing_is_left("by SIGKILL");
}

#[test]
fn a_test_that_panics_leaves_nothing_behind() {
    assert_nothing_is_left("by a panic");
}

#[test]
fn a_test_that_takes_too_long_leaves_nothing_behind() {
    assert_nothing_is_left("by the watchdog");
}
