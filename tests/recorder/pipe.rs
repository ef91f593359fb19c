//! Recordings that are written into a pipe.

use crate::common::{
    has, needs, number_after, perf, rprof, run, samples, scratch, tool, work::burn,
};
use serde_json::Value;
use std::fs::File;
use std::process::Stdio;

#[test]
fn a_pipe_is_read_as_a_file_is() {
    needs!(live);
    let dir = scratch();
    let piped = dir.path().join("piped.data");
    let script = format!("echo said by the command; {}", burn(30));
    let mut record = rprof(["record", "-F", "999", "-e", "cpu-clock", "-o", "-", "--"]);
    record.args(["sh", "-c", &script]);
    let child = record
        .stdin(Stdio::null())
        .stdout(File::create(&piped).unwrap())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let ran = crate::common::finish(child).ok();
    // What the command prints does not get between the records.
    assert!(
        ran.stderr.contains("said by the command\n"),
        "{}",
        ran.stderr
    );
    let n = samples(&ran.stderr);
    assert!(n > 0, "{}", ran.stderr);

    let read = |args: &[&str]| {
        let mut rprof = rprof(args.iter().chain(&["-i", "-"]));
        let child = rprof
            .stdin(File::open(&piped).unwrap())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        crate::common::finish(child).ok()
    };
    let table = read(&["report", "-g", "none"]);
    assert_eq!(number_after(&table.stdout, "# Samples: "), Some(n));
    assert!(!table.stderr.contains("warning"), "{}", table.stderr);
    let info: Value = serde_json::from_str(&read(&["info", "--json"]).stdout).unwrap();
    assert_eq!(info["form"], "pipe");
    assert!(
        info["events"][0]["name"]
            .as_str()
            .unwrap()
            .starts_with("cpu-clock")
    );
    for feature in ["hostname", "cmdline", "cpu_topology", "sample_time"] {
        assert!(!info["features"][feature].is_null(), "{feature}");
    }

    if has("perf", "linux-perf") {
        let mut perf = perf(["script", "-F", "comm,ip", "-G", "-i", "-"]);
        let ran = crate::common::run_from(&mut perf, &piped).ok();
        assert_eq!(ran.stdout.lines().count() as u64, n, "{}", ran.stderr);
    }
}

#[test]
fn a_pipe_may_go_straight_into_a_reader() {
    needs!(live);
    let script =
        "\"$0\" record -e cpu-clock -F 999 -o - -- sh -c \"$1\" | \"$0\" report -i - -g none";
    let mut shell = tool("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_rprof"), &burn(30)]);
    let ran = run(&mut shell).ok();
    assert_eq!(
        number_after(&ran.stdout, "# Samples: "),
        Some(samples(&ran.stderr))
    );
}

#[test]
fn tracepoints_in_a_pipe_keep_their_formats() {
    needs!(alone);
    let Some(tracefs) = crate::common::tracefs() else {
        return;
    };
    let dir = scratch();
    let mut shell = tool("sh");
    let script =
        "\"$0\" record -q -e sched:sched_process_exec -o - -- sh -c '/bin/true; exit 0' > piped";
    shell.args(["-c", script, env!("CARGO_BIN_EXE_rprof")]);
    run(tracefs.within(&shell).current_dir(dir.path())).ok();
    let text = run(rprof(["script", "-G", "-i", "piped"]).current_dir(dir.path())).ok();
    assert!(
        text.stdout.contains("filename=/bin/true"),
        "{}",
        text.stdout
    );
}

#[test]
fn names_are_not_put_into_a_pipe() {
    let error = run(&mut rprof(["record", "-o", "-", "--embed-symbols", "true"])).fails(2);
    assert!(error.contains("-o FILE"), "{error}");
}
