//! Agreement with perf itself: it reads our files, we read its, and both say the same.

mod branches;
mod crossed;
mod filters;
mod groups;
mod interpreter;
mod keys;
mod levels;
mod made;
mod meant;
mod memory;
mod old_kernel;
mod parents;
mod places;
mod sources;
mod sums;
mod switches;
mod tasks;
mod trees;

use crate::common;
use crate::common::{
    Ran, compile_c, needs, number_after, number_before, rprof, run, scratch, shared_folder, tracefs,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Two busy functions below common callers, and some work of the kernel's.
const PROGRAM: &str = r#"
    static volatile unsigned long sink;
    /* No call through a stub: perf 6.1 does not always know those by name. */
    static inline void syscall_getppid(void) { long r; __asm__ volatile("syscall" : "=a"(r) : "a"(110) : "rcx", "r11", "memory"); }
    __attribute__((noinline)) void leaf_a(unsigned long n) { for (unsigned long i = 0; i < n; i++)
        sink += i; }
    __attribute__((noinline)) void leaf_b(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink ^= i; }
    __attribute__((noinline)) void middle(unsigned long n) { leaf_a(2 * n); leaf_b(n); sink++; }
    int main(void) {
        for (long end = CPU_US() + 600000; CPU_US() < end;) { middle(20000); for (int j = 0; j < 20; j++) syscall_getppid(); }
        return 0;
    }"#;

fn perf(args: &[&str], file: &Path) -> Ran {
    run(common::perf(args).arg("-i").arg(file)).ok()
}

/// A recording of [`PROGRAM`] by each tool, to be read by both.
struct Recorded {
    files: [PathBuf; 2],
    /// What ours says is not in it.
    lost: u64,
}

/// Those of this test program, made when they are first asked for. `None` if a tool is missing.
fn recordings() -> Option<&'static Recorded> {
    static RECORDED: OnceLock<Recorded> = OnceLock::new();
    // The program makes system calls by itself.
    needs!(x86_64, perf, cc, alone);
    Some(RECORDED.get_or_init(record))
}

fn record() -> Recorded {
    let dir = shared_folder().join("agree");
    std::fs::create_dir(&dir).unwrap();
    let program = compile_c(&dir, "program", PROGRAM);
    let (ours, theirs) = (dir.join("ours"), dir.join("theirs"));
    let ran = run(rprof(["record", "-e", "cpu-clock", "-F", "1999", "-o"])
        .arg(&ours)
        .arg(&program))
    .ok();
    run(
        common::perf(["record", "-e", "cpu-clock", "-F", "1999", "-g", "-o"])
            .arg(&theirs)
            .arg(&program),
    )
    .ok();
    Recorded {
        files: [ours, theirs],
        lost: number_before(&ran.stderr, " lost").expect(&ran.stderr),
    }
}

/// Rows of a flat table: (percent, command, object, symbol), those of 1 % and more: a single
/// sample may be in a stub that perf has no name for (`cargo xtask bench` looks at 0.1 %).
fn rows(table: &str) -> Vec<(String, String, String, String)> {
    let mut rows: Vec<_> = table
        .lines()
        .filter(|line| line.starts_with(' ') && line.contains('%'))
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let percent = words.next()?.to_owned();
            let (command, object) = (words.next()?.to_owned(), words.next()?.to_owned());
            let symbol: Vec<&str> = words.collect();
            let share: f64 = percent.trim_end_matches('%').parse().ok()?;
            (share >= 1.0).then(|| (percent, command, object, symbol.join(" ")))
        })
        .collect();
    rows.sort();
    rows
}

#[test]
fn flat_rows_are_the_same_for_files_of_both() {
    let Some(recorded) = recordings() else {
        return;
    };
    for file in &recorded.files {
        let theirs = perf(&["report", "--stdio", "--no-children", "-g", "none"], file);
        let ours = run(rprof([
            "report",
            "--self-by-symbol",
            "--no-children",
            "-g",
            "none",
            "-i",
        ])
        .arg(file))
        .ok();
        let expected = rows(&theirs.stdout);
        assert!(expected.len() >= 2, "{}", theirs.stdout);
        assert_eq!(rows(&ours.stdout), expected, "{}", file.display());
    }
}

/// perf script's samples as folded stacks, outermost first, with their counts.
/// perf names what no event records, too: a recording without control groups has none for any sample.
#[test]
fn control_groups_have_the_samples_that_perf_counts() {
    needs!(perf, cc, alone);
    let dir = scratch();
    let program = compile_c(dir.path(), "program", PROGRAM);
    for (name, more) in [("with", &["--all-cgroups"][..]), ("without", &[])] {
        let file = dir.path().join(name);
        let mut record = common::perf(["record", "-e", "cpu-clock", "-F", "1999"]);
        run(record.args(more).arg("-o").arg(&file).arg(&program)).ok();
        let theirs = perf(&["report", "--stdio", "--sort", "cgroup,comm"], &file);
        let ours = run(rprof(["report", "-g", "none", "-s", "cgroup,comm", "-i"]).arg(&file)).ok();
        let expected = rows(&theirs.stdout);
        let begins = if more.is_empty() { "N/A" } else { "/" };
        let is_shown = |row: &(String, String, String, String)| row.1.starts_with(begins);
        assert!(expected.iter().any(is_shown), "{}", theirs.stdout);
        assert_eq!(rows(&ours.stdout), expected, "{name}");
    }
}

fn fold(script: &str) -> BTreeMap<String, u64> {
    let mut folded = BTreeMap::new();
    let mut comm = "";
    let mut frames: Vec<String> = Vec::new();
    for line in script.lines().chain([""]) {
        if line.is_empty() {
            if !comm.is_empty() {
                frames.push(comm.to_owned());
                frames.reverse();
                *folded.entry(frames.join(";")).or_default() += 1;
            }
            (comm, frames) = ("", Vec::new());
        } else if line.starts_with(char::is_whitespace) {
            let frame = line
                .trim_start()
                .split_once(' ')
                .map_or("", |(_, frame)| frame);
            let (name, object) = frame.rsplit_once(" (").unwrap_or((frame, ""));
            let object = object
                .trim_end_matches(')')
                .rsplit('/')
                .next()
                .unwrap_or("");
            frames.push(match (name, object) {
                ("[unknown]", "[unknown]") => "[unknown]".to_owned(),
                ("[unknown]", object) => format!("[{object}]"),
                (name, _) => name.to_owned(),
            });
        } else {
            comm = line.split_whitespace().next().unwrap_or("");
        }
    }
    folded
}

#[test]
fn perf_reads_our_files_without_a_word_and_sees_the_same_stacks() {
    let Some(recorded) = recordings() else {
        return;
    };
    for file in &recorded.files {
        let script = perf(&["script", "-F", "comm,ip,sym,dso", "--no-inline"], file);
        assert_eq!(script.stderr, "", "{}", file.display());
        let ours = run(rprof(["flame", "--folded", "--no-inline", "-i"]).arg(file)).ok();
        let mut ours: BTreeMap<String, u64> = ours
            .stdout
            .lines()
            .filter_map(|line| line.rsplit_once(' '))
            .map(|(stack, count)| (stack.to_owned(), count.parse().unwrap()))
            .collect();
        let mut theirs = fold(&script.stdout);
        assert_eq!(ours.values().sum::<u64>(), theirs.values().sum::<u64>());
        // Frames whose last instruction is a call, as in the loader's start-up code: perf names
        // the function after them. What an interrupt broke into is no return address, but looks
        // like one.
        for stacks in [&mut ours, &mut theirs] {
            stacks.retain(|stack, _| stack.contains(";main") && !stack.contains(";asm_"));
        }
        assert!(ours.len() >= 2);
        assert_eq!(ours, theirs, "{}", file.display());
    }
}

#[test]
fn perf_sees_the_header_we_wrote() {
    let Some(recorded) = recordings() else {
        return;
    };
    let header = perf(&["report", "--header-only", "-I"], &recorded.files[0]).stdout;
    for part in [
        "# hostname :",
        "# os release :",
        "# perf version : rprof ",
        "# arch :",
        "# nrcpus online :",
        "# cpudesc :",
        "# total memory :",
        "# cmdline :",
        "# event : name = cpu-clock",
        "# sibling sockets",
        "# time of first sample :",
        "# clockid: monotonic",
    ] {
        assert!(header.contains(part), "no '{part}' in\n{header}");
    }
    let ids = perf(&["buildid-list"], &recorded.files[0]).stdout;
    assert!(
        ids.lines().any(|line| line.ends_with(" [kernel.kallsyms]")),
        "{ids}"
    );
    let evlist = perf(&["evlist", "-v"], &recorded.files[0]).stdout;
    assert!(
        evlist.contains("cpu-clock") && evlist.contains("dummy:u"),
        "{evlist}"
    );
    let table = perf(&["report", "--stdio", "-g", "none"], &recorded.files[0]).stdout;
    assert_eq!(
        number_after(&table, "# Total Lost Samples: "),
        Some(recorded.lost)
    );
}

/// What perf calls the event that a recorder writes into a pipe, and the sideband.
fn names_in_pipe(recorder: &Command, dir: &Path) -> Vec<String> {
    let file = dir.join("piped");
    let mut shell = common::tool("sh");
    shell
        .args(["-c", "exec \"$@\" -o - true > \"$0\""])
        .arg(&file);
    shell.arg(recorder.get_program()).args(recorder.get_args());
    run(&mut shell).ok();
    let names = perf(&["evlist"], &file).stdout;
    let names = names.lines().filter(|name| !name.starts_with('#'));
    names.map(str::to_owned).collect()
}

#[test]
fn events_are_called_the_same_where_only_their_attrs_name_them() {
    needs!(perf);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    for event in [
        "cpu-clock",
        "page-faults",
        "sched:sched_switch",
        "cpu-clock:u",
        "cpu-clock:GH",
    ] {
        let record = ["record", "-q", "-e", event];
        let names = |recorder| names_in_pipe(&tracefs.within(&recorder), dir.path());
        let (ours, theirs) = (names(rprof(record)), names(common::perf(record)));
        assert_eq!(ours[..ours.len() - 1], theirs[..], "{event}");
        assert_eq!(ours[0].contains('G'), event.contains('G'), "{ours:?}");
    }
}
