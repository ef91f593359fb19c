//! What threads wait for, on a terminal.

use super::terminal::Terminal;
use crate::common::Program;

#[test]
fn waits_have_boxes_and_letters() {
    let source = include_str!("../sched/waits.c");
    let Some(program) = Program::new(source, &["-O1", "-pthread"]) else {
        return;
    };
    let recording = program.record(&["--off-cpu"], &[]);
    let causes = recording.read("report", &["--wall", "-s", "cause", "-g", "none"]);
    if !causes.contains("pipe") {
        println!("skipped: causes of waits need the right to record the kernel's stacks");
        return;
    }
    let rprof = env!("CARGO_BIN_EXE_rprof");
    let file = program.file("perf.data");
    let line = format!("{rprof} tui --wall -i {}; echo exit $?", file.display());
    let Some(terminal) = Terminal::start((320, 40), &line) else {
        return;
    };
    terminal.wait("? keys");
    terminal.press(&["3"]);
    let flame = terminal.wait("wait causes:");
    let heading = |screen: &str| {
        let line = screen.lines().find(|line| line.contains("futex"));
        line.unwrap_or_default().to_owned()
    };
    for cause in ["futex", "pipe", "socket", "epoll"] {
        assert!(heading(&flame).contains(cause), "{flame}");
    }
    terminal.press(&["4"]);
    let threads = terminal.wait("runs");
    for cause in ["f futex", "p pipe", "s socket", "e epoll"] {
        assert!(heading(&threads).contains(cause), "{threads}");
    }
    // A thread that waits for one thing: its lane is that letter, and what it runs in between.
    let lane = threads.lines().find(|line| line.starts_with("in_pipe"));
    assert!(lane.is_some_and(|lane| lane.contains("ppp")), "{threads}");
    terminal.press(&["q"]);
    terminal.wait("exit 0");

    // Without these times, a line says how to see them; the title says which samples are not read.
    let file = file.display();
    let line = format!("{rprof} tui --time +0, -i {file}; echo exit $?");
    let Some(terminal) = Terminal::start((120, 40), &line) else {
        return;
    };
    let screen = terminal.wait("w: time spent waiting, or both");
    assert!(screen.contains("perf.data (--time +0,)"), "{screen}");
    assert!(!screen.contains("sched_switch"), "{screen}");
    // A key shows them, and rows by what was waited for: the report's.
    terminal.press(&["w"]);
    let waits = terminal.wait("w: next (CPU, waiting, both)");
    assert!(
        waits.contains("offcpu-time") && waits.contains("Time (s)"),
        "{waits}"
    );
    terminal.press(&["o", "8"]);
    let rows = terminal.wait("Waker");
    let report = recording.read(
        "report",
        &[
            "--off-cpu",
            "--time",
            "+0,",
            "-s",
            "comm,cause,waker",
            "-g",
            "none",
        ],
    );
    let row = report.lines().find(|line| line.contains(" futex "));
    let words: Vec<&str> = row.unwrap_or_default().split_whitespace().collect();
    let is_it = |line: &str| {
        let shown: Vec<&str> = line.split_whitespace().collect();
        words.iter().all(|word| shown.contains(word))
    };
    assert!(
        words.len() > 4 && rows.lines().any(is_it),
        "{words:?}\n{rows}"
    );
    // A time is compared with the rest.
    terminal.press(&["T"]);
    terminal.press(&["0,0.05"]);
    terminal.press(&["Enter"]);
    terminal.press(&["D"]);
    let compared = terminal.wait("compared with the rest");
    assert!(compared.contains("# Verdict: "), "{compared}");
    terminal.press(&["q"]);
    terminal.wait("? keys");
    terminal.press(&["w"]);
    terminal.wait("wall-time");
    terminal.press(&["q"]);
    terminal.wait("exit 0");
}
