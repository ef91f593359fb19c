//! `--cpu-percent`: what the recorder gives up to take less itself.

use crate::common::{Ran, needs, rprof, run, samples, scratch, work::burn};
use serde_json::Value;
use std::path::Path;

/// Records two seconds of work, very often.
fn record(dir: &Path, args: &[&str]) -> Ran {
    let mut record = rprof(["record", "-e", "cpu-clock", "-F", "20000"]);
    record
        .args(args)
        .args(["sh", "-c", &burn(200)])
        .current_dir(dir);
    run(&mut record).ok()
}

fn info(dir: &Path) -> Value {
    let info = run(rprof(["info", "--json"]).current_dir(dir)).ok();
    serde_json::from_str(&info.stdout).unwrap()
}

#[test]
fn a_tiny_budget_costs_stacks_and_is_said() {
    needs!(live);
    let dir = scratch();
    let ran = record(dir.path(), &["--cpu-percent", "1"]);
    let lines = ran.stderr.lines();
    let said = lines.filter(|line| line.contains("to stay within --cpu-percent 1: "));
    assert_eq!(said.count(), 1, "{ran:?}");
    assert!(ran.stderr.contains("small stack dumps after"), "{ran:?}");
    let info = info(dir.path());
    let budget = &info["features"]["cpu_budget"];
    assert_eq!(budget["percent"], 1, "{info}");
    assert!(budget["small_dumps_after_ns"].as_u64() > Some(0), "{info}");
    // Each stack is accounted for: as complete, or with why it is not.
    let ends = &info["features"]["stack_ends"];
    let reasons = ends["reasons"].as_array().unwrap().iter();
    let others: u64 = reasons
        .map(|reason| reason["stacks"].as_u64().unwrap())
        .sum();
    let all = ends["complete"].as_u64().unwrap() + others;
    assert!(
        samples(&ran.stderr) > 0 && all <= samples(&ran.stderr),
        "{info}"
    );
}

#[test]
fn a_budget_that_is_enough_costs_nothing() {
    needs!(alone);
    let dir = scratch();
    let ran = record(dir.path(), &["--cpu-percent", "100000"]);
    assert!(!ran.stderr.contains("--cpu-percent"), "{ran:?}");
    let info = info(dir.path());
    let budget = &info["features"]["cpu_budget"];
    assert_eq!(budget["small_dumps_after_ns"], 0, "{info}");
    assert_eq!(budget["hz"], 20000, "{info}");
    let error = run(&mut rprof(["record", "--cpu-percent", "0", "true"])).fails(2);
    assert!(error.contains("--cpu-percent"), "{error}");
}
