//! Levels of rows (`--hierarchy`) are perf's, and so are the trees below the innermost.

use super::{common, perf, recordings, trees};
use common::{fixtures, rprof, run};
use std::path::Path;

/// Each line with those that it is below. How far right percentages end says how deep they are.
fn levels(report: &str) -> Vec<String> {
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut all = Vec::new();
    for line in report.lines() {
        let Some(at) = line.find('%').filter(|_| !line.starts_with('#')) else {
            continue;
        };
        above.retain(|(outer, _)| *outer < at);
        above.push((at, line.split_whitespace().collect::<Vec<_>>().join(" ")));
        let path: Vec<&str> = above.iter().map(|(_, cells)| cells.as_str()).collect();
        all.push(path.join(" / "));
    }
    // Of one weight, each tool has an order of its own.
    all.sort();
    all
}

/// Both tools' reports.
fn both(file: &Path, args: &[&str]) -> (String, String) {
    let read = [&["report", "--stdio", "--no-inline", "--hierarchy"], args].concat();
    let ours = run(rprof(&read).arg("--no-fde").arg("-i").arg(file)).ok();
    (ours.stdout, perf(&read, file).stdout)
}

#[test]
fn levels_are_those_of_perf() {
    let Some(recorded) = recordings() else {
        return;
    };
    for file in &recorded.files {
        for args in [
            &["--percent-limit", "1"][..],
            &["--percent-limit", "5", "-n"],
            &["--percent-limit", "70"],
            &["--percent-limit", "100"],
            &["-s", "dso,comm,sym", "--percent-limit", "1"],
            &["-s", "pid,dso", "-n", "--show-total-period"],
            &["-s", "dso", "--show-cpu-utilization"],
            &["-s", "comm,sym", "-p", "leaf_b", "--percent-limit", "1"],
            &["-s", "comm,dso,sym"],
        ] {
            let args = [&["-g", "none"], args].concat();
            let (ours, theirs) = both(file, &args);
            assert_eq!(levels(&ours), levels(&theirs), "{args:?}");
            let headings = |report: &str| {
                let dots = report.lines().position(|line| line.starts_with("# .."));
                let heading = report.lines().nth(dots.unwrap() - 1);
                heading.unwrap().to_owned()
            };
            assert_eq!(headings(&ours), headings(&theirs), "{args:?}");
        }
    }
}

#[test]
fn trees_below_levels_are_those_of_perf() {
    let Some(recorded) = recordings() else {
        return;
    };
    let [_, file] = &recorded.files;
    for words in ["caller", "callee", "fractal,1", "folded"] {
        let (ours, theirs) = both(file, &["-g", words]);
        let n_same = trees::compare(&ours, &theirs, words);
        assert!(n_same >= 2, "{words}: {theirs}");
    }
}

#[test]
fn headings_may_be_wider_than_all_rows() {
    let dir = fixtures().join("spin");
    let keys = "comm,pid,comm_nodigit,addr,symbol_iaddr,dso,sym";
    let mut report = rprof(["report", "--hierarchy", "-g", "none", "-s", keys, "--symfs"]);
    report.arg(dir.join("root"));
    let ran = run(report.arg("-i").arg(dir.join("perf.data"))).ok();
    let mut lines = ran.stdout.lines();
    let heading = lines.find(|line| line.contains("Shared Object / Symbol"));
    let dots = lines.next();
    assert_eq!(heading.map(str::len), dots.map(str::len), "{}", ran.stdout);
}
