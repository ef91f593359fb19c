//! What ends a recording: signals, the time, the command.

use crate::common::{Running, needs, report, rprof, run, scratch, signal, tool, work::burn};
use crate::recorder::{both, until};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// Spins until it is killed, after a line that says it runs.
const SPIN: &str = "echo ready; while :; do :; done";

#[test]
fn an_interrupt_that_was_ignored_before_ends_a_recording() {
    needs!(live);
    let dir = scratch();
    let mut spin = Running::start(tool("sh").args(["-c", SPIN]));
    assert_eq!(spin.line(), "ready");
    // As a script starts what it runs in the background.
    let script = "trap '' INT; exec \"$0\" record -e cpu-clock -p \"$1\" -o \"$2\" 2>&1";
    let out = dir.path().join("perf.data");
    let mut shell = tool("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_rprof")]);
    shell.arg(spin.pid().to_string()).arg(&out);
    let mut recorder = Running::start(&mut shell);
    until(&mut recorder, "press Ctrl-C to stop");
    signal(recorder.pid(), "INT");
    let ran = recorder.finish();
    assert!(ran.status.success(), "{ran:?}");
    assert!(spin.is_running());
    report(&out, &["-g", "none"]);
}

#[test]
fn a_hangup_that_was_ignored_before_stays_ignored() {
    needs!(live);
    let dir = scratch();
    // As nohup starts what it runs.
    let script = "trap '' HUP; exec \"$0\" record -e cpu-clock -o \"$1\" -- sh -c \"$2\"";
    let mut shell = tool("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_rprof")]);
    shell.arg(dir.path().join("perf.data"));
    let script = format!(
        "echo ready; read -r line; {}; echo still here; read -r line; exit 5",
        burn(60)
    );
    shell.arg(script);
    let mut recorder = Running::start(&mut shell);
    assert_eq!(recorder.line(), "ready");
    signal(recorder.pid(), "HUP");
    // A recorder that had heard it would end the command, and not with this.
    recorder.type_in(b"\n");
    assert_eq!(recorder.line(), "still here");
    recorder.type_in(b"\n");
    let ran = recorder.finish();
    assert_eq!(ran.status.code(), Some(5), "{ran:?}");
}

#[test]
fn a_second_signal_kills_a_command_that_does_not_end() {
    needs!(alone);
    let dir = scratch();
    let script = format!("trap '' INT TERM; {SPIN}");
    let out = dir.path().join("perf.data");
    let mut record = rprof(["record", "-e", "cpu-clock", "-o"]);
    record.arg(&out).args(["--", "sh", "-c", &script]);
    let mut recorder = Running::start(&mut both(&record));
    until(&mut recorder, "ready");
    signal(recorder.pid(), "INT");
    // The recording is over, the command is not.
    until(&mut recorder, "waiting for the command");
    report(&out, &["-g", "none"]);
    signal(recorder.pid(), "INT");
    let ran = recorder.finish();
    assert_eq!(ran.status.code(), Some(128 + 9), "{ran:?}");
}

#[test]
fn a_command_that_is_ended_because_the_time_is_over_is_a_success() {
    needs!(live);
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let record = |script: &str| {
        let mut record = rprof(["record", "-e", "cpu-clock", "--duration", "0.3", "-o"]);
        run(record.arg(&out).args(["--", "sh", "-c", script])).status
    };
    assert_eq!(record("while :; do :; done").code(), Some(0));
    assert_eq!(record("exit 7").code(), Some(7));
}

#[test]
fn an_interrupt_ends_a_recording_into_a_pipe_that_nobody_reads() {
    needs!(live);
    // Some 10,000 samples, which are more than a pipe holds, and then it waits.
    let script = format!("{}; echo ready >&2; read -r line", burn(100));
    let (reader, writer) = std::io::pipe().unwrap();
    let mut record = rprof(["record", "-e", "cpu-clock", "-F", "9999", "-o", "-"]);
    record.args(["--", "sh", "-c", &script]).stdout(writer);
    record.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = record.spawn().unwrap();
    let (stdin, stderr) = (child.stdin.take(), child.stderr.take().unwrap());
    let recorder = Running::of(child);
    let mut lines = BufReader::new(stderr).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "ready"));
    signal(recorder.pid(), "INT");
    let said: Vec<String> = lines.collect();
    let ran = recorder.finish();
    assert_eq!(ran.status.code(), Some(1), "{said:?}");
    assert!(said.join("\n").contains("accepts no more data"), "{said:?}");
    drop((stdin, reader));
}

#[test]
fn rprofs_own_samples_are_left_out_of_all_cpus_and_said_to_be() {
    needs!(alone, all_cpus);
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let record = |more: &[&str]| {
        // Samples of which there are many are some work for the recorder, too.
        let mut record = rprof(["record", "-a", "-e", "cpu-clock", "-F", "9999", "-o"]);
        record.arg(&out).args(more);
        record.args(["--", "sh", "-c", &burn(50)]);
        let recorder = Running::start(&mut record);
        let pid = recorder.pid().to_string();
        recorder.finish().ok();
        let own = ["report", "--no-children", "-g", "none", "--pid", &pid, "-i"];
        let table = run(rprof(own).arg(&out)).ok().stdout;
        let is_own = table.lines().any(|line| line.contains("%  rprof "));
        (table.contains("# Left out: "), is_own)
    };
    assert_eq!(record(&[]), (true, false));
    assert_eq!(record(&["--include-self"]), (false, true));
}

#[test]
fn a_crash_of_the_command_is_said() {
    needs!(live);
    let dir = scratch();
    let record = |script: &str| {
        let mut command = rprof(["record", "-e", "cpu-clock:u", "-o"]);
        run(command.arg(dir.path().join("o")).args(["sh", "-c", script]))
    };
    let crashed = record("kill -SEGV $$");
    assert_eq!(crashed.status.code(), Some(128 + 11));
    let said = "the command was killed by SIGSEGV (segmentation fault)";
    assert!(crashed.stderr.contains(said), "{}", crashed.stderr);
    // What it says by itself is not of a signal.
    let failed = record("exit 139");
    assert_eq!(failed.status.code(), Some(139));
    assert!(!failed.stderr.contains("killed by"), "{}", failed.stderr);
}

#[test]
fn a_command_that_waits_is_said_to() {
    needs!(live);
    let dir = scratch();
    let script = format!("{}; sleep 1", burn(3));
    let record = |events: &[&str]| {
        let mut command = rprof([&["record"], events, &["-o"]].concat());
        run(command
            .arg(dir.path().join("o"))
            .args(["sh", "-c", &script]))
        .ok()
        .stderr
    };
    let by_time = record(&["-e", "cpu-clock:u", "-F", "999"]);
    assert!(
        by_time.contains("% of the time (waiting, including for a free CPU, is not sampled)"),
        "{by_time}"
    );
    // How often it happens says nothing of waiting.
    let by_hits = record(&["-e", "page-faults:u", "-c", "1"]);
    assert!(!by_hits.contains("is not sampled"), "{by_hits}");
}
