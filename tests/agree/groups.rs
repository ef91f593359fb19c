//! Events of a group stand side by side as perf has them, with the same rows and shares.

use super::trees::compare as compare_trees;
use crate::common::{self, compile_c, corpus, needs, rprof, run, scratch};
use std::path::{Path, PathBuf};

/// Two busy functions, and one that page faults are taken in.
const PROGRAM: &str = r#"
    #define _GNU_SOURCE
    #include <sys/mman.h>
    static volatile unsigned long sink;
    __attribute__((noinline)) void leaf_a(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i; }
    __attribute__((noinline)) void leaf_b(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink ^= i; }
    __attribute__((noinline)) void touch(char *memory) { for (int i = 0; i < 64; i++) memory[i * 4096L] = 1; sink++; }
    int main(void) {
        char *memory = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (long end = CPU_US() + 300000; CPU_US() < end;) {
            leaf_a(40000);
            leaf_b(20000);
            touch(memory);
            madvise(memory, 1 << 20, MADV_DONTNEED);
        }
        return 0;
    }"#;

/// Rows in which an event has 1 % and more, without the blanks between cells. A single sample may be in a stub that
/// perf has no name for.
fn rows(table: &str) -> Vec<String> {
    let rows = table.lines().filter(|line| line.starts_with(' '));
    let rows = rows.filter(|line| {
        let mut words = line.split_whitespace();
        words.any(|word| {
            let share = word.strip_suffix('%').and_then(|share| share.parse().ok());
            share.is_some_and(|share: f64| share >= 1.0)
        })
    });
    let mut rows: Vec<String> = rows
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    rows.sort();
    rows
}

/// What the headings say: samples and names of the events, and what they count.
fn headings(table: &str) -> Vec<String> {
    let headings = table.lines().filter_map(|line| {
        let events = line.split_once(" of event");
        let is_count = line.starts_with("# Event count ");
        // Of a single event of a group, perf says "of events".
        let events = events.map(|(_, events)| events.trim_start_matches('s').to_owned());
        events.or_else(|| is_count.then(|| line.to_owned()))
    });
    headings.collect()
}

fn compare(file: &Path, args: &[&str]) -> String {
    let mut perf = common::perf(["report", "--stdio", "-i"]);
    let theirs = run(perf.arg(file).args(args)).ok().stdout;
    let ours = run(rprof(["report", "--self-by-symbol", "-i"])
        .arg(file)
        .args(args))
    .ok()
    .stdout;
    assert_eq!(rows(&ours), rows(&theirs), "{} {args:?}", file.display());
    assert_eq!(headings(&ours), headings(&theirs), "{args:?}");
    ours
}

/// A recording of [`PROGRAM`] by a tool.
fn record(dir: &Path, program: &Path, tool: &str, events: &[&str]) -> PathBuf {
    let file = dir.join(format!("{tool}.{}", events.join("")));
    let mut recorder = match tool {
        "perf" => common::perf(["record", "-q", "-g"]),
        _ => rprof(["record", "-q", "--call-graph", "fp"]),
    };
    let recorder = recorder.args(events).args(["-F", "1999", "-o"]);
    run(recorder.arg(&file).arg(program)).ok();
    file
}

const FLAT: [&str; 3] = ["--no-children", "-g", "none"];

#[test]
fn events_of_a_group_stand_side_by_side_as_perfs() {
    needs!(perf, cc, alone);
    let dir = scratch();
    let program = compile_c(dir.path(), "grouped", PROGRAM);
    for tool in ["perf", "rprof"] {
        for events in ["{cpu-clock,page-faults}", "{cpu-clock,page-faults}:S"] {
            let file = record(dir.path(), &program, tool, &["-e", events]);
            for args in [
                &[][..],
                &["-n", "--show-total-period"],
                &["-s", "dso"],
                &["-s", "sym", "-F", "overhead,overhead_sys,sample"],
                &["--group-sort-idx", "1"],
                &["-t", ";"],
                &["--no-group", "-n"],
                &["-S", "touch,leaf_a", "--percentage", "relative"],
            ] {
                let table = compare(&file, &[&FLAT[..], args].concat());
                assert!(!rows(&table).is_empty(), "{table}");
            }
        }
    }
}

#[test]
fn trees_of_a_group_are_those_of_its_leader() {
    needs!(perf, cc, alone);
    let dir = scratch();
    let program = compile_c(dir.path(), "grouped", PROGRAM);
    let file = record(
        dir.path(),
        &program,
        "perf",
        &["-e", "{cpu-clock,page-faults}"],
    );
    for count in ["--children", "--no-children"] {
        for words in [
            "graph,caller,2",
            "fractal,callee,2",
            "folded,callee,2,0,count",
        ] {
            let read = ["report", "--stdio", "--no-inline", count, "-g", words];
            let theirs = run(common::perf(read).arg("-i").arg(&file)).ok().stdout;
            let ours = run(rprof(read).arg("--no-fde").arg("-i").arg(&file))
                .ok()
                .stdout;
            assert!(ours.contains(" of events 'anon group { "), "{ours}");
            let n_same = compare_trees(&ours, &theirs, &read.join(" "));
            assert!(n_same >= 2, "{theirs}");
        }
    }
}

#[test]
fn events_without_a_group_can_stand_side_by_side() {
    needs!(perf, cc, alone);
    let dir = scratch();
    let program = compile_c(dir.path(), "grouped", PROGRAM);
    // Of the last there are none: aligned accesses, whatever the machine has in memory.
    let events = [
        "-e",
        "cpu-clock",
        "-e",
        "page-faults",
        "-e",
        "alignment-faults",
    ];
    let file = record(dir.path(), &program, "perf", &events);
    let table = compare(&file, &[&FLAT[..], &["--group"]].concat());
    assert!(
        table.contains(" of events 'cpu-clock, page-faults, alignment-faults'\n"),
        "{table}"
    );
    let table = compare(&file, &FLAT);
    assert!(!table.contains("alignment-faults"), "{table}");
    let table = compare(&file, &[&FLAT[..], &["--no-skip-empty"]].concat());
    assert!(
        table.contains(" 0 of event 'alignment-faults'\n"),
        "{table}"
    );
}

#[test]
fn groups_of_recordings_of_others_stand_side_by_side() {
    let Some(corpus) = corpus() else {
        return;
    };
    needs!(perf);
    let file = corpus.join("quipper/perf.data.group_desc-4.14");
    for args in [
        &["-s", "comm,dso"][..],
        &["-s", "comm,dso", "-n"],
        &["-s", "comm,dso", "--no-group"],
        &["-s", "comm,dso", "--group", "--group-sort-idx", "1"],
    ] {
        let table = compare(&file, args);
        assert!(rows(&table).len() >= 3, "{table}");
    }
}
