//! Ctrl-C on a terminal, which the command gets, too.

use crate::common::{Running, needs, scratch, tool};
use crate::recorder::until;

/// Starts rprof on a terminal of its own.
#[track_caller]
fn on_terminal(command: &str) -> Option<Running> {
    needs!("script" in "bsdutils");
    let mut script = tool("script");
    // The shell in between gets Ctrl-C, too.
    let rprof = env!("CARGO_BIN_EXE_rprof");
    let line = format!("trap : INT; {rprof} {command}; echo status $?");
    script.args(["-q", "-c", &line, "/dev/null"]);
    script.env("SHELL", "/bin/sh");
    Some(Running::start(&mut script))
}

const CTRL_C: &[u8] = b"\x03";

#[test]
fn the_first_ctrl_c_is_the_commands_and_it_is_recorded_until_it_ends() {
    needs!(live);
    let dir = scratch();
    let out = dir.path().join("perf.data");
    // It ends when it is told to, some time after Ctrl-C.
    let command = format!(
        "record -e cpu-clock -o {} -- sh -c 'trap \"echo trapped\" INT; echo ready; \
         read -r line || read -r line; exit 6'",
        out.display()
    );
    let Some(mut terminal) = on_terminal(&command) else {
        return;
    };
    until(&mut terminal, "ready");
    terminal.type_in(CTRL_C);
    until(&mut terminal, "recording until it ends");
    terminal.type_in(b"go\n");
    let said = until(&mut terminal, "status");
    assert!(said.contains("samples in"), "{said}");
    assert!(said.contains("status 6"), "{said}");
    terminal.finish();
}

#[test]
fn the_second_ctrl_c_ends_both() {
    needs!(alone);
    let dir = scratch();
    let command = format!(
        "record -e cpu-clock -o {} -- sh -c 'trap \"\" INT TERM; echo ready; while :; do :; done'",
        dir.path().join("perf.data").display()
    );
    let Some(mut terminal) = on_terminal(&command) else {
        return;
    };
    until(&mut terminal, "ready");
    terminal.type_in(CTRL_C);
    until(&mut terminal, "press Ctrl-C again to end both");
    terminal.type_in(CTRL_C);
    let said = until(&mut terminal, "status");
    assert!(said.contains("samples in"), "{said}");
    assert!(said.contains("status 137"), "{said}");
    terminal.finish();
}

#[test]
fn a_command_that_outlives_its_time_is_killed_by_ctrl_c() {
    needs!(live);
    let dir = scratch();
    let command = format!(
        "record -e cpu-clock --duration 0.2 -o {} -- sh -c \
         'trap \"\" INT TERM; while :; do :; done'",
        dir.path().join("perf.data").display()
    );
    let Some(mut terminal) = on_terminal(&command) else {
        return;
    };
    until(&mut terminal, "Ctrl-C kills it");
    terminal.type_in(CTRL_C);
    let said = until(&mut terminal, "status");
    assert!(said.contains("status 0"), "{said}");
    terminal.finish();
}

#[test]
fn a_recording_that_watches_ends_with_the_first_ctrl_c() {
    needs!(live);
    let dir = scratch();
    let mut watched = Running::start(&mut tool("cat"));
    let command = format!(
        "record -e cpu-clock -o {} -p {}",
        dir.path().join("perf.data").display(),
        watched.pid()
    );
    let Some(mut terminal) = on_terminal(&command) else {
        return;
    };
    let said = until(&mut terminal, "press Ctrl-C to stop");
    let who = format!("recording process {} (cat)", watched.pid());
    assert!(said.contains(&who), "{said}");
    terminal.type_in(CTRL_C);
    let said = until(&mut terminal, "status");
    assert!(said.contains("status 0"), "{said}");
    terminal.finish();
    assert!(watched.is_running());
}

#[test]
fn a_terminal_gets_no_recording() {
    let Some(mut terminal) = on_terminal("record -o - -- true") else {
        return;
    };
    let said = until(&mut terminal, "status");
    assert!(
        said.contains("recording to a terminal") && said.contains("status 2"),
        "{said}"
    );
    terminal.finish();
}
