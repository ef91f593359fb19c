//! Whom a recording samples, and when: targets, delays, and words on a pipe.

mod cgroups;
mod exact;
mod found;
mod stress;
mod tasks;
mod timing;

use crate::common::{report, rprof, run};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// What a recording says about itself.
#[track_caller]
fn info(file: &Path) -> Value {
    let text = run(rprof(["info", "--json", "-i"]).arg(file)).ok().stdout;
    serde_json::from_str(&text).unwrap()
}

/// The functions of a program that were sampled, of those that are asked for.
#[track_caller]
fn sampled<'n>(file: &Path, names: &[&'n str]) -> Vec<&'n str> {
    let table = report(file, &["-g", "none", "--sort", "sym"]);
    let words: Vec<&str> = table.split_whitespace().collect();
    let names = names.iter().copied();
    names.filter(|name| words.contains(name)).collect()
}

/// The processes that were sampled.
#[track_caller]
fn sampled_processes(file: &Path) -> BTreeSet<u32> {
    let script = run(rprof(["script", "-F", "pid", "-i"]).arg(file))
        .ok()
        .stdout;
    let words = script.split_whitespace();
    words.map(|pid| pid.parse().unwrap()).collect()
}
