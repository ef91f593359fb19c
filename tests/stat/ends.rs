//! How a count ends: statuses, signals, limits, and what cannot be meant.

use crate::common::{self, Running, needs, rprof, run, scratch, signal};

fn stat(words: &[&str]) -> std::process::Command {
    rprof(["stat"].iter().chain(words))
}

#[test]
fn the_commands_status_is_passed_on() {
    needs!(alone);
    for (script, code) in [("exit 7", 7), ("kill -9 $$", 137), ("true", 0)] {
        let ran = run(&mut stat(&["-e", "page-faults", "sh", "-c", script]));
        assert_eq!(ran.status.code(), Some(code), "{}", ran.stderr);
        assert!(ran.stderr.contains("page-faults"), "{}", ran.stderr);
    }
    let missing = run(&mut stat(&["/no/such/command"])).fails(1);
    assert!(missing.contains("/no/such/command"), "{missing}");
    assert_eq!(missing.lines().count(), 1);
}

#[test]
fn counts_are_written_when_somebody_stops_it() {
    needs!(alone);
    // Its first line says that it counts.
    let script = "echo ready; exec sleep 300";
    for name in ["INT", "TERM"] {
        let mut running = Running::start(&mut stat(&["-e", "page-faults", "sh", "-c", script]));
        assert_eq!(running.line(), "ready");
        signal(running.pid(), name);
        let ran = running.finish();
        assert_eq!(ran.status.code(), Some(128 + 15), "{}", ran.stderr);
        assert!(ran.stderr.contains("page-faults"), "{}", ran.stderr);
    }
}

#[test]
fn a_timeout_ends_the_command_and_intervals_end_by_their_number() {
    needs!(alone);
    let ran = run(&mut stat(&[
        "--timeout",
        "20",
        "-x,",
        "-e",
        "faults",
        "sleep",
        "300",
    ]));
    assert_eq!(ran.status.code(), Some(128 + 15));
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    let words = [
        "-I",
        "10",
        "--interval-count",
        "3",
        "-x,",
        "-e",
        "faults",
        "sleep",
        "300",
    ];
    let ran = run(&mut stat(&words));
    assert_eq!(ran.stderr.lines().count(), 3, "{}", ran.stderr);
}

#[test]
fn counts_go_to_a_file_that_may_grow() {
    needs!(alone);
    let dir = scratch();
    let path = dir.path().join("counts");
    let path = path.to_str().unwrap();
    for (append, n_lines) in [(false, 1), (true, 2), (false, 1)] {
        let mut words = vec!["-x,", "-e", "faults", "-o", path];
        if append {
            words.push("--append");
        }
        words.push("true");
        let ran = run(&mut stat(&words)).ok();
        assert_eq!(ran.stderr, "");
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text.lines().count(), n_lines, "{text}");
    }
}

#[test]
fn what_cannot_be_counted_is_one_line() {
    needs!(alone);
    for (words, code, expected) in [
        (
            &["-e", "page-fualts", "true"][..],
            2,
            "did you mean 'page-faults'?",
        ),
        (&["-I", "0", "true"], 2, "at least 1"),
        (&["--timeout", "0", "true"], 2, "at least 1"),
        (
            &["-p", "999999999"],
            1,
            "no such process or thread: 999999999",
        ),
        (&["-A", "true"], 2, "needs -a or -C"),
        (&["--per-thread", "true"], 2, "use -p, -t or -a"),
        (&["-x", "", "true"], 2, "needs a separator"),
        (&[], 2, "nothing to count"),
        (
            &["-a", "-G", "no/such/group", "-e", "cs", "true"],
            1,
            "no/such/group",
        ),
        (
            &["-a", "-G", "/,/", "-e", "cs", "true"],
            1,
            "2 control groups (-G) for 1 events",
        ),
        (
            &["-e", "cs:R", "true"],
            1,
            "retire latency comes with samples",
        ),
    ] {
        let said = run(&mut stat(words)).fails(code);
        assert!(said.contains(expected), "{words:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{words:?}: {said}");
    }
}

#[test]
fn cpus_that_are_not_there_are_an_error() {
    needs!(alone);
    for cpus in ["4095", "0,4095"] {
        let said = run(&mut stat(&["-C", cpus, "-e", "cs", "true"])).fails(1);
        assert!(said.contains("no such CPU: 4095"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn who_is_named_twice_is_counted_once() {
    needs!(alone);
    let own = std::process::id();
    let twice = format!("{own},{own}");
    for flag in ["-p", "-t"] {
        let of = |who: &str| {
            let words = ["--per-thread", "-x,", "-e", "cs:u", "--timeout", "10"];
            let ran = run(&mut stat(&[&words[..], &[flag, who]].concat())).ok();
            let label = |line: &str| line.split(',').next().map(str::to_owned);
            ran.stderr.lines().filter_map(label).collect::<Vec<_>>()
        };
        let labels = of(&twice);
        let mut once = labels.clone();
        once.sort();
        once.dedup();
        assert_eq!(labels.len(), once.len(), "{flag}: {labels:?}");
    }
}

#[test]
fn nothing_but_times_is_counted_if_nothing_is_wanted() {
    needs!(alone);
    let ran = run(&mut stat(&["-n", "true"])).ok();
    let lines: Vec<&str> = ran.stderr.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), 4, "{}", ran.stderr);
    assert!(lines[1].ends_with("seconds time elapsed"));
}

#[test]
fn children_that_run_already_are_counted_or_said() {
    needs!(alone);
    // A master that waits, and a worker.
    let script = "(while :; do :; done) & echo ready; read x; kill $!";
    let mut master = Running::start(common::tool("sh").args(["-c", script]));
    assert_eq!(master.line(), "ready");
    let pid = master.pid().to_string();
    let of = |more: &[&str]| {
        let words = [
            "--per-thread",
            "-x,",
            "-e",
            "page-faults:u",
            "-p",
            &pid,
            "--timeout",
            "10",
        ];
        run(&mut stat(&[&words[..], more].concat())).ok().stderr
    };
    let n_threads = |said: &str| {
        said.lines()
            .filter(|line| line.contains("page-faults"))
            .count()
    };
    let alone = of(&[]);
    assert!(
        alone.contains("1 child process already running, not counted (use --children"),
        "{alone}"
    );
    assert_eq!(n_threads(&alone), 1, "{alone}");
    let all = of(&["--children"]);
    assert!(!all.contains("already running"), "{all}");
    assert_eq!(n_threads(&all), 2, "{all}");
}
