//! Recordings made by others are read as their makers say: what quipper, perf and simpleperf know
//! of a file is what rprof says of it. The files are not part of the project: `RPROF_CORPUS` is
//! the folder that holds them, and without it nothing here runs.

mod attrs;
mod features;
mod makers;
mod pb_text;
mod perf;
mod perf_header;
mod records;

use crate::common::{corpus, rprof, run};
use pb_text::Message;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// quipper's recordings, each with the text that says what is in it. `.pr.out` is what quipper's
/// reader found, in the file's order; of the others its parser has sorted the records by time.
const QUIPPER: [(&str, &str); 8] = [
    ("perf.data.branch-4.14", ".pb_text"),
    ("perf.data.ctx_switch_namespaces-4.14", ".pb_text"),
    ("perf.data.group_desc-4.14", ".pb_text"),
    ("perf.data.hybrid_topology", ".pb_text"),
    ("perf.data.piped.header_features-4.16", PIPED),
    ("perf.data.piped.lost_samples-4.4", PIPED),
    ("perf.data.remmap-3.2", ".pb_text"),
    ("perf.data.singleprocess-3.8", ".pb_text"),
];

/// Ending of a text whose records are in the file's order.
const PIPED: &str = ".pr.out.pb_text";

/// What quipper says of a file, and what `info` says, for every file of quipper's.
fn each_of_quipper(mut compare: impl FnMut(&Message, &Value, &Path)) {
    let Some(corpus) = corpus() else {
        return;
    };
    for (name, ending) in QUIPPER {
        println!("{name}");
        let file = corpus.join("quipper").join(name);
        let theirs = pb_text::read(&file.with_file_name(format!("{name}{ending}")));
        compare(&theirs, &info(&file), &file);
    }
}

/// Every recording of the corpus that is whole.
fn recordings(corpus: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = QUIPPER
        .iter()
        .map(|(name, _)| corpus.join("quipper").join(name))
        .collect();
    for folder in ["autofdo", "big-endian", "linux-perf-data", "simpleperf"] {
        let files = std::fs::read_dir(corpus.join(folder)).unwrap();
        all.extend(files.map(|file| file.unwrap().path()));
    }
    all.sort();
    all
}

/// `rprof dump --json`: a head, then the records.
#[track_caller]
fn dump(file: &Path) -> Vec<Value> {
    let text = run(rprof(["dump", "--json", "-i"]).arg(file)).ok().stdout;
    let parse = |line| serde_json::from_str(line).unwrap();
    text.lines().map(parse).collect()
}

/// `rprof info --json`.
#[track_caller]
fn info(file: &Path) -> Value {
    let text = run(rprof(["info", "--json", "-i"]).arg(file)).ok().stdout;
    serde_json::from_str(&text).unwrap()
}

/// A number, written as one or as text in hexadecimal; `None` if it is anything else.
fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => u64::from_str_radix(text.strip_prefix("0x")?, 16).ok(),
        _ => None,
    }
}

/// How many records of each kind `info` counted.
fn kinds(info: &Value) -> Vec<(String, u64)> {
    let kinds = info["records"]["kinds"].as_array().unwrap();
    let mut kinds: Vec<(String, u64)> = kinds
        .iter()
        .map(|kind| (text(&kind["kind"]), kind["count"].as_u64().unwrap()))
        .collect();
    kinds.sort();
    kinds
}

/// Names of the events and how many samples each has.
fn events(info: &Value) -> Vec<(String, u64)> {
    let events = info["events"].as_array().unwrap();
    let event = |event: &Value| (text(&event["name"]), event["samples"].as_u64().unwrap());
    events.iter().map(event).collect()
}

#[track_caller]
fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// A list, empty where there is none.
fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// A list of texts.
fn texts(value: &Value, name: &str) -> Vec<String> {
    list(value, name).iter().map(text).collect()
}

/// Names of the bits that are set.
fn names(bits: u64, all: &[&str]) -> Vec<String> {
    let known = all.iter().enumerate();
    let set = known.filter(|(bit, _)| bits >> bit & 1 != 0);
    let names: Vec<String> = set.map(|(_, name)| (*name).to_owned()).collect();
    assert_eq!(names.len(), bits.count_ones() as usize, "{bits:#x}");
    names
}
