//! Waits by cause, and what threads wait for through descriptors.

use super::waiting::milliseconds;
use crate::common::{compile, has, needs, perf, rprof, run, scratch, tracefs};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Records threads each of which is called `in_` and what it waits for.
#[track_caller]
fn record_waits(dir: &Path) -> PathBuf {
    let (program, file) = (dir.join("waits"), dir.join("perf.data"));
    compile(&program, include_str!("waits.c"), &["-O1", "-pthread"]);
    let mut record = rprof(["record", "-q", "--off-cpu", "-m", "1024", "-o"]);
    run(record.arg(&file).arg("--").arg(&program)).ok();
    file
}

/// Rows of a report's table, without its head.
#[track_caller]
fn rows(file: &Path, account: &str, keys: &str) -> Vec<Vec<String>> {
    let fields = format!("{keys},period");
    let options = [
        "report",
        account,
        "-s",
        keys,
        "-F",
        &fields,
        "--no-children",
    ];
    let table = run(rprof(options).args(["--format", "csv", "-i"]).arg(file)).ok();
    let cells = |line: &str| line.split(',').map(str::to_owned).collect();
    table.stdout.lines().skip(1).map(cells).collect()
}

#[test]
fn sched_by_cause_has_the_numbers_of_the_report() {
    needs!(cc, live);
    if tracefs().is_none() {
        return;
    }
    let dir = scratch();
    let file = record_waits(dir.path());
    // By thread and cause.
    let mut of_report: BTreeMap<(String, String), u64> = BTreeMap::new();
    for row in rows(&file, "--wall", "tid,cause") {
        let [tid, cause, period] = &row[..] else {
            panic!("{row:?}");
        };
        let tid = tid.trim().split(':').next().unwrap().to_owned();
        *of_report.entry((tid, cause.clone())).or_default() += period.parse::<u64>().unwrap();
    }
    let table = run(rprof(["sched", "--by", "cause"]).arg(&file))
        .ok()
        .stdout;
    let mut heads = table.lines().filter(|line| line.starts_with('#'));
    let head = heads.next_back().unwrap();
    let mut of_sched: BTreeMap<(String, String), String> = BTreeMap::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (_, ids) = line.trim_end_matches(']').rsplit_once('[').unwrap();
        let tid = ids.split('/').next().unwrap();
        // Numbers end where their headings do, which may have blanks.
        let (mut from, mut at) = (1, 0);
        for word in line.split_whitespace() {
            at += line[at..].find(word).unwrap() + word.len();
            if word.parse::<f64>().is_err() {
                break;
            }
            let cause = match head[from..at].trim() {
                "Run" => "running",
                "Runnable" => "runnable",
                cause => cause,
            };
            from = at;
            if word != "0.000" {
                of_sched.insert((tid.to_owned(), cause.to_owned()), word.to_owned());
            }
        }
    }
    let own = of_report.into_iter();
    let own = own.map(|(row, ns)| (row, format!("{:.3}", milliseconds(ns))));
    let own: BTreeMap<_, _> = own.filter(|(_, ms)| ms != "0.000").collect();
    assert_eq!(of_sched, own, "{table}");
    for cause in ["futex", "pipe", "socket", "sleep", "epoll"] {
        assert!(head.contains(cause), "{table}");
    }
    // Others of its keys are of other numbers.
    let said = run(rprof(["sched", "--by", "cause", "-s", "max"]).arg(&file)).fails(2);
    assert!(said.contains("--by cause sorts by"), "{said}");
}

#[test]
fn what_a_thread_waits_for_is_named() {
    needs!(cc, live);
    if tracefs().is_none() {
        return;
    }
    let dir = scratch();
    let file = record_waits(dir.path());
    let rows = rows(&file, "--off-cpu", "comm,cause,file");
    for (comm, cause, name) in [
        ("in_pipe", "pipe", Some("pipe:[")),
        ("in_socket", "socket", Some("socket:[")),
        ("in_eventfd", "eventfd", Some("anon_inode:[eventfd]")),
        ("in_epoll", "epoll", Some("anon_inode:[eventpoll]")),
        ("in_timerfd", "sleep", Some("anon_inode:[timerfd]")),
        // They wait for no descriptor, or for several.
        ("in_futex", "futex", None),
        ("in_sleep", "sleep", None),
        ("in_poll", "poll", None),
    ] {
        let its = rows.iter().filter(|row| row[0] == comm && row[1] == cause);
        let (mut all, mut named) = (0, 0);
        for row in its {
            let ns: u64 = row[3].parse().unwrap();
            let words = row[2]
                .strip_prefix("fd ")
                .and_then(|rest| rest.split_once(' '));
            let fd = words.map(|(fd, _)| fd.parse::<u32>().unwrap());
            let is_right = match name {
                Some(name) => words.is_some_and(|(_, of_fd)| of_fd.starts_with(name)),
                None => fd.is_none(),
            };
            assert!(is_right || row[2].is_empty(), "{row:?}");
            all += ns;
            named += if is_right { ns } else { 0 };
        }
        // Each waits for 20 ms at a time; a wait may end before it is looked at.
        assert!(all > 10_000_000 && named > 0, "{comm}: {named} of {all}");
    }
    if has("perf", "linux-perf") {
        let read = run(perf(["script", "-i"]).arg(&file)).ok();
        assert!(read.stdout.contains("sched_switch"), "{}", read.stdout);
    }
}

#[test]
fn names_of_files_are_untrusted() {
    needs!(live);
    let dir = scratch();
    let file = dir.path().join("perf.data");
    // One of the waits lasts until it is looked at, on a loaded machine, too.
    let script = "f=\"$(printf 'a\\033[31mb')\"; mkfifo \"$f\"; exec 3<>\"$f\"; times='1 2 3 4 5 6 7 8 9'; \
                  (for i in $times; do sleep 0.1; echo x >&3; done) & for i in $times; do read -r x <&3; done";
    let mut record = rprof(["record", "-q", "--off-cpu", "-o", "perf.data", "--", "bash"]);
    run(record.args(["-c", script]).current_dir(dir.path())).ok();
    let report = ["report", "--off-cpu", "-s", "comm,cause,file", "-i"];
    let table = run(rprof(report).arg(&file)).ok().stdout;
    assert!(!table.contains('\x1b'), "{table:?}");
    let line = table.lines().find(|line| line.contains("[31mb"));
    let line = line.unwrap_or_else(|| panic!("{table}"));
    assert!(line.contains("pipe") && line.contains("fd "), "{line}");
    // A recording without waits says what it takes.
    let other = crate::common::fixtures().join("spin/perf.data");
    let said = run(rprof(["report", "-s", "file", "-i"]).arg(&other)).fails(1);
    assert!(said.contains("--off-cpu"), "{said}");
}
