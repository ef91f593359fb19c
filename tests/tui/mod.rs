//! `rprof tui` on a terminal: keys in, screens out.

mod code;
mod live;
mod reading;
mod terminal;
mod waiting;

use crate::common;
use crate::common::{Recording, fixtures, golden, rprof, run};
use std::fs;
use std::path::PathBuf;
use terminal::Terminal;

/// A shell's words for `rprof tui` on a fixture, in the folder of a test.
fn line(words: &str) -> String {
    let rprof = env!("CARGO_BIN_EXE_rprof");
    let spin = fixtures().join("spin");
    let (data, root) = (spin.join("perf.data"), spin.join("root"));
    format!(
        "{rprof} tui -i {} --symfs {} {words}",
        data.display(),
        root.display()
    )
}

/// A terminal in which rprof runs, the line after which says how it ended.
fn shown(size: (u32, u32), words: &str) -> Option<Terminal> {
    let script = format!(
        "cd \"$(dirname \"$0\")\"; stty -g > before; {}; echo exit $?; stty -g > after; echo done",
        line(words)
    );
    Terminal::start(size, &script)
}

fn assert_restored(terminal: &Terminal) {
    terminal.wait("done");
    assert!(!terminal.is_other_screen());
    let state = |name| fs::read_to_string(terminal.path(name)).unwrap();
    assert_eq!(state("before"), state("after"));
}

fn golden_path(name: &str) -> PathBuf {
    fixtures().join("../tests/tui").join(name)
}

#[test]
fn views_of_a_recording_are_these() {
    let Some(terminal) = shown((80, 24), "") else {
        return;
    };
    let is_whole = |screen: &str| screen.contains("? keys");
    terminal.wait_until("the rows", is_whole);
    terminal.press(&["Enter"]);
    let rows = terminal.wait_until("an open row", |screen| screen.contains("\n-"));
    golden(&golden_path("rows.txt"), &rows);
    terminal.press(&["2"]);
    let calls = terminal.wait("Thread and its callees");
    golden(&golden_path("calls.txt"), &calls);
    terminal.press(&["3"]);
    let flame = terminal.wait("callees below");
    golden(&golden_path("flame.txt"), &flame);
    terminal.press(&["4"]);
    let threads = terminal.wait("per column");
    golden(&golden_path("threads.txt"), &threads);
    terminal.press(&["q"]);
    terminal.wait("exit 0");
    assert_restored(&terminal);
}

#[test]
fn what_is_saved_has_the_sums_of_the_report() {
    let spin = Recording::fixture("spin");
    for filter in [
        &[][..],
        &["-S", "!main"],
        &["--time", "10%-60%"],
        &["--no-children"],
    ] {
        let words = filter
            .iter()
            .map(|word| format!("'{word}'"))
            .collect::<Vec<_>>()
            .join(" ");
        let Some(terminal) = shown((100, 30), &words) else {
            return;
        };
        terminal.wait("? keys");
        terminal.press(&["s", "j"]);
        terminal.wait("wrote rprof.0.json");
        terminal.press(&["P"]);
        terminal.wait("wrote perf.hist.0");
        terminal.press(&["s", "f"]);
        terminal.wait("wrote rprof.0.folded");
        let read = |name| fs::read_to_string(terminal.path(name)).unwrap();
        let json: serde_json::Value = serde_json::from_str(&read("rprof.0.json")).unwrap();
        let args = [&["--format", "json", "-g", "none"], filter].concat();
        let report: serde_json::Value = serde_json::from_str(&spin.read("report", &args)).unwrap();
        let rows = |json: &serde_json::Value| json["events"][0]["rows"].clone();
        assert!(
            rows(&json).as_array().is_some_and(|rows| !rows.is_empty()),
            "{json}"
        );
        assert_eq!(rows(&json), rows(&report), "{filter:?}");
        // Whole stacks are the same whatever rows count.
        let of_samples = filter.iter().filter(|word| **word != "--no-children");
        let args: Vec<&str> = ["--format", "folded"]
            .iter()
            .chain(of_samples)
            .copied()
            .collect();
        let folded = spin.read("report", &args);
        assert_eq!(read("rprof.0.folded"), folded, "{filter:?}");
        // The percentages on the screen are those of the table.
        let args = [&["-g", "none"], filter].concat();
        let table = spin.read("report", &args);
        let cells = |text: &str| {
            let lines = text
                .lines()
                .filter(|line| !line.starts_with('#') && !line.is_empty());
            lines
                .map(|line| line.split_whitespace().map(str::to_owned).collect())
                .collect::<Vec<Vec<_>>>()
        };
        assert_eq!(cells(&read("perf.hist.0")), cells(&table), "{filter:?}");
    }
}

#[test]
fn the_code_of_a_function_is_that_of_annotate() {
    let Some(terminal) = shown((100, 40), "--no-children -s sym") else {
        return;
    };
    terminal.wait("? keys");
    terminal.press(&["a"]);
    terminal.wait("next hottest line");
    terminal.press(&["Home"]);
    let screen = terminal.wait("% of all");
    let title = screen.lines().next().unwrap_or_default();
    let (name, image) = title.trim().split_once("  ").unwrap();
    // It is inlined: where its samples are comes last.
    assert!(image.starts_with("spin  inlined into hot ("), "{title}");
    let listing = Recording::fixture("spin").read("annotate", &[name]);
    // Jumps are drawn with other characters on a terminal.
    let lines = screen.lines().skip(1);
    let shown: Vec<&str> = lines.filter(|line| line.contains("% of all")).collect();
    assert!(!shown.is_empty() && !screen.contains("\\x1b"), "{screen}");
    assert!(
        shown.iter().all(|line| listing.contains(line.trim())),
        "{screen}\n{listing}"
    );
    terminal.press(&["Escape"]);
    terminal.wait("? keys");
}

#[test]
fn a_resize_storm_ends_with_the_last_size() {
    let Some(terminal) = shown((80, 24), "") else {
        return;
    };
    terminal.wait("? keys");
    for step in 0..40 {
        terminal.resize(20 + step * 7 % 130, 5 + step * 5 % 40);
        terminal.press(&[["1", "2", "3", "4"][step as usize % 4], "Down"]);
    }
    terminal.press(&["1"]);
    terminal.resize(20, 5);
    terminal.wait_until("a small screen", |screen| screen.contains(" 1  2  3  4"));
    terminal.resize(19, 5);
    terminal.wait("too small");
    terminal.resize(100, 30);
    terminal.wait_until("all of it", |screen| {
        screen.contains("? keys") && screen.contains("Symbol")
    });
    terminal.press(&["q"]);
    terminal.wait("exit 0");
    assert_restored(&terminal);
}

#[test]
fn a_terminal_that_says_it_is_huge_takes_no_memory() {
    // Bytes of address space: more than a screen of any size that is used.
    let script = format!(
        "cd \"$(dirname \"$0\")\"; stty rows 65535 cols 65535; stty -g > before; \
         (ulimit -v 2000000; {}); echo exit $?; stty -g > after; echo done",
        line("")
    );
    let Some(terminal) = Terminal::start((80, 24), &script) else {
        return;
    };
    terminal.wait_until("the interface", |_| terminal.is_other_screen());
    terminal.press(&["q"]);
    terminal.wait("exit 0");
    assert_restored(&terminal);
}

#[test]
fn signals_give_the_terminal_back() {
    for (signal, code) in [
        ("TERM", 143),
        ("INT", 130),
        ("HUP", 129),
        ("QUIT", 131),
        ("USR1", 138),
        ("ALRM", 142),
        ("XCPU", 152),
        ("IO", 157),
    ] {
        let script = format!(
            "cd \"$(dirname \"$0\")\"; stty -g > before; sh -c 'echo $$ > pid; exec {}'; \
             echo exit $?; stty -g > after; echo done",
            line("").replace('\'', "")
        );
        let Some(terminal) = Terminal::start((80, 24), &script) else {
            return;
        };
        terminal.wait("? keys");
        assert!(terminal.is_other_screen());
        let pid = fs::read_to_string(terminal.path("pid")).unwrap();
        common::signal(pid.trim().parse().unwrap(), signal);
        terminal.wait(&format!("exit {code}"));
        assert_restored(&terminal);
    }
}

#[test]
fn it_ends_when_its_terminal_is_gone() {
    for to in ["2> said", ""] {
        // As nohup does: nothing but the terminal itself says that it is gone.
        let script = format!(
            "trap '' HUP; cd \"$(dirname \"$0\")\"; {} {to}; echo $? > code",
            line("")
        );
        let Some(terminal) = Terminal::start((80, 24), &script) else {
            return;
        };
        terminal.wait("? keys");
        terminal.close();
        assert_eq!(terminal.wait_for_file("code"), "1\n", "{to}");
        if !to.is_empty() {
            let said = fs::read_to_string(terminal.path("said")).unwrap();
            assert!(
                said.ends_with("rprof: error: the terminal is gone\n"),
                "{said}"
            );
            assert!(!said.contains("cursor"), "{said}");
        }
    }
}

#[test]
fn what_is_pasted_is_typed_where_names_are_asked_for() {
    let Some(terminal) = shown((80, 24), "") else {
        return;
    };
    terminal.wait("? keys");
    terminal.paste("q\nq\n");
    terminal.wait("paste works in the prompts");
    terminal.press(&["/"]);
    terminal.paste("main\nq\n");
    terminal.wait("/regex/, !not): main");
    terminal.press(&["Enter"]);
    terminal.wait("/main: ");
    terminal.press(&["q"]);
    terminal.wait("exit 0");
    assert_restored(&terminal);
}

#[test]
fn a_shell_has_its_terminal_while_it_is_suspended() {
    let script = format!(
        "set -m; cd \"$(dirname \"$0\")\"; stty -g > before; {}; stty -g > between; \
         read continued; fg; echo exit $?; stty -g > after; echo done",
        line("")
    );
    let Some(terminal) = Terminal::start((80, 24), &script) else {
        return;
    };
    terminal.wait("? keys");
    terminal.press(&["3", "C-z"]);
    terminal.wait_until("the shell's screen", |_| !terminal.is_other_screen());
    terminal.press(&["Enter"]);
    terminal.wait("callees below");
    terminal.press(&["C-l", "1"]);
    terminal.wait("Children");
    let state = |name| fs::read_to_string(terminal.path(name)).unwrap();
    assert_eq!(state("before"), state("between"));
    terminal.press(&["q"]);
    terminal.wait("exit 0");
    assert_restored(&terminal);
}

#[test]
fn where_there_is_no_screen_the_report_comes_instead() {
    let spin = fixtures().join("spin");
    let mut words: Vec<std::ffi::OsString> = vec!["tui".into(), "-i".into()];
    words.push(spin.join("perf.data").into());
    words.extend([
        "--symfs".into(),
        spin.join("root").into(),
        "-s".into(),
        "sym".into(),
    ]);
    let ran = run(rprof(&words).env("TERM", "xterm")).ok();
    let spin = Recording::fixture("spin");
    assert_eq!(ran.stdout, spin.read("report", &["-s", "sym"]));
    assert!(
        ran.stderr
            .contains("rprof: stdout is not a terminal; printing the report"),
        "{}",
        ran.stderr
    );
    let script = format!(
        "export TERM=dumb PAGER=cat; {}; echo exit $?",
        line("-s sym -Ue cpu-clock:u")
    );
    let Some(terminal) = Terminal::start((120, 90), &script) else {
        return;
    };
    let screen = terminal.wait("exit 0");
    assert!(
        screen.contains("TERM is unset or dumb; printing the report"),
        "{screen}"
    );
    assert!(terminal.dir().is_dir());
}

#[test]
fn rows_of_source_lines_are_refused_in_a_line() {
    let said = run(&mut rprof(["tui", "-s", "dso,srcline"])).fails(2);
    let expected = "use rprof report -s srcline, or press a on a function\n";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn an_event_that_there_is_not_is_an_error_with_and_without_a_screen() {
    let expected = "rprof: error: no event 'nosuch' in the recording; it has cpu-clock:u";
    let script = format!(
        "cd \"$(dirname \"$0\")\"; {0} 2> said; echo $? >> said; {0} 2> piped | cat; echo done",
        line("-e nosuch")
    );
    let Some(terminal) = Terminal::start((80, 24), &script) else {
        return;
    };
    terminal.wait("done");
    let said = |name| fs::read_to_string(terminal.path(name)).unwrap();
    assert!(said("said").contains(expected), "{}", said("said"));
    assert!(said("said").ends_with("\n1\n"), "{}", said("said"));
    assert!(said("piped").contains(expected), "{}", said("piped"));
}
