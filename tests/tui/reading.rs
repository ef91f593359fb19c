//! Keys and signals while `rprof tui` reads a recording: a pipe that says nothing takes as long as the test wants.

use super::assert_restored;
use super::terminal::Terminal;
use crate::common::fixtures;
use std::fs::{self, File};
use std::io::Write;

/// A terminal in which rprof reads from a pipe, opened there as `open` says. Ctrl-C and Ctrl-\ are not for the shell.
fn reading(open: &str, after: &str) -> Option<Terminal> {
    let rprof = env!("CARGO_BIN_EXE_rprof");
    let root = fixtures().join("spin/root");
    let script = format!(
        "cd \"$(dirname \"$0\")\"; trap : INT QUIT; mkfifo pipe; {open}; stty -g > before; \
         {rprof} tui --symfs {} -i - < pipe; {after} echo exit $?; stty -g > after; echo done",
        root.display()
    );
    Terminal::start((80, 24), &script)
}

/// The shell holds it open: nothing comes, and no end.
const SILENT: &str = "exec 3<>pipe";

#[test]
fn somebody_who_leaves_does_not_wait_for_the_rest() {
    for (key, code) in [("Escape", 0), ("q", 0), ("C-c", 130), ("C-\\", 131)] {
        let Some(terminal) = reading(SILENT, "") else {
            return;
        };
        terminal.wait_for_keys();
        terminal.press(&[key]);
        terminal.wait(&format!("exit {code}"));
        assert_restored(&terminal);
    }
}

#[test]
fn a_shell_has_its_terminal_while_reading_is_suspended() {
    let open = format!("set -m; {SILENT}");
    let Some(terminal) = reading(&open, "stty -g > between; read continued; fg;") else {
        return;
    };
    terminal.wait_for_keys();
    terminal.press(&["C-z"]);
    terminal.wait_for_file("between");
    terminal.press(&["Enter"]);
    terminal.wait_for_keys();
    terminal.press(&["q"]);
    terminal.wait("exit 0");
    let state = |name| fs::read_to_string(terminal.path(name)).unwrap();
    assert_eq!(state("before"), state("between"));
    assert_restored(&terminal);
}

#[test]
fn other_keys_are_for_the_first_screen() {
    let Some(terminal) = reading(":", "") else {
        return;
    };
    let pipe = terminal.wait_for_path("pipe");
    // The shell waits for this end.
    let mut written = File::options().write(true).open(pipe).unwrap();
    terminal.wait_for_keys();
    terminal.press(&["3"]);
    let recording = fs::read(fixtures().join("spin/perf.data")).unwrap();
    written.write_all(&recording).unwrap();
    drop(written);
    terminal.wait("callees below");
    terminal.press(&["q"]);
    terminal.wait("exit 0");
    assert_restored(&terminal);
}

#[test]
fn in_the_background_it_reads_and_the_terminal_is_the_shells() {
    let rprof = env!("CARGO_BIN_EXE_rprof");
    let spin = fixtures().join("spin");
    let script = format!(
        "cd \"$(dirname \"$0\")\"; set -m; mkfifo pipe; stty -g > before; \
         {rprof} tui --symfs {spin}/root -i - < pipe & cat {spin}/perf.data > pipe; stty -g > between; \
         fg; echo exit $?; stty -g > after; echo done",
        spin = spin.display()
    );
    let Some(terminal) = Terminal::start((80, 24), &script) else {
        return;
    };
    terminal.wait("? keys");
    let state = |name| fs::read_to_string(terminal.path(name)).unwrap();
    assert_eq!(state("before"), state("between"));
    terminal.press(&["q"]);
    terminal.wait("exit 0");
    assert_restored(&terminal);
}

#[test]
fn what_cannot_be_read_in_the_background_is_an_error_there() {
    let rprof = env!("CARGO_BIN_EXE_rprof");
    let script = format!(
        "cd \"$(dirname \"$0\")\"; set -m; mkfifo pipe; stty -g > before; \
         {rprof} tui -i - < pipe 2> said & echo no recording > pipe; wait $!; echo exit $?; \
         stty -g > after; echo done"
    );
    let Some(terminal) = Terminal::start((80, 24), &script) else {
        return;
    };
    terminal.wait("exit 1");
    assert_restored(&terminal);
}
