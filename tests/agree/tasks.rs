//! Tasks, what they had mapped, and how many records there are: perf's lines.

use crate::agree::{perf, recordings};
use crate::common::{needs, perf as perf_tool, rprof, run, scratch};
use std::path::Path;

/// Lines in an order of their own: perf's is that of its hash table. Without inodes where mappings have build ids
/// instead: perf shows those as if they were inodes.
fn lines(text: &str, shows_inodes: bool) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.is_empty());
    let line = |line: &str| match line.trim_start().splitn(5, ' ').collect::<Vec<_>>()[..] {
        [span, access, offset, _, name] if span.contains('-') && !shows_inodes => {
            [span, access, offset, name].join(" ")
        }
        _ => line.to_owned(),
    };
    let mut lines: Vec<String> = lines.map(line).collect();
    lines.sort_unstable();
    lines
}

#[track_caller]
fn same(flag: &str, file: &Path, shows_inodes: bool) -> usize {
    let theirs = perf(&["report", flag], file).stdout;
    let ours = run(rprof(["report", flag, "-i"]).arg(file)).ok().stdout;
    let ours = lines(&ours, shows_inodes);
    assert_eq!(
        ours,
        lines(&theirs, shows_inodes),
        "{flag} {}",
        file.display()
    );
    ours.len()
}

#[test]
fn tasks_and_what_they_had_mapped_are_perfs_for_files_of_both() {
    let Some(recorded) = recordings() else {
        return;
    };
    for (file, shows_inodes) in recorded.files.iter().zip([false, true]) {
        let n_tasks = same("--tasks", file, shows_inodes);
        assert!(n_tasks >= 3);
        assert!(same("--mmaps", file, shows_inodes) > n_tasks);
    }
}

#[test]
fn a_shells_processes_stand_below_it_as_in_perf() {
    needs!(perf, alone);
    let dir = scratch();
    let file = dir.path().join("perf.data");
    let shell = "sh -c 'ls / >/dev/null; (ls /; true) >/dev/null'; true";
    let mut record = perf_tool(["record", "-q", "-e", "cpu-clock", "-o"]);
    run(record.arg(&file).args(["--", "sh", "-c", shell])).ok();
    same("--tasks", &file, true);
    let tree = run(rprof(["report", "--tasks", "-i"]).arg(&file))
        .ok()
        .stdout;
    for line in ["|sh", "| sh", "|  ls", "|   ls"] {
        assert!(
            tree.lines().any(|one| one.ends_with(line)),
            "{line}: {tree}"
        );
    }
    // What the shell had mapped is not what `ls` has: perf goes on showing it.
    let maps = run(rprof(["report", "--mmaps", "-i"]).arg(&file))
        .ok()
        .stdout;
    let of_ls = maps.split("|   ls\n").nth(1).unwrap();
    let of_ls = of_ls.split(" |").next().unwrap();
    assert!(
        of_ls.contains("/ls\n") && !of_ls.contains("/dash\n"),
        "{maps}"
    );
}

#[test]
fn records_are_counted_as_by_perf() {
    let Some(recorded) = recordings() else {
        return;
    };
    for file in &recorded.files {
        let theirs = perf(&["report", "--stats"], file).stdout;
        let ours = run(rprof(["report", "--stats", "-i"]).arg(file))
            .ok()
            .stdout;
        let counts = |text: &str| {
            let at = text.find("Aggregated stats:").expect(text);
            text[at..].to_owned()
        };
        assert_eq!(counts(&ours), counts(&theirs), "{}", file.display());
    }
}
