//! What is opened is what perf opens with the same flags, but for what is rprof's own.

use crate::common::attr_dump::{Dumped, first_tries};
use crate::common::{Recording, needs, scratch};
use crate::fields::{both, info, ours, perfs};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// Fields that our samples always have.
const OUR_FIELDS: &[&str] = &["IDENTIFIER", "CPU", "PERIOD"];

/// What perf's own event has, and in our recordings the dummy that carries sideband.
const OF_SIDEBAND: &[&str] = &[
    "mmap",
    "mmap2",
    "mmap_data",
    "comm",
    "comm_exec",
    "task",
    "ksymbol",
    "namespaces",
    "cgroup",
    "context_switch",
];

/// Our times are always of one clock, and our events are enabled for a command in the same way.
const OUR_FLAGS: &[&str] = &["use_clockid"];

fn set<'a>(attr: &'a Value, field: &str) -> BTreeSet<&'a str> {
    let names = attr[field].as_array().into_iter().flatten();
    names.map(|name| name.as_str().unwrap()).collect()
}

fn without<'a>(all: BTreeSet<&'a str>, out: &[&str]) -> BTreeSet<&'a str> {
    all.into_iter().filter(|name| !out.contains(name)).collect()
}

#[track_caller]
fn assert_same(ours: &Value, perfs: &Value, flags: &str) {
    let (event, sideband) = (&ours["events"][0]["attr"], &ours["events"][1]["attr"]);
    let perfs = &perfs["events"][0]["attr"];
    let plain = |attr, field| without(set(attr, field), OUR_FIELDS);
    assert_eq!(
        plain(event, "sample_type"),
        plain(perfs, "sample_type"),
        "{flags}"
    );
    assert_eq!(
        set(event, "read_format"),
        set(perfs, "read_format"),
        "{flags}"
    );
    let own = |attr| without(without(set(attr, "flags"), OF_SIDEBAND), OUR_FLAGS);
    assert_eq!(own(event), own(perfs), "{flags}");
    let theirs = set(perfs, "flags");
    let of_sideband = set(sideband, "flags");
    for name in OF_SIDEBAND {
        assert_eq!(
            of_sideband.contains(name),
            theirs.contains(name),
            "{flags}: {name}"
        );
    }
    for field in [
        "type",
        "config",
        "sample_period",
        "sample_freq",
        "sample_regs_user",
        "sample_regs_intr",
        "branch_sample_type",
        "bp_type",
        "precise_ip",
    ] {
        assert_eq!(event[field], perfs[field], "{flags}: {field}");
    }
}

/// Attrs as `-vv` dumps them, in the form of `rprof info`.
fn dumped(recording: &Recording) -> Value {
    let event = |attr: Dumped| {
        let mut event = Map::new();
        let mut flags = Vec::new();
        for (name, value) in attr {
            let is_bits =
                ["sample_type", "read_format", "branch_sample_type"].contains(&name.as_str());
            let value: Value = match value.parse::<u64>() {
                // perf 6.1 dumps no word for it.
                _ if is_bits => value
                    .split('|')
                    .filter(|name| *name != "TRANSACTION")
                    .collect(),
                Ok(1) if !NUMBERS.contains(&name.as_str()) => {
                    flags.push(name);
                    continue;
                }
                Ok(number) => number.into(),
                Err(_) => value.into(),
            };
            let name = match name.as_str() {
                "{ sample_period, sample_freq }" => "sample_period",
                name => name,
            };
            event.insert(name.to_owned(), value);
        }
        event.insert("flags".to_owned(), flags.into());
        json!({ "attr": event })
    };
    let attrs = first_tries(&recording.stderr);
    json!({ "events": attrs.into_iter().map(event).collect::<Vec<_>>() })
}

/// Fields that may be 1 without being flags.
const NUMBERS: &[&str] = &[
    "type",
    "{ sample_period, sample_freq }",
    "{ wakeup_events, wakeup_watermark }",
    "bp_type",
    "precise_ip",
    "sample_max_stack",
    "clockid",
];

/// Both recordings with the same flags, by what the files say and by what `-vv` says.
#[track_caller]
fn assert_both_same(dir: &Path, flags: &str, event: &str, of_ours: &[&str]) {
    let mut words: Vec<&str> = flags.split(' ').collect();
    words.extend(["-vv", "-e", event]);
    let theirs = perfs(dir, &words, &["true"]);
    words.extend(of_ours);
    let own = ours(dir, &words, &["true"]);
    assert_same(&info(&own), &info(&theirs), flags);
    assert_same(&dumped(&own), &dumped(&theirs), &format!("-vv {flags}"));
}

#[test]
fn each_flag_asks_the_kernel_for_what_perf_asks() {
    let Some(_live) = both() else {
        return;
    };
    let dir = scratch();
    for flags in [
        "-c 1",
        "-c 1 -d",
        "-c 1 -W",
        "-c 1 -R",
        "-c 3 -P",
        "-c 1 -T",
        "-c 1 -s",
        "-c 1 --data-page-size --code-page-size",
        "-c 1 --phys-data",
        "-c 1 --transaction",
        "-c 1 --running-time",
        "-c 1 --intr-regs",
        "-c 1 --intr-regs=ip,sp --user-regs=ax",
        "-c 1 --user-regs",
        "-F 100 -n",
        "-F 100 -d -W -s --intr-regs",
        "-c 1 --switch-events",
        "-c 1 --all-cgroups",
        "-c 1 --all-user",
    ] {
        assert_both_same(
            dir.path(),
            flags,
            "page-faults:u",
            &["--call-graph", "none"],
        );
    }
    needs!(kernel);
    for flags in [
        "-c 1 --namespaces",
        "-c 1 --all-kernel",
        "-c 1 --namespaces --all-cgroups --switch-events -d",
        "-c 1 --call-graph fp",
        "-c 1 --call-graph fp --kernel-callchains",
        "-c 1 --call-graph fp --user-callchains",
    ] {
        let of_ours: &[&str] = if flags.contains("--call-graph") {
            &[]
        } else {
            &["--call-graph", "none"]
        };
        assert_both_same(dir.path(), flags, "page-faults", of_ours);
    }
}

#[test]
fn latencies_are_in_the_samples_of_the_event_that_wants_them() {
    needs!(live);
    let dir = scratch();
    let flags = ["-e", "page-faults:uR,minor-faults:u", "-c", "1"];
    let recording = ours(dir.path(), &flags, &["true"]);
    let info = info(&recording);
    let has =
        |nth: usize| set(&info["events"][nth]["attr"], "sample_type").contains("WEIGHT_STRUCT");
    assert_eq!([has(0), has(1)], [true, false], "{info}");
    let samples = recording.read("script", &["-F", "event,retire_lat"]);
    assert!(samples.contains("page-faults:uR"), "{samples}");
}
