//! `rprof top` on a terminal: what is recorded, while it is.

use crate::common::work::burn;
use crate::common::{needs, number_after, number_before, report, signal};
use crate::tui::terminal::Terminal;
use std::fs;

/// A terminal in which a shell that works is watched, the line after which says how it ended.
fn watched(words: &str, work: &str) -> Option<Terminal> {
    let script = format!(
        "cd \"$(dirname \"$0\")\"; stty -g > before; \
         {} top -e cpu-clock -F 999 {words} -- sh -c '{work}' 2> said; \
         echo exit $?; stty -g > after; echo done",
        env!("CARGO_BIN_EXE_rprof")
    );
    Terminal::start((100, 24), &script)
}

fn file(terminal: &Terminal, name: &str) -> String {
    fs::read_to_string(terminal.path(name)).unwrap()
}

fn assert_over(terminal: &Terminal) {
    terminal.wait("done");
    assert!(!terminal.is_other_screen());
    assert_eq!(file(terminal, "before"), file(terminal, "after"));
    assert!(file(terminal, "said").contains("rprof: "));
}

/// The samples that are said to count.
fn samples(screen: &str) -> Option<u64> {
    let (_, counted) = screen.lines().nth(1)?.split_once(", ")?;
    let digits = counted.strip_suffix(" samples")?.replace(',', "");
    digits.parse().ok()
}

#[test]
fn other_samples_come_until_it_pauses() {
    needs!(live);
    let Some(terminal) = watched("-d 0.1 --window all", &burn(600_000)) else {
        return;
    };
    let screen = terminal.wait_until("samples", |screen| samples(screen).is_some_and(|n| n > 0));
    let first = samples(&screen);
    terminal.wait_until("more samples", |screen| samples(screen) > first);
    terminal.press(&["p"]);
    terminal.wait("paused: p resumes");
    terminal.press(&["s", "p"]);
    terminal.wait("wrote rprof.0.data");
    let table = report(&terminal.path("rprof.0.data"), &["-g", "none"]);
    let paused = number_after(&table, "# Samples: ");
    assert!(paused >= first, "{table}");
    terminal.wait_until("what is saved", |screen| samples(screen) == paused);
    terminal.press(&["p"]);
    terminal.wait_until("more samples", |screen| samples(screen) > paused);
    // A tree is not closed by what comes.
    terminal.press(&["Enter"]);
    let screen = terminal.wait_until("an open row", |screen| screen.contains("\n-"));
    let opened = samples(&screen);
    terminal.wait_until("more samples below it", |screen| {
        samples(screen) > opened && screen.contains("\n-")
    });
    // Neither are calls.
    terminal.press(&["2", "Home", "C", "Enter"]);
    let screen = terminal.wait_until("open calls", |screen| screen.contains(" - sh"));
    let opened = samples(&screen);
    terminal.wait_until("more samples in them", |screen| {
        samples(screen) > opened && screen.contains(" - sh")
    });
    terminal.press(&["q"]);
    terminal.wait("exit ");
    assert_over(&terminal);
}

#[test]
fn what_a_command_did_is_seen_after_its_end() {
    needs!(live);
    let work = format!("echo printed; {}; exit 7", burn(100));
    let Some(terminal) = watched("-d 0.1", &work) else {
        return;
    };
    let screen = terminal.wait("ended, last");
    assert!(!screen.contains("printed"), "{screen}");
    assert!(screen.contains("sh "), "{screen}");
    terminal.press(&["q"]);
    terminal.wait("exit 7");
    assert_over(&terminal);
}

#[test]
fn signals_end_it_and_give_the_terminal_back() {
    needs!(live);
    // While it is recorded, and after.
    let while_recorded = || (burn(600_000), "rprof top");
    let after = || (burn(20), "ended, last");
    for ((work, sign), name, code) in [
        (while_recorded(), "TERM", 143),
        (while_recorded(), "QUIT", 143),
        (after(), "TERM", 143),
        (after(), "QUIT", 131),
    ] {
        let work = format!("echo $PPID > pid; {work}");
        let Some(terminal) = watched("-d 3600", &work) else {
            return;
        };
        terminal.wait(sign);
        terminal.wait_until("its id", |_| {
            fs::read_to_string(terminal.path("pid")).is_ok_and(|pid| pid.ends_with('\n'))
        });
        let pid = file(&terminal, "pid");
        signal(pid.trim().parse().unwrap(), name);
        // The command's, which it ended, and then its own.
        terminal.wait(&format!("exit {code}"));
        assert_over(&terminal);
    }
}

#[test]
fn lost_samples_are_said_with_the_time_that_they_are_of() {
    needs!(alone);
    // Nobody drains the rings while the recorder is stopped.
    let work = format!("kill -STOP $PPID; {}; kill -CONT $PPID", burn(100));
    let Some(terminal) = watched("-d 3600 -m 1 --call-graph none", &work) else {
        return;
    };
    let screen = terminal.wait("ended, last");
    let mut lines = screen.lines();
    let last = lines.rfind(|line| line.contains(" lost in ")).unwrap();
    let lost = number_before(last, " lost in ").unwrap();
    assert!(lost > 0, "{screen}");
    terminal.press(&["q"]);
    terminal.wait("exit 0");
    assert_over(&terminal);
    assert!(file(&terminal, "said").contains(&format!("{lost} lost")));
}

#[test]
fn a_terminal_that_only_prints_gets_tables() {
    needs!(live);
    let script = format!(
        "export TERM=dumb; {} top -e cpu-clock -F 999 -d 3600 -- sh -c '{}'; echo exit $?",
        env!("CARGO_BIN_EXE_rprof"),
        burn(100)
    );
    let Some(terminal) = Terminal::start((120, 60), &script) else {
        return;
    };
    let screen = terminal.wait("exit 0");
    assert!(screen.contains("# Children      Self"), "{screen}");
}
