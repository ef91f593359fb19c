//! What is told beside samples, and which part of the machine samples are of.

use crate::common::nobody::Nobody;
use crate::common::{Recording, needs, rprof, run, scratch};
use crate::fields::{both, ours, perfs};
use serde_json::Value;

/// The fields of all records of a kind.
fn records(recording: &Recording, kind: &str) -> Vec<Value> {
    let dump = recording.read("dump", &["--json"]);
    let all = dump
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|record| record["kind"] == kind)
        .map(|record| record["fields"].clone())
        .collect()
}

const FAULTS: &[&str] = &["-e", "page-faults:u", "-c", "1"];

#[test]
fn namespaces_are_those_that_perf_records() {
    let Some(_live) = both() else {
        return;
    };
    needs!(root);
    let dir = scratch();
    let flags = [FAULTS, &["--namespaces"]].concat();
    let command = ["unshare", "-u", "true"];
    let of = |recording: &Recording| -> Vec<Value> {
        let mut all = records(recording, "NAMESPACES");
        // Those of new namespaces differ from run to run.
        all.iter_mut().for_each(|one| {
            let mut namespaces = one["namespaces"].take();
            let all = namespaces.as_array_mut().unwrap();
            all.retain(|namespace| namespace["name"] != "uts");
            *one = namespaces;
        });
        all
    };
    let perfs = of(&perfs(dir.path(), &flags, &command));
    assert!(perfs.len() >= 2, "{perfs:?}");
    assert_eq!(of(&ours(dir.path(), &flags, &command)), perfs);
}

#[test]
fn without_rights_namespaces_are_left_out_aloud() {
    let Some(_live) = both() else {
        return;
    };
    let Some(nobody) = Nobody::new() else {
        return;
    };
    let mut record = nobody.rprof(&["record", "--namespaces"]);
    let said = run(record.args(FAULTS).arg("true")).ok().stderr;
    assert!(
        said.contains("not permitted to record namespaces"),
        "{said}"
    );
}

#[test]
fn control_groups_have_the_ids_and_paths_that_perf_gives_them() {
    let Some(_live) = both() else {
        return;
    };
    let dir = scratch();
    let flags = [FAULTS, &["--all-cgroups"]].concat();
    let of = |recording: &Recording| {
        let mut all: Vec<String> = records(recording, "CGROUP")
            .iter()
            .map(Value::to_string)
            .collect();
        all.sort();
        all
    };
    let perfs = of(&perfs(dir.path(), &flags, &["true"]));
    let recording = ours(dir.path(), &flags, &["true"]);
    assert!(!perfs.is_empty());
    assert_eq!(of(&recording), perfs);
    let samples = records(&recording, "SAMPLE");
    assert!(!samples.is_empty());
    let known = records(&recording, "CGROUP");
    for sample in samples {
        assert!(
            known.iter().any(|one| one["id"] == sample["cgroup"]),
            "{sample}"
        );
    }
}

#[test]
fn each_switch_from_a_task_that_is_sampled_has_a_record() {
    let Some(_live) = both() else {
        return;
    };
    needs!(kernel);
    let dir = scratch();
    let flags = ["-e", "context-switches", "-c", "1", "--switch-events"];
    let command = ["sh", "-c", "echo x | cat; echo y | cat"];
    let recording = ours(dir.path(), &flags, &command);
    let dump = recording.read("dump", &["--json"]);
    let count = |kind: &str| {
        let kind = format!("\"kind\":\"{kind}\"");
        dump.lines().filter(|line| line.contains(&kind)).count()
    };
    let (samples, switches) = (count("SAMPLE"), count("SWITCH"));
    assert!(samples > 0 && switches >= samples, "{samples} {switches}");
}

#[test]
fn call_chains_may_be_of_one_side_only() {
    let Some(_live) = both() else {
        return;
    };
    needs!(kernel);
    let dir = scratch();
    let flags = ["-e", "context-switches", "-c", "1"];
    let command = ["sh", "-c", "echo x | cat; echo y | cat"];
    let entries = |more: &str| -> Vec<bool> {
        let recording = ours(dir.path(), &[&flags[..], &[more]].concat(), &command);
        let script = recording.read("script", &["-F", "ip"]);
        let words = script.split_whitespace();
        let is_kernel = |word: &str| u64::from_str_radix(word, 16).is_ok_and(|ip| ip >> 63 == 1);
        words.map(is_kernel).collect()
    };
    let (kernel, user) = (entries("--kernel-callchains"), entries("--user-callchains"));
    assert!(kernel.len() > 10 && kernel.iter().all(|is_kernel| *is_kernel));
    assert!(user.len() > 10 && user.iter().all(|is_kernel| !is_kernel));
}

#[test]
fn what_excludes_each_other_and_what_the_machine_lacks_is_said() {
    let dir = scratch();
    for (words, said) in [
        (&["--all-user", "--all-kernel"][..], "--all-kernel"),
        (&["--user-callchains", "--kernel-callchains"], "callchains"),
        (&["-b", "--call-graph", "lbr"], "same branch records"),
        (&["-j", "some"], "any_call"),
        (&["--kernel-callchains", "--post-unwind"], "no user stacks"),
    ] {
        let mut record = rprof(["record"]);
        record.args(words).arg("true").current_dir(dir.path());
        let error = run(&mut record).fails(2);
        assert!(error.contains(said), "{error}");
    }
    let Some(_live) = both() else {
        return;
    };
    // No clock has branches, on any machine.
    let mut record = rprof(["record", "-e", "cpu-clock", "-b", "true"]);
    let error = run(record.current_dir(dir.path())).fails(1);
    assert!(error.contains("omit -b and -j"), "{error}");
    let Some(nobody) = Nobody::new() else {
        return;
    };
    let mut record = nobody.rprof(&["record", "-e", "cpu-clock", "--all-kernel", "true"]);
    let error = run(&mut record).fails(1);
    assert!(error.contains("profiling the kernel needs"), "{error}");
}
