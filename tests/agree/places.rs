//! Trees whose nodes are lines or addresses (`-g srcline`, `-g address`) are perf's.

use super::{common, perf, recordings, trees};
use common::{rprof, run};

/// Only the program's own lines: of a library's, perf names another file; addresses within functions are those of
/// calls here, and those after them there.
fn without_others(report: &str) -> String {
    let is_place = |word: &str| word.starts_with('+') || word.contains(':');
    let line = |line: &str| match line.rsplit_once(' ') {
        Some((before, place)) if is_place(place) && !place.starts_with("program.c:") => {
            before.to_owned()
        }
        _ => line.to_owned(),
    };
    report.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn nodes_of_lines_and_addresses_are_those_of_perf() {
    let Some(recorded) = recordings() else {
        return;
    };
    let [_, file] = &recorded.files;
    for words in [
        "caller,srcline",
        "callee,srcline",
        "caller,address,0.2",
        "callee,address",
        "fractal,caller,srcline,1",
        "folded,callee,srcline",
        "function",
    ] {
        let read = ["report", "--stdio", "--no-inline", "--no-children"];
        let read = [&read[..], &["-g", words]].concat();
        let ours = run(rprof(&read).arg("--no-fde").arg("-i").arg(file)).ok();
        let ours = without_others(&ours.stdout);
        let theirs = without_others(&perf(&read, file).stdout);
        let n_same = trees::compare(&ours, &theirs, words);
        assert!(n_same >= 2, "{words}: {theirs}");
        let has_lines = ours.contains("leaf_a program.c:");
        assert_eq!(has_lines, words != "function", "{ours}");
    }
}
