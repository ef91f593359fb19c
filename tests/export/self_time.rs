//! Self time of code that was inlined: the same in every view.

use crate::common::{Recording, run, scratch};
use crate::export::callgrind;
use crate::export::recordings::index;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// By name of the function: how many samples are its self time.
type Own = BTreeMap<String, u64>;

/// Functions with self time of the fixture: `helper` was inlined into `hot`.
fn expected(inlined: &str) -> Own {
    let own = [(inlined, 149), ("cold", 63)];
    own.map(|(name, samples)| (name.to_owned(), samples)).into()
}

/// Functions with self time in a table of `rprof report`; where the samples of `hot` and its like are.
fn in_report(args: &[&str]) -> Own {
    let form = ["--format", "json", "-s", "sym", "-F", "+sample"];
    let json = Recording::fixture("spin").read("report", &[&form, args].concat());
    let json: Value = serde_json::from_str(&json).unwrap();
    let rows = json["events"][0]["rows"].as_array().unwrap().iter();
    let own = rows.filter(|row| row["sample"] != 0).map(|row| {
        let name = row["sym"].as_str().unwrap().trim_start_matches("[.] ");
        (name.to_owned(), row["sample"].as_u64().unwrap())
    });
    own.collect()
}

fn in_folded() -> Own {
    let folded = Recording::fixture("spin").read("flame", &["--folded"]);
    let mut own = Own::new();
    for line in folded.lines() {
        let (stack, samples) = line.rsplit_once(' ').unwrap();
        let name = stack.rsplit(';').next().unwrap().to_owned();
        *own.entry(name).or_default() += samples.parse::<u64>().unwrap();
    }
    own
}

fn in_diff(args: &[&str]) -> Own {
    let spin = Recording::fixture("spin");
    let mut diff = crate::common::rprof(["diff", "--format", "json", "-s", "sym", "--symfs"]);
    diff.arg(spin.file.parent().unwrap().join("root"));
    let json = run(diff.args(args).args([&spin.file, &spin.file]))
        .ok()
        .stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    let rows = json["events"][0]["rows"].as_array().unwrap().iter();
    let own = rows.map(|row| {
        let name = row["sym"].as_str().unwrap().trim_start_matches("[.] ");
        (name.to_owned(), row["before"]["samples"].as_u64().unwrap())
    });
    own.filter(|(_, samples)| *samples > 0).collect()
}

fn in_speedscope(dir: &Path) -> Own {
    let file = Recording::fixture("spin").export_json(dir, "spin.speedscope.json", &[]);
    let mut own = Own::new();
    for stack in file["profiles"][0]["samples"].as_array().unwrap() {
        let last = stack.as_array().unwrap().last().unwrap();
        let name = &file["shared"]["frames"][index(last)]["name"];
        *own.entry(name.as_str().unwrap().to_owned()).or_default() += 1;
    }
    own
}

#[test]
fn self_time_of_inlined_code_is_one_in_every_view() {
    let dir = scratch();
    let inlined = expected("helper (inlined)");
    for args in [
        &[][..],
        &["--no-children"],
        &["--no-children", "-g", "none"],
        &["-S", "helper,cold"],
        &["--no-children", "-g", "none", "-S", "helper,cold"],
    ] {
        assert_eq!(in_report(args), inlined, "{args:?}");
    }
    assert_eq!(in_folded(), expected("helper"));
    for args in [&[][..], &["--no-children"]] {
        assert_eq!(in_diff(args), expected("helper"), "{args:?}");
    }
    assert_eq!(in_speedscope(dir.path()), inlined);
    let file = Recording::fixture("spin").export(dir.path(), "spin.callgrind", &[]);
    let own = callgrind::own(&file);
    let weights = [("helper (inlined)", 149_149_149), ("cold", 63_063_063)];
    assert_eq!(
        own,
        weights.map(|(name, own)| (name.to_owned(), own)).into()
    );
}

#[test]
fn of_a_symbol_without_self_time_it_is_said_where_its_samples_are() {
    let ran = Recording::fixture("spin").run("report", &["-S", "hot", "-g", "none"]);
    let said = ran.stderr;
    let why = "all its samples are in functions inlined into it: use --no-inline to count them";
    assert!(
        said.contains("--symbols 'hot' leaves no samples") && said.contains(why),
        "{said}"
    );
}

#[test]
fn self_time_is_of_symbols_where_that_is_asked_for() {
    let by_symbol = expected("hot");
    for args in [
        &["--self-by-symbol"][..],
        &["--self-by-symbol", "--no-children", "-g", "none"],
        &["--self-by-symbol", "-S", "hot,cold"],
        &["--no-inline"],
    ] {
        assert_eq!(in_report(args), by_symbol, "{args:?}");
    }
    for args in [
        &["--self-by-symbol"][..],
        &["--self-by-symbol", "--no-children"],
        &["--no-inline"],
    ] {
        assert_eq!(in_diff(args), by_symbol, "{args:?}");
    }
}
