//! Files that recordings and processes name are looked at before they are opened.

use crate::common::{Running, compile_c, needs, rprof, run, scratch, tool};
use std::path::Path;

/// A writer of a FIFO that waits for its reader, and says so if it gets one.
fn writer(fifo: &Path) -> Running {
    let mut shell = tool("sh");
    let script = "echo ready; exec 3> \"$0\"; echo let go";
    let mut writer = Running::start(shell.args(["-c", script]).arg(fifo));
    assert_eq!(writer.line(), "ready");
    let stat = format!("/proc/{}/stat", writer.pid());
    let sleeps = || std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") S "));
    while !sleeps() {
        std::thread::yield_now();
    }
    writer
}

/// The same, once the program is a FIFO: all that reads it gets on without it.
#[test]
fn a_fifo_in_the_place_of_a_program_lets_no_writer_go() {
    needs!(live);
    let dir = scratch();
    let program = compile_c(
        dir.path(),
        "program",
        "int main(void) { WORK(100, ; ); return 0; }",
    );
    let file = dir.path().join("perf.data");
    run(rprof(["record", "-F", "999", "-o"])
        .arg(&file)
        .arg("--")
        .arg(&program))
    .ok();
    std::fs::remove_file(&program).unwrap();
    run(tool("mkfifo").arg(&program)).ok();
    let mut writer = writer(&program);
    for verb in ["report", "script", "symbols"] {
        run(rprof([verb, "-i"]).arg(&file)).ok();
    }
    run(rprof(["symbols", "--embed", "-i"]).arg(&file)).ok();
    assert!(writer.is_running(), "a reader of the FIFO came by");
}

/// What is no recording is not opened either, and the error says what it is.
#[test]
fn a_device_in_the_place_of_a_recording_is_an_error() {
    for verb in ["report", "script", "info"] {
        let error = run(&mut rprof([verb, "-i", "/dev/zero"])).fails(1);
        assert!(error.contains("/dev/zero"), "{error}");
        assert!(error.contains("device"), "{error}");
    }
}
