//! `crates/JSON.md` names the schema and the version that each command prints.

use crate::common::{fixtures, needs, rprof, run, scratch};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// Commands that read a recording.
const OF_RECORDINGS: [&[&str]; 6] = [
    &["report", "--format", "json"],
    &["script", "--json"],
    &["export", "--format", "json"],
    &["dump", "--json"],
    &["info", "--json"],
    &["symbols", "--json"],
];

/// The schema and version of what is printed; in JSON lines, of the first one.
fn schema(printed: &str) -> (String, u64) {
    let mut values = serde_json::Deserializer::from_str(printed).into_iter::<Value>();
    let first = values.next().unwrap().unwrap();
    let schema = first["schema"].as_str().unwrap().to_owned();
    (schema, first["version"].as_u64().unwrap())
}

/// Rows of the page: `| command | schema | version |`.
fn on_page() -> BTreeMap<String, u64> {
    let page = std::fs::read_to_string(fixtures().join("../crates/JSON.md")).unwrap();
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.split('|').skip(2).map(str::trim);
        let schema = cells.next()?.trim_matches('`').to_owned();
        Some((schema, cells.next()?.parse().ok()?))
    });
    rows.collect()
}

/// Of what needs context switches, which no fixture has.
fn of_switches() -> Option<(String, u64)> {
    needs!(live);
    let dir = scratch();
    let file = dir.path().join("perf.data");
    let record = ["record", "-q", "--switch-events", "-e", "cpu-clock", "-o"];
    run(rprof(record).arg(&file).args(["--", "true"])).ok();
    Some(schema(
        &run(rprof(["critical", "--json"]).arg(&file)).ok().stdout,
    ))
}

#[test]
fn versions_on_the_page_are_those_that_are_printed() {
    let recording = fixtures().join("spin/perf.data");
    let mut printed = BTreeMap::new();
    let mut add = |command: &mut Command| printed.extend([schema(&run(command).stdout)]);
    for words in OF_RECORDINGS {
        add(rprof(words).arg("-i").arg(&recording));
    }
    let root = fixtures().join("spin/root");
    let annotate = ["annotate", "--format", "json", "hot", "-i"];
    add(rprof(annotate).arg(&recording).arg("--symfs").arg(root));
    let diff = ["diff", "--format", "json"];
    add(rprof(diff).args([&recording, &recording]));
    add(rprof(diff).arg("--each").args([&recording, &recording]));
    add(&mut rprof(["list", "--json", "sw"]));
    add(&mut rprof(["doctor", "--json"]));
    let mut on_page = on_page();
    match of_switches() {
        Some(critical) => printed.extend([critical]),
        None => drop(on_page.remove("rprof-critical")),
    }
    assert_eq!(printed, on_page);
}
