//! What quipper knows of a recording beside its records and attrs: build ids and features.

use crate::corpus::pb_text::{Item, Message};
use crate::corpus::{each_of_quipper, list, names, number, text, texts};
use serde_json::Value;

/// Feature sections by number (`enum` in perf's `util/header.h`), as `info` names them.
const FEATURES: [&str; 32] = [
    "",
    "tracing_data",
    "build_id",
    "hostname",
    "osrelease",
    "version",
    "arch",
    "nrcpus",
    "cpudesc",
    "cpuid",
    "total_mem_kib",
    "cmdline",
    "event_desc",
    "cpu_topology",
    "numa_topology",
    "branch_stack",
    "pmu_mappings",
    "group_desc",
    "auxtrace",
    "stat",
    "cache",
    "sample_time",
    "mem_topology",
    "clockid",
    "dir_format",
    "bpf_prog_info",
    "bpf_btf",
    "compressed",
    "cpu_pmu_caps",
    "clock_data",
    "hybrid_topology",
    "pmu_caps",
];

#[test]
fn build_ids_are_those_that_quipper_saw() {
    let mut n_lists = 0;
    each_of_quipper(|theirs, info, file| {
        let mut expected = Vec::new();
        for entry in theirs.messages("build_ids") {
            let Item::Bytes(id) = entry.one("build_id_hash") else {
                panic!("{entry:?}");
            };
            let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
            // Without the bit that says that the entry has a size, which `info` keeps to itself.
            let misc = entry.number("misc") & 0x7fff;
            expected.push((id, entry.text("filename"), misc, entry.number("pid")));
        }
        let entries = list(&info["features"], "build_id").iter();
        let ours: Vec<_> = entries
            .map(|entry| {
                let (misc, pid) = (number(&entry["misc"]).unwrap(), entry["pid"].as_i64());
                let pid = pid.unwrap().cast_unsigned() & 0xffff_ffff;
                (
                    text(&entry["build_id"]),
                    text(&entry["filename"]),
                    misc,
                    pid,
                )
            })
            .collect();
        assert_eq!(ours, expected);
        let name = file.file_name().unwrap().to_string_lossy();
        // Files of quipper's that hold build ids have a list of them, but for one.
        if let Ok(list) = std::fs::read_to_string(file.with_file_name(format!("{name}.buildids"))) {
            let lines = ours.iter().map(|(id, name, ..)| format!("{id} {name}"));
            assert_eq!(lines.collect::<Vec<_>>(), list.lines().collect::<Vec<_>>());
            n_lists += 1;
        }
    });
    assert!(n_lists == 5 || std::env::var_os("RPROF_CORPUS").is_none());
}

#[test]
fn features_hold_what_quipper_read_in_them() {
    each_of_quipper(|theirs, info, _| {
        let features = &info["features"];
        same_texts(theirs, features);
        same_numbers(theirs, features);
        same_topology(theirs, features);
        same_tables(theirs, features);
        let mask = theirs.number("metadata_mask");
        let present: Vec<String> = FEATURES
            .iter()
            .filter(|name| !features[**name].is_null())
            .map(|name| (*name).to_owned())
            .collect();
        let mut expected = names(mask, &FEATURES);
        if info["form"] == "pipe" && !features["sample_time"].is_null() {
            // In a pipe quipper marks those features that it knows.
            expected.push("sample_time".to_owned());
        }
        assert_eq!(present, expected);
    });
}

fn same_texts(theirs: &Message, features: &Value) {
    let [strings] = theirs.messages("string_metadata")[..] else {
        return assert!(features["hostname"].is_null());
    };
    let value = |name: &str| -> Vec<String> {
        let all = strings.messages(name).into_iter();
        all.map(|message| message.text("value")).collect()
    };
    for (theirs, ours) in [
        ("hostname", "hostname"),
        ("kernel_version", "osrelease"),
        ("perf_version", "version"),
        ("architecture", "arch"),
        ("cpu_description", "cpudesc"),
        ("cpu_id", "cpuid"),
    ] {
        assert_eq!(value(theirs), [text(&features[ours])], "{ours}");
    }
    let words = texts(features, "cmdline");
    assert_eq!(value("perf_command_line_token"), words);
    assert_eq!(value("perf_command_line_whole"), [words.join(" ")]);
}

fn same_numbers(theirs: &Message, features: &Value) {
    let mut expected = Vec::new();
    for name in ["uint32_metadata", "uint64_metadata"] {
        for entry in theirs.messages(name) {
            let data = entry.all("data");
            let feature = FEATURES[usize::try_from(entry.number("type")).unwrap()];
            expected.push((feature, data.iter().map(|data| data.text()).collect()));
        }
    }
    let mut ours: Vec<(&str, Vec<String>)> = Vec::new();
    if let Some(cpus) = features["nrcpus"].as_object() {
        let cpus = [&cpus["available"], &cpus["online"]];
        ours.push(("nrcpus", cpus.map(ToString::to_string).to_vec()));
    }
    if let Some(kib) = number(&features["total_mem_kib"]) {
        ours.push(("total_mem_kib", vec![kib.to_string()]));
    }
    assert_eq!(ours, expected);
}

fn same_topology(theirs: &Message, features: &Value) {
    let ours = &features["cpu_topology"];
    let [topology] = theirs.messages("cpu_topology")[..] else {
        return assert!(ours.is_null());
    };
    for name in ["core_siblings", "thread_siblings"] {
        let all = topology.all(name);
        let expected: Vec<String> = all.iter().map(|item| item.text()).collect();
        assert_eq!(texts(ours, name), expected, "{name}");
    }
    same_table(
        &topology.messages("available_cpus"),
        list(ours, "cpus"),
        &[("core_id", "core_id"), ("socket_id", "socket_id")],
    );
}

/// Their names of columns, and ours.
type Columns = [(&'static str, &'static str)];

const PMUS: &Columns = &[("type", "type"), ("name", "name")];
const GROUPS: &Columns = &[
    ("name", "name"),
    ("leader_idx", "leader_idx"),
    ("num_members", "n_members"),
];
const NODES: &Columns = &[
    ("id", "node"),
    ("total_memory", "mem_total_kib"),
    ("free_memory", "mem_free_kib"),
    ("cpu_list", "cpus"),
];
const HYBRID: &Columns = &[("pmu_name", "pmu"), ("cpus", "cpus")];

fn same_tables(theirs: &Message, features: &Value) {
    for (name, our_name, columns) in [
        ("pmu_mappings", "pmu_mappings", PMUS),
        ("group_desc", "group_desc", GROUPS),
        ("numa_topology", "numa_topology", NODES),
        ("hybrid_topology", "hybrid_topology", HYBRID),
        ("event_types", "event_desc", &[("name", "name")]),
    ] {
        same_table(&theirs.messages(name), list(features, our_name), columns);
    }
}

/// Compares some columns of two tables.
fn same_table(theirs: &[&Message], ours: &[Value], columns: &Columns) {
    let theirs = theirs.iter().map(|row| {
        let cells = columns.iter().map(|(theirs, _)| row.text(theirs));
        cells.collect::<Vec<String>>()
    });
    let ours = ours.iter().map(|row| {
        let cells = columns.iter().map(|(_, ours)| match &row[*ours] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        cells.collect::<Vec<String>>()
    });
    assert_eq!(ours.collect::<Vec<_>>(), theirs.collect::<Vec<_>>());
}
