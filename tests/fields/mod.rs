//! What samples hold beside the usual, and the switches around it: the same flags for rprof and perf give the
//! same fields, the same values and the same counts.

mod attrs;
mod clocks;
mod counts;
mod sideband;
mod values;

use crate::common;
use crate::common::{Recording, live_alone, needs, perf, rprof, run};
use serde_json::Value;
use std::path::Path;

/// Whether both recorders are here; the machine's place for live tests, if so.
#[track_caller]
fn both() -> Option<common::Live> {
    needs!(perf);
    live_alone()
}

/// perf's recording of a command, made with these flags.
#[track_caller]
fn perfs(dir: &Path, flags: &[&str], command: &[&str]) -> Recording {
    let file = dir.join("perf.data.perf");
    let mut record = perf(["record", "--no-bpf-event", "-o"]);
    record.arg(&file).args(flags).arg("--").args(command);
    Recording::new(file, run(&mut record).ok())
}

/// rprof's recording of a command, made with these flags.
#[track_caller]
fn ours(dir: &Path, flags: &[&str], command: &[&str]) -> Recording {
    let file = dir.join("perf.data");
    let mut record = rprof(["record", "--no-bpf-event", "-o"]);
    record.arg(&file).args(flags).arg("--").args(command);
    Recording::new(file, run(&mut record).ok())
}

/// What a recording says of itself.
#[track_caller]
fn info(recording: &Recording) -> Value {
    serde_json::from_str(&recording.read("info", &["--json"])).unwrap()
}

/// What perf prints of a recording, one line a sample.
#[track_caller]
fn perf_script(recording: &Recording, fields: &str) -> Vec<String> {
    let mut script = perf(["script", "-G", "-F", fields, "-i"]);
    let ran = run(script.arg(&recording.file)).ok();
    ran.stdout.lines().map(str::to_owned).collect()
}
