//! Markers without a path: they are looked for in what is recorded, and why there is nothing to look in is said.

use super::common;
use super::probes::program;
use super::{record, sums};
use common::{Running, in_path, needs, rprof, run, skipped, tool};
use std::process::Command;

/// What is said of a marker that cannot be found.
#[track_caller]
fn error(args: &[&str]) -> String {
    let mut command = rprof(["record", "-e", "sdt_demo:plain", "-o", "/dev/null"]);
    let error = run(command.args(args)).fails(1);
    let start = "rprof: error: cannot place the probe 'sdt_demo:plain': ";
    error
        .strip_prefix(start)
        .unwrap_or_else(|| panic!("{error}"))
        .to_owned()
}

#[test]
fn why_there_are_no_files_to_look_in_is_said() {
    let Some(program) = program() else { return };
    needs!(alone);
    let script = program.file("script");
    std::fs::write(&script, "#!/bin/sh\ntrue\n").unwrap();
    run(tool("chmod").arg("+x").arg(&script)).ok();
    let script = script.to_str().unwrap();
    let why = error(&[script]);
    assert!(why.starts_with(&format!("{script} is a script: ")), "{why}");
    assert_eq!(
        error(&["no-such-command"]),
        "'no-such-command' is not in PATH\n"
    );
    let why = error(&["/no/such/command"]);
    assert!(why.starts_with("/no/such/command: No such file"), "{why}");
    let mut ended = Running::start(&mut tool("true"));
    let pid = ended.pid().to_string();
    while ended.is_running() {
        std::thread::yield_now();
    }
    let why = error(&["-p", &pid]);
    assert_eq!(why, format!("the process or thread {pid} has ended\n"));
    // A kernel thread, whatever it is called.
    if std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name == "kthreadd\n") {
        let why = error(&["-p", "2"]);
        assert!(
            why.starts_with("no executable file is mapped there"),
            "{why}"
        );
    }
}

#[test]
fn markers_of_a_process_with_another_root_are_found() {
    let Some(program) = program() else { return };
    needs!(alone);
    if in_path("unshare").is_none() {
        return skipped("unshare");
    }
    // It sees its program in a place where nobody else does.
    let here = program.file("elsewhere");
    std::fs::create_dir(&here).unwrap();
    let script =
        "mount -t tmpfs none \"$0\" && cp \"$1\" \"$0/program\" && exec \"$0/program\" wait";
    let mut command: Command = tool("unshare");
    command
        .args(["-m", "sh", "-c", script])
        .arg(&here)
        .arg(program.path());
    if !run(tool("unshare").args(["-m", "true"])).status.success() {
        return skipped("a kernel that lets root unshare mounts");
    }
    let mut waiting = Running::start(&mut command);
    let pid = waiting.pid().to_string();
    // Once it runs.
    let exe = format!("/proc/{pid}/exe");
    while waiting.is_running()
        && !std::fs::read_link(&exe).is_ok_and(|path| path.ends_with("program"))
    {
        std::thread::yield_now();
    }
    let out = program.file("perf.data");
    let mut recorder = rprof(["record", "-e", "sdt_demo:plain", "-p", &pid, "-o"]);
    common::record_while(recorder.arg(&out), || waiting.work()).ok();
    assert_eq!(sums(&out), [("sdt_demo:plain".to_owned(), 15, 15)]);
    // The command's own, once more.
    record(&out, &["-e", "sdt_demo:plain"], &[program.path()]);
    assert_eq!(sums(&out), [("sdt_demo:plain".to_owned(), 15, 15)]);
}
