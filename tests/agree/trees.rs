//! The stacks below a row: each way to write them is perf's, to the character.

use super::{common, perf, recordings};
use common::{fixtures, needs, rprof, run};
use std::collections::BTreeMap;

/// What is written below each row, by the row. perf pads lines; it takes a byte that it never set for whether `[...]`
/// was inlined.
fn trees(report: &str) -> BTreeMap<String, Vec<String>> {
    let report = report.replace("[...] (inlined)", "[...]");
    let mut trees: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut row = None;
    for line in report.lines().map(str::trim_end) {
        let has_margin = line.starts_with("            ");
        let is_row = !has_margin && line.starts_with("  ") && line.contains("%  ");
        if is_row {
            row = Some(line.split_whitespace().collect::<Vec<_>>().join(" "));
            trees.insert(row.clone().unwrap(), Vec::new());
        } else if line.starts_with('#') {
            row = None;
        } else if let Some(row) = &row {
            trees.get_mut(row).unwrap().push(line.to_owned());
        }
    }
    // Of branches of one weight, each tool has an order of its own.
    for lines in trees.values_mut() {
        *lines = lines.iter().map(|line| line.replace('|', " ")).collect();
        lines.retain(|line| !line.trim().is_empty());
        lines.sort_unstable();
    }
    trees
}

/// Addresses without a name are one line here, and each its own in perf's. Where an interrupt broke into a program
/// is no return address, but looks like one.
fn is_comparable(tree: &[String]) -> bool {
    let is_other = |line: &String| {
        let others = ["0x", "[unknown]", "[truncated]", "asm_", "_dl_", "@plt"];
        others.iter().any(|other| line.contains(other))
    };
    !tree.iter().any(is_other)
}

/// Trees of two reports.
pub(crate) struct Compared {
    pub(crate) n_same: usize,
    /// Each that is not the same: its row, our lines and perf's.
    pub(crate) wrong: Vec<(String, Vec<String>, Vec<String>)>,
}

/// Compares all trees of two reports that can be.
pub(crate) fn compared(ours: &str, theirs: &str) -> Compared {
    let (mut ours, theirs) = (trees(ours), trees(theirs));
    let mut compared = Compared {
        n_same: 0,
        wrong: Vec::new(),
    };
    for (row, tree) in theirs {
        let Some(own) = ours.remove(&row) else {
            continue;
        };
        match is_comparable(&tree) && is_comparable(&own) {
            true if own == tree => compared.n_same += 1,
            true => compared.wrong.push((row, own, tree)),
            false => {}
        }
    }
    compared
}

/// Compares all trees of two reports; returns how many were the same.
#[track_caller]
pub(crate) fn compare(ours: &str, theirs: &str, what: &str) -> usize {
    let compared = compared(ours, theirs);
    if let Some((row, own, tree)) = compared.wrong.first() {
        assert_eq!(own, tree, "{what}: {row}");
    }
    compared.n_same
}

/// Every print type, with thresholds and values.
const WORDS: &[&str] = &[
    "graph",
    "graph,count,0.2",
    "fractal",
    "fractal,0.5,0,period",
    "flat",
    "folded",
    "folded,5,0,count",
    "none",
];

/// With limits. Which of two branches of one weight is within one is arbitrary, so recordings by chance are not
/// compared by these.
const LIMITED: &[&str] = &[
    "graph,2,1",
    "fractal,1,2",
    "fractal,3,1,count",
    "flat,5,1",
    "folded,5,1",
];

/// Each of the words, from callers and callees, counted both ways.
pub(super) fn ways(words: &[&'static str]) -> impl Iterator<Item = [String; 3]> {
    let orders = ["caller", "callee"].into_iter();
    let ways = orders.flat_map(|order| ["--children", "--no-children"].map(|count| (order, count)));
    ways.flat_map(|(order, count)| {
        let way = move |words| {
            [
                "-g".to_owned(),
                format!("{order},{words}"),
                count.to_owned(),
            ]
        };
        words.iter().copied().map(way).collect::<Vec<_>>()
    })
}

#[test]
fn trees_are_perfs_in_every_way_they_are_written() {
    let Some(recorded) = recordings() else {
        return;
    };
    let [_, theirs] = &recorded.files;
    for way in ways(WORDS) {
        let words: Vec<&str> = way.iter().map(String::as_str).collect();
        let read = [&["report", "--stdio", "--no-inline"], &words[..]].concat();
        let expected = perf(&read, theirs).stdout;
        let ours = run(rprof(&read).arg("--no-fde").arg("-i").arg(theirs)).ok();
        let n_same = compare(&ours.stdout, &expected, &way.join(" "));
        assert!(n_same >= 2, "{way:?}: {expected}");
    }
}

#[test]
fn trees_of_a_fixture_are_perfs_in_every_way() {
    needs!(perf);
    let dir = fixtures().join("spin");
    for way in ways(&[WORDS, LIMITED].concat()) {
        let words: Vec<&str> = way.iter().map(String::as_str).collect();
        let read = [&["report", "--stdio", "--no-inline"], &words[..]].concat();
        let file = dir.join("perf.data");
        let root = dir.join("root");
        let expected = run(common::perf(&read)
            .arg("-i")
            .arg(&file)
            .arg("--symfs")
            .arg(&root))
        .ok();
        let ours = run(rprof(&read).arg("-i").arg(&file).arg("--symfs").arg(&root)).ok();
        // The one frame without a name is outermost, and always the same.
        let theirs = expected
            .stdout
            .replace("0x1\n", "[unknown]\n")
            .replace("0x1;", "[unknown];");
        let theirs = theirs.replace("[unknown]", "UNNAMED");
        let ours = ours.stdout.replace("[unknown]", "UNNAMED");
        let n_same = compare(&ours, &theirs, &way.join(" "));
        assert!(n_same >= 2, "{way:?}: {theirs}");
    }
}

#[test]
fn ignored_callees_count_for_their_caller() {
    needs!(perf);
    let dir = fixtures().join("spin");
    let (file, root) = (dir.join("perf.data"), dir.join("root"));
    for (names, n_rows) in [("^work$", 1), ("^(work|hot)$", 1), ("^hot$", 2)] {
        let read = ["report", "--stdio", "--no-inline", "--no-children"];
        let read = [&read[..], &["-g", "callee", "--ignore-callees", names]].concat();
        let read_of = |mut tool: std::process::Command| {
            let read = tool.arg("-i").arg(&file).arg("--symfs").arg(&root);
            trees(&run(read).ok().stdout.replace("0x1\n", "[unknown]\n"))
        };
        let (ours, theirs) = (read_of(rprof(&read)), read_of(common::perf(&read)));
        assert_eq!(ours, theirs, "{names}");
        assert_eq!(ours.len(), n_rows, "{names}");
    }
}
