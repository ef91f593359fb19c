//! Callgrind's format, and `callgrind_annotate`.

use crate::common::{Recording, needs, run, scratch, tool};
use std::collections::BTreeMap;
use std::path::Path;

/// Costs of one function, of the first event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Costs {
    own: u64,
    /// Of all calls of it.
    called: u64,
}

/// The sum of each event's costs in a file.
#[track_caller]
pub(crate) fn sums(path: &Path) -> Vec<u64> {
    read(path).1
}

/// What functions cost themselves, as far as they do.
#[track_caller]
pub(crate) fn own(path: &Path) -> BTreeMap<String, u64> {
    let costs = read(path).0.into_iter();
    let own = costs.map(|(name, costs)| (name, costs.own));
    own.filter(|(_, own)| *own > 0).collect()
}

/// The costs of functions, and the sums.
#[track_caller]
fn read(path: &Path) -> (BTreeMap<String, Costs>, Vec<u64>) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.starts_with("# callgrind format\n"));
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut costs: BTreeMap<String, Costs> = BTreeMap::new();
    let (mut function, mut callee) = (String::new(), None);
    let (mut sums, mut summary): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let mut named = |value: &str| -> String {
            let (number, name) = value.split_once(' ').unwrap_or((value, ""));
            match name {
                "" => names[number].clone(),
                name => names
                    .entry(number.to_owned())
                    .or_insert(name.to_owned())
                    .clone(),
            }
        };
        if let Some(value) = line.strip_prefix("fn=") {
            function = named(value);
        } else if let Some(value) = line.strip_prefix("cfn=") {
            callee = Some(named(value));
        } else if let Some(value) = line.strip_prefix("summary: ") {
            summary = value.split(' ').map(|one| one.parse().unwrap()).collect();
            sums = vec![0; summary.len()];
        } else if line.starts_with(|first: char| first.is_ascii_digit()) {
            let all: Vec<u64> = line.split(' ').map(|one| one.parse().unwrap()).collect();
            let (_line, weights) = all.split_first().unwrap();
            assert_eq!(weights.len(), summary.len(), "{line}");
            if let Some(callee) = callee.take() {
                costs.entry(callee).or_default().called += weights[0];
            } else {
                costs.entry(function.clone()).or_default().own += weights[0];
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum += weight;
                }
            }
        }
    }
    assert_eq!(sums, summary);
    (costs, sums)
}

#[test]
fn what_calls_of_a_function_cost_is_what_the_report_says_of_it() {
    let dir = scratch();
    for (fixture, functions) in [
        ("spin", &["_start", "work", "hot", "cold"][..]),
        // `down` calls itself.
        ("dwarf", &["_start", "begin", "down", "aligned", "leaf"]),
    ] {
        let recording = Recording::fixture(fixture);
        let file = recording.export(dir.path(), "work.callgrind", &[]);
        let (costs, sums) = read(&file);
        let options = ["-g", "none", "--no-inline", "--sort", "sym"];
        let table = recording.run("report", &options).stdout;
        for function in functions {
            let row = table
                .lines()
                .find(|row| row.ends_with(&format!("] {function}")));
            let row = row.unwrap_or_else(|| panic!("no {function} in\n{table}"));
            let share = row.split_whitespace().next().unwrap();
            let called = costs[*function].called;
            #[expect(clippy::cast_precision_loss, reason = "as it is shown")]
            let ours = called as f64 * 100.0 / sums[0] as f64;
            assert_eq!(format!("{ours:.2}%"), share, "{function}");
        }
        assert_eq!(costs.values().map(|one| one.own).sum::<u64>(), sums[0]);
    }
}

#[test]
fn callgrind_annotate_sees_the_reports_total() {
    needs!(wide, "callgrind_annotate" in "valgrind");
    let dir = scratch();
    let recording = Recording::fixture("spin");
    let file = recording.export(dir.path(), "work.callgrind", &[]);
    let read = run(tool("callgrind_annotate").arg("--inclusive=yes").arg(&file)).ok();
    let total = read
        .stdout
        .lines()
        .find(|line| line.ends_with("PROGRAM TOTALS"));
    let total = total.unwrap().split(' ').next().unwrap().replace(',', "");
    assert_eq!(total, recording.totals()[0].2.to_string());
    assert!(read.stdout.contains(":work ["), "{}", read.stdout);
}
