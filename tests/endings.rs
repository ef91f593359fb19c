//! How recordings end, well or not, and what is said when they cannot be made.

mod left;

use crate::common;
use crate::common::work::burn;
use crate::common::{
    Running, am_root, copy_of_rprof, has, needs, not_run, number_after, report, rprof, run,
    samples, scratch, signal, tool,
};
use std::path::Path;

#[test]
fn the_commands_exit_status_is_passed_on() {
    needs!(live);
    let dir = scratch();
    let record = |script: &str| {
        let out = dir.path().join("perf.data");
        run(rprof(["record", "-o"]).arg(out).args(["sh", "-c", script]))
            .status
            .code()
    };
    assert_eq!(record("exit 0"), Some(0));
    assert_eq!(record("exit 7"), Some(7));
    assert_eq!(record("kill -9 $$"), Some(137));
}

#[test]
fn a_command_that_cannot_be_started_leaves_the_old_recording_alone() {
    needs!(live);
    let dir = scratch();
    let out = dir.path().join("perf.data");
    common::write(&out, b"precious");
    let record = |command: &str| run(rprof(["record", "-o"]).arg(&out).arg(command)).fails(1);
    assert!(record("/no/such/command").contains("/no/such/command: No such file"));
    assert!(record("/etc/passwd").contains("Permission denied"));
    assert_eq!(std::fs::read(&out).unwrap(), b"precious");
    assert!(!dir.path().join("perf.data.old").exists());
}

#[test]
fn an_interrupt_ends_the_recording_and_keeps_the_file() {
    needs!(live);
    let dir = scratch();
    let out = dir.path().join("perf.data");
    // It ends by itself, should nobody end it.
    let script = format!("echo ready; {}", burn(3000));
    let mut recorder = rprof(["record", "-e", "cpu-clock", "-F", "999", "-o"]);
    recorder.arg(&out).args(["--", "sh", "-c", &script]);
    let mut recorder = Running::start(&mut recorder);
    // The command runs.
    assert_eq!(recorder.line(), "ready");
    signal(recorder.pid(), "INT");
    let ran = recorder.finish();
    // The command ended by our SIGTERM, as perf ends it.
    assert_eq!(ran.status.code(), Some(128 + 15), "{}", ran.stderr);
    samples(&ran.stderr);
    report(&out, &["-g", "none"]);
}

#[test]
fn a_killed_recorder_leaves_a_readable_file() {
    needs!(alone);
    let dir = scratch();
    let out = dir.path().join("perf.data");
    // The command itself waits until records are in the file, then kills its recorder.
    let script = "while [ $(stat -c %s \"$0\") -lt 20000 ]; do :; done; kill -9 $PPID";
    let mut recorder = rprof(["record", "-e", "cpu-clock", "-F", "9999", "-m", "4", "-o"]);
    recorder.arg(&out).args(["--", "sh", "-c", script]);
    let ran = run(recorder.arg(&out));
    assert_eq!(ran.status.code(), None);
    let ran = run(rprof(["report", "-g", "none", "-i"]).arg(&out)).ok();
    assert!(
        ran.stderr.contains("did not end properly"),
        "{}",
        ran.stderr
    );
    assert!(number_after(&ran.stdout, "# Samples: ").unwrap() > 0);
}

#[test]
fn others_that_live_on_are_said_and_waited_for_on_request() {
    needs!(live);
    let dir = scratch();
    let out = dir.path().join("perf.data");
    // What is in the background outlives the shell that started it: it waits for us.
    let script = "exec 3<&0; (read -r line <&3) > /dev/null 2>&1 & exit 3";
    let recorder = |more: &[&str], script: &str| {
        let mut command = rprof(["record", "-e", "cpu-clock", "-F", "999", "-o"]);
        command
            .arg(&out)
            .args(more)
            .args(["--", "sh", "-c", script]);
        command
    };
    let ran = Running::start(&mut recorder(&[], script)).finish();
    assert!(ran.stderr.contains("no longer recorded"), "{}", ran.stderr);
    assert_eq!(ran.status.code(), Some(3));
    let script = format!("({}) & exit 3", burn(30));
    let ran = run(&mut recorder(&["--wait-all"], &script));
    assert!(!ran.stderr.contains("no longer recorded"), "{}", ran.stderr);
    assert_eq!(ran.status.code(), Some(3));
    assert!(samples(&ran.stderr) > 50, "{}", ran.stderr);
}

#[test]
fn without_rights_user_space_is_recorded_and_the_user_told() {
    needs!(alone);
    let by_root = am_root();
    if by_root && !has("setpriv", "util-linux") {
        return;
    }
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    if paranoid.trim() != "2" {
        not_run(&format!("perf_event_paranoid is {}", paranoid.trim()));
        return;
    }
    let dir = scratch();
    let binary = copy_of_rprof(dir.path());
    run(tool("chmod").args(["-R", "777"]).arg(dir.path())).ok();
    let as_nobody = |args: &[&str]| {
        let mut command = tool(&binary);
        if by_root {
            command = tool("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
            command.arg(&binary);
        }
        command.env("HOME", dir.path()).current_dir(dir.path());
        run(command.args(args))
    };
    let script = burn(30);
    let ran = as_nobody(&[
        "record",
        "-e",
        "cpu-clock",
        "-F",
        "999",
        "sh",
        "-c",
        &script,
    ])
    .ok();
    assert!(
        ran.stderr.contains("not permitted to sample the kernel"),
        "{}",
        ran.stderr
    );
    assert!(samples(&ran.stderr) > 0, "{}", ran.stderr);
    let table = as_nobody(&["report", "-g", "none"]).ok().stdout;
    assert!(
        table.contains("cpu-clock:u") && !table.contains("[k]"),
        "{table}"
    );
    let error = as_nobody(&["record", "-a", "true"]).fails(1);
    assert!(error.contains("perf_event_paranoid"), "{error}");
    let error = as_nobody(&["record", "-p", "1", "--duration", "1"]).fails(1);
    assert!(
        error.contains("process 1 (") && error.contains("sudo") && !error.contains("dummy"),
        "{error}"
    );
}

#[test]
fn a_disk_that_is_full_ends_the_recording_but_not_the_file() {
    needs!(alone);
    let dir = scratch();
    let out = dir.path().join("perf.data");
    // A limit on file sizes fails like a full disk; its signal is ignored, and that inherited.
    let limit = "trap '' XFSZ; ulimit -f 64; exec \"$0\" record -e cpu-clock -F 9999 -m 4 -o \"$1\" -- sh -c \"$2\"";
    let ran = run(tool("sh")
        .args(["-c", limit, env!("CARGO_BIN_EXE_rprof")])
        .arg(&out)
        .arg(burn(200)));
    let error = ran.fails(1);
    assert!(
        error.contains("File too large") && error.contains("readable"),
        "{error}"
    );
    let table = report(&out, &["-g", "none"]);
    assert!(number_after(&table, "# Samples: ").unwrap() > 0, "{table}");
}

#[test]
fn what_cannot_be_done_is_said_in_one_line() {
    needs!(alone);
    let error = |args: &[&str], code| {
        let stderr = run(&mut rprof(["record", "-q"].iter().chain(args))).fails(code);
        assert_eq!(stderr.trim_end().lines().count(), 1, "{stderr}");
        stderr
    };
    assert!(error(&[], 2).contains("nothing to record"));
    assert!(error(&["-o", "/no/such/dir/x", "true"], 1).contains("cannot write /no/such/dir/x"));
    assert!(error(&["-o", "/dev/null", "true"], 1).contains("not a regular file"));
    assert!(error(&["-e", "cycels", "true"], 2).contains("did you mean"));
    let has_pmu = |name| {
        Path::new("/sys/bus/event_source/devices")
            .join(name)
            .exists()
    };
    if !["cpu", "cpu_core"].into_iter().any(has_pmu) {
        assert!(error(&["-e", "instructions", "true"], 1).contains("instructions"));
    }
    assert!(error(&["-p", "999999999", "--duration", "1"], 1).contains("no such process"));
    assert!(error(&["-C", "4095", "true"], 1).contains("no such CPU: 4095"));
    assert!(error(&["-F", "0", "true"], 2).contains("-F"));
    assert!(error(&["--call-graph", "last", "true"], 2).contains("--call-graph"));
    let clock = ["-e", "cpu-clock", "--call-graph", "lbr", "true"];
    assert!(error(&clock, 1).contains("--call-graph auto"));
}
