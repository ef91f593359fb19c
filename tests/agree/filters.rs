//! Filters leave the rows and percentages that perf's leave.

use crate::common::{
    compile_c, corpus, has, needs, number_after, number_before, rprof, run, scratch,
};
use std::path::{Path, PathBuf};

/// A process with a thread of another name, and its child.
const PROGRAM: &str = r#"
    #define _GNU_SOURCE
    #include <pthread.h>
    #include <string.h>
    #include <sys/prctl.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static volatile unsigned long sink;
    static char from[65536], to[65536];
    __attribute__((noinline)) void leaf_a(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i; }
    __attribute__((noinline)) void leaf_b(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink ^= i; }
    static void *copy(void *arg) {
        prctl(PR_SET_NAME, "copier", 0, 0, 0);
        for (int i = 0; i < 40000; i++) memmove(to, from + (i & 7), 65000);
        return arg;
    }
    int main(void) {
        pid_t child = fork();
        pthread_t thread;
        if (child) pthread_create(&thread, 0, copy, 0);
        else prctl(PR_SET_NAME, "child", 0, 0, 0);
        for (long end = CPU_US() + 250000; CPU_US() < end;) { leaf_a(40000); leaf_b(20000); }
        if (child) { pthread_join(thread, 0); wait(0); }
        return 0;
    }"#;

/// A percentage, and what stands beside it.
pub(super) type Row = (String, String);

/// Smaller rows are not compared: a single sample may be in a stub that perf has no name for.
pub(super) const LEAST: f64 = 1.0;

/// The rows of a table of 1 % and more.
pub(super) fn rows(table: &str) -> Vec<Row> {
    rows_from(table, LEAST)
}

/// The rows of a table that have at least this share.
pub(super) fn rows_from(table: &str, least: f64) -> Vec<Row> {
    let rows = table.lines().filter(|line| line.starts_with(' '));
    let mut rows: Vec<Row> = rows
        .filter_map(|line| {
            let (percent, cells) = line.trim_start().split_once('%')?;
            let share: f64 = percent.parse().ok()?;
            let cells: Vec<&str> = cells.split_whitespace().collect();
            (share >= least).then(|| (percent.to_owned(), cells.join(" ")))
        })
        .collect();
    rows.sort();
    rows
}

const FLAT: [&str; 4] = ["report", "--no-children", "-g", "none"];

/// perf's table, without its colours and without a word about what it cannot find.
fn perf(file: &Path, args: &[&str]) -> String {
    let mut perf = crate::common::perf(FLAT);
    run(perf.args(["--stdio", "-i"]).arg(file).args(args))
        .ok()
        .stdout
}

/// Ours, with the self time of symbols as perf has it.
fn ours(file: &Path, args: &[&str]) -> String {
    let mut ours = rprof(FLAT);
    run(ours.args(["--self-by-symbol", "-i"]).arg(file).args(args))
        .ok()
        .stdout
}

pub(super) fn compare(file: &Path, args: &[&str]) -> Vec<Row> {
    let (theirs, ours) = (perf(file, args), ours(file, args));
    assert_eq!(rows(&ours), rows(&theirs), "{} {args:?}", file.display());
    rows(&ours)
}

/// Recordings of [`PROGRAM`] by both tools, with its process and its child.
fn recorded(dir: &Path) -> [PathBuf; 2] {
    recorded_of(dir, &compile_c(dir, "filtered", PROGRAM))
}

/// The same of a program that is there already.
fn recorded_of(dir: &Path, program: &Path) -> [PathBuf; 2] {
    let files = [dir.join("ours"), dir.join("theirs")];
    let options = ["record", "-q", "-e", "cpu-clock", "-F", "1999", "-g", "-o"];
    run(rprof(&options[..6]).arg("-o").arg(&files[0]).arg(program)).ok();
    let mut perf = crate::common::perf(options);
    run(perf.arg(&files[1]).arg("--sample-cpu").arg(program)).ok();
    files
}

/// The process and the thread of the first sample of a thread.
fn ids_of(file: &Path, comm: &str) -> (String, String) {
    let mut script = rprof(["script", "-G", "-F", "pid,tid", "-c", comm, "-i"]);
    let lines = run(script.arg(file)).ok().stdout;
    let first = lines.lines().next().unwrap().trim();
    let (pid, tid) = first.split_once('/').unwrap();
    (pid.to_owned(), tid.trim().to_owned())
}

#[test]
fn filters_leave_what_perfs_leave() {
    needs!(perf, cc, alone);
    let dir = scratch();
    let names = dir.path().join("names");
    crate::common::write(&names, b"leaf_a\nmain\n");
    let names = format!("file://{}", names.display());
    for file in &recorded(dir.path()) {
        let (child, _) = ids_of(file, "child");
        let (_, copier) = ids_of(file, "copier");
        let all = compare(file, &[]).len();
        let header = perf(file, &["--header"]);
        let time = |which: &str| -> f64 {
            let time = header
                .split_once(&format!("# time of {which} sample : "))
                .unwrap();
            time.1.lines().next().unwrap().trim().parse().unwrap()
        };
        let (first, last) = (time("first"), time("last"));
        let at = |share: f64| format!("{:.6}", first + share * (last - first));
        let until = format!(",{}", at(0.4));
        let slices = format!("{},{} {},", at(0.1), at(0.3), at(0.8));
        let program = dir.path().join("filtered");
        let dsos = format!("{},none", program.display());
        // perf leaves out the column of which there is one value: the lists have two.
        for filter in [
            &["--comms", "copier,child"][..],
            &["-c", "child,none"],
            &["-d", "filtered,[kernel.kallsyms]"],
            &["--dsos", &dsos],
            &["-S", "leaf_a,leaf_b"],
            &["--symbols", &names],
            &["-S", "leaf_a,none", "-c", "child,copier"],
            &["--symbol-filter=eaf_"],
            &["--pid", &child],
            &["--tid", &copier],
            &["-C", "0"],
            &["-C", "0-1"],
            &["--time", &until],
            &["--time", &slices],
            &["--time", "10%/2"],
            &["--time", "10%"],
            &["--time", "10%-20%"],
            &["--time", "0%-33%,50%-90%"],
            &["--time", "12.5%/8", "-c", "filtered,child"],
        ] {
            compare(file, filter);
            compare(file, &[filter, &["--percentage", "absolute"]].concat());
            // Whose sample one is that was taken while a process began or ended, each tool says in its own way: that
            // changes all shares.
            if filter[0] != "--pid" {
                compare(file, &[filter, &["--percentage", "relative"]].concat());
            }
        }
        assert!(all > compare(file, &["-S", "leaf_a,leaf_b"]).len());
    }
}

#[test]
fn what_has_no_name_is_hidden_as_perf_hides_it() {
    let has_tools = has("cc", "gcc") && has("strip", "binutils");
    if !has("perf", "linux-perf") || !has_tools {
        return;
    }
    needs!(alone);
    let dir = scratch();
    let program = compile_c(dir.path(), "filtered", PROGRAM);
    run(crate::common::tool("strip").arg(&program)).ok();
    for file in &recorded_of(dir.path(), &program) {
        for filter in [
            &["-U"][..],
            &["--hide-unresolved", "-c", "copier,none"],
            &["-U", "-c", "copier,none", "--percentage", "relative"],
            &["-U", "-d", "libc.so.6,none"],
        ] {
            let named = compare(file, filter);
            assert!(
                named.iter().any(|(_, cells)| cells.contains("memmove")),
                "{named:?}"
            );
            assert!(
                !named.iter().any(|(_, cells)| cells.contains("0x")),
                "{named:?}"
            );
        }
        let trees = ["report", "--no-children", "-U", "-g", "callee", "-i"];
        let tree = run(rprof(trees).arg(file)).ok().stdout;
        assert!(
            !tree.contains("[unknown]") && !tree.contains("filtered+0x"),
            "{tree}"
        );
        let lines = run(rprof(["script", "-U", "-i"]).arg(file)).ok().stdout;
        assert!(
            lines.contains("memmove") && !lines.contains("[unknown]"),
            "{lines}"
        );
    }
}

#[test]
fn the_heading_counts_what_perfs_counts() {
    needs!(perf, cc, alone);
    let dir = scratch();
    for file in &recorded(dir.path()) {
        for filter in [
            &["--comms", "child,copier"][..],
            &["--comms", "child,copier", "--percentage", "relative"],
            &["-S", "leaf_a,leaf_b", "--percentage", "relative"],
            &["--time", "10%/2"],
            &["--time", "10%/2,10%/4", "--percentage", "relative"],
        ] {
            let counted = |table: &str| {
                let slices = table.lines().find(|line| line.starts_with("# Samples: "));
                let slices = slices.and_then(|line| line.split_once(" of event "));
                (
                    number_after(table, "# Event count (approx.): "),
                    slices.map(|(_, event)| event.to_owned()),
                )
            };
            let (theirs, ours) = (perf(file, filter), ours(file, filter));
            assert_eq!(counted(&ours), counted(&theirs), "{filter:?}");
            let shown = number_before(&ours, " samples, event count ");
            let is_absolute = filter.len() == 2 && filter[0] == "--comms";
            assert!(shown.is_some() || !is_absolute, "{ours}");
        }
    }
}

#[test]
fn filters_leave_of_recordings_of_others_what_perfs_leave() {
    let Some(corpus) = corpus() else {
        return;
    };
    needs!(perf);
    for (name, filters) in [
        (
            "quipper/perf.data.remmap-3.2",
            &[
                &["--pid", "5645"][..],
                &["--tid", "5644"],
                &["--dsos", "libfoo.so,ld-2.15.so"],
                &["--comms", "perf,mmap_perf_test", "--dsos", "libfoo.so,none"],
            ][..],
        ),
        (
            "quipper/perf.data.singleprocess-3.8",
            &[&["--comms", "perf,none"], &["--pid", "14170"]],
        ),
        (
            "quipper/perf.data.ctx_switch_namespaces-4.14",
            &[&["--comms", "sleep,none"], &["--pid", "5969"]],
        ),
        (
            "simpleperf/two_process_perf.data",
            &[
                &["--pid", "27411"],
                &["--tid", "27413", "--dsos", "etm_test_loop,libc.so"],
                &["--dsos", "linker64,libc.so"],
            ],
        ),
    ] {
        let file = corpus.join(name);
        for filter in filters {
            for percentage in ["absolute", "relative"] {
                let filter = [filter, &["--percentage", percentage][..]].concat();
                // perf counts whole rows, by their first sample: keys tell apart what the filter does.
                let is_of_ids = matches!(filter[0], "--pid" | "--tid");
                let keys = |ids| if is_of_ids { ids } else { "comm,dso" };
                let theirs = perf(&file, &[&filter[..], &["-s", keys("pid,dso")]].concat());
                let ours = ours(&file, &[&filter[..], &["-s", keys("tid,dso")]].concat());
                assert!(!rows(&ours).is_empty(), "{name} {filter:?}");
                // Threads have their names beside them.
                let cells = |(percent, cells): Row| {
                    let (first, others) = cells.split_once(' ').unwrap_or((&cells, ""));
                    let id = first.split(':').next().unwrap_or(first);
                    let first = if is_of_ids { id } else { first };
                    (percent, first.to_owned(), others.to_owned())
                };
                let rows = |table: &str| rows(table).into_iter().map(cells).collect::<Vec<_>>();
                assert_eq!(rows(&ours), rows(&theirs), "{name} {filter:?}");
            }
        }
    }
}
