//! What is in the feature sections equals what perf prints of them (`perf report --header-only`):
//! `info` has all that is needed to write the same lines.

use crate::common::{rprof, run};
use crate::corpus::perf::{each, perf, perf_in_utc};
use crate::corpus::{list, number, text, texts};
use serde_json::Value;

/// Beginnings of lines that are not about features.
const OTHER: [&str; 6] = [
    "# ====",
    "# captured on",
    "# header version",
    "# data ",
    "# feat ",
    "# missing features",
];

#[test]
fn features_are_printed_by_perf_with_the_same_values() {
    each(12, |file, info| {
        let printed = perf(&["report", "--header-only", "-I"], file)?;
        let lines = printed.lines().filter(|line| {
            let is_other = OTHER.iter().any(|other| line.starts_with(other));
            !is_other && line.len() > 1
        });
        let mut theirs: Vec<String> = lines.map(comparable).collect();
        let mut ours = ours(info);
        if theirs.iter().any(|line| line.contains("is not available")) {
            // Of old files, and of those whose strings are not filled up to 64 bytes: perf 6.1
            // takes for granted that they are, and thinks that the section is at its end.
            theirs.retain(|line| !line.contains("is not available"));
            ours.retain(|line| !line.starts_with("# CPU ") || line.ends_with(':'));
        }
        assert_eq!(ours, theirs);
        Some(())
    });
}

#[test]
fn headers_are_printed_line_for_line_as_perf_does() {
    each(12, |file, _| {
        let args = ["report", "--header-only", "-I"];
        let theirs = perf_in_utc(&args, file)?;
        let mut ours = run(rprof(args).arg("-i").arg(file)).ok().stdout;
        let mut theirs: Vec<&str> = theirs.lines().collect();
        let is_missing = |line: &&str| line.contains("information is not available");
        if theirs.iter().any(is_missing) {
            // As above.
            theirs.retain(|line| !is_missing(line));
            let is_kept = |line: &&str| {
                let cpu = line.starts_with("# CPU ") && line.contains(": Core ID ");
                !cpu && !is_missing(line)
            };
            let kept: Vec<&str> = ours.lines().filter(is_kept).collect();
            ours = kept.join("\n");
        }
        assert_eq!(ours.lines().collect::<Vec<_>>(), theirs);
        Some(())
    });
}

/// A line of perf's without what is compared elsewhere (an attr after the ids) and without the
/// date, which perf gives in local time.
fn comparable(line: &str) -> String {
    if line.starts_with("# event : ") {
        let end = ["type = ", "size = "]
            .iter()
            .filter_map(|end| line.find(end));
        return line[..end.min().unwrap()].to_owned();
    }
    match line.strip_prefix("# reference time: ") {
        Some(times) => format!("# reference time:{}", times.split_once(" =").unwrap().1),
        None => line.to_owned(),
    }
}

/// perf's lines, made from what `info` says.
fn ours(info: &Value) -> Vec<String> {
    let features = &info["features"];
    let mut lines = Vec::new();
    for add in [
        machine, events, cpus, memory, pmus, groups, caches, times, clocks, caps,
    ] {
        add(features, &mut lines);
    }
    lines
}

/// The number of this name.
fn n(value: &Value, name: &str) -> u64 {
    number(&value[name]).unwrap_or_else(|| panic!("no number '{name}' in {value}"))
}

/// The text of this name.
fn t<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name]
        .as_str()
        .unwrap_or_else(|| panic!("no text '{name}' in {value}"))
}

fn machine(features: &Value, lines: &mut Vec<String>) {
    let mut add_text = |title: &str, name: &str| {
        if let Some(text) = features[name].as_str() {
            lines.push(format!("# {title} : {text}"));
        }
    };
    add_text("hostname", "hostname");
    add_text("os release", "osrelease");
    add_text("perf version", "version");
    add_text("arch", "arch");
    let cpus = &features["nrcpus"];
    if cpus.is_object() {
        lines.push(format!("# nrcpus online : {}", n(cpus, "online")));
        lines.push(format!("# nrcpus avail : {}", n(cpus, "available")));
    }
    for name in ["cpudesc", "cpuid"] {
        if let Some(text) = features[name].as_str() {
            lines.push(format!("# {name} : {text}"));
        }
    }
    if let Some(kib) = number(&features["total_mem_kib"]) {
        lines.push(format!("# total memory : {kib} kB"));
    }
    if features["cmdline"].is_array() {
        let words = texts(features, "cmdline").join(" ");
        lines.push(format!("# cmdline : {words} "));
    }
}

fn events(features: &Value, lines: &mut Vec<String>) {
    for event in list(features, "event_desc") {
        let ids: Vec<String> = list(event, "ids").iter().map(Value::to_string).collect();
        let ids = if ids.is_empty() {
            String::new()
        } else {
            format!("id = {{ {} }}, ", ids.join(", "))
        };
        lines.push(format!("# event : name = {}, , {ids}", t(event, "name")));
    }
}

fn cpus(features: &Value, lines: &mut Vec<String>) {
    let topology = &features["cpu_topology"];
    for (title, name) in [
        ("sockets", "core_siblings"),
        ("dies   ", "die_siblings"),
        ("threads", "thread_siblings"),
    ] {
        let all = texts(topology, name).into_iter();
        lines.extend(all.map(|cpus| format!("# sibling {title} : {cpus}")));
    }
    for (idx, cpu) in list(topology, "cpus").iter().enumerate() {
        let die = number(&cpu["die_id"]).map(|die| format!("Die ID {die}, "));
        lines.push(format!(
            "# CPU {idx}: Core ID {}, {}Socket ID {}",
            n(cpu, "core_id"),
            die.unwrap_or_default(),
            n(cpu, "socket_id")
        ));
    }
}

fn memory(features: &Value, lines: &mut Vec<String>) {
    for node in list(features, "numa_topology") {
        let idx = n(node, "node");
        let (total, free) = (n(node, "mem_total_kib"), n(node, "mem_free_kib"));
        lines.push(format!(
            "# node{idx} meminfo  : total = {total} kB, free = {free} kB"
        ));
        lines.push(format!("# node{idx} cpu list : {}", t(node, "cpus")));
    }
    if features["branch_stack"] == true {
        lines.push("# contains samples with branch stack".to_owned());
    }
}

fn pmus(features: &Value, lines: &mut Vec<String>) {
    if features["pmu_mappings"].is_array() {
        let mappings = list(features, "pmu_mappings").iter();
        let mappings: Vec<String> = mappings
            .map(|pmu| format!("{} = {}", t(pmu, "name"), n(pmu, "type")))
            .collect();
        lines.push(format!("# pmu mappings: {}", mappings.join(", ")));
    }
}

fn groups(features: &Value, lines: &mut Vec<String>) {
    let events = list(features, "event_desc").iter();
    let names: Vec<&str> = events.map(|event| t(event, "name")).collect();
    for group in list(features, "group_desc") {
        let first = usize::try_from(n(group, "leader_idx")).unwrap();
        let end = first + usize::try_from(n(group, "n_members")).unwrap();
        let name = t(group, "name").replace("{anon_group}", "");
        let members = names[first..end].join(",");
        lines.push(format!("# group: {name}{{{members}}}"));
    }
}

fn caches(features: &Value, lines: &mut Vec<String>) {
    let caches = &features["cache"];
    if !caches.is_null() {
        lines.push("# CPU cache info:".to_owned());
    }
    for cache in list(caches, "caches") {
        lines.push(format!(
            "#  L{} {:<15} {:>8} [{}]",
            n(cache, "level"),
            t(cache, "type"),
            t(cache, "size"),
            t(cache, "map")
        ));
    }
}

/// Seconds with six digits after the point, the rest cut off.
fn seconds(ns: u64) -> String {
    format!("{}.{:06}", ns / 1_000_000_000, ns / 1000 % 1_000_000)
}

fn times(features: &Value, lines: &mut Vec<String>) {
    let times = &features["sample_time"];
    if times.is_object() {
        let (first, last) = (n(times, "first_ns"), n(times, "last_ns"));
        lines.push(format!("# time of first sample : {}", seconds(first)));
        lines.push(format!("# time of last sample : {}", seconds(last)));
        let ms = Value::from(last - first).as_f64().unwrap() / 1e6;
        lines.push(format!("# sample duration : {ms:10.3} ms"));
    }
    let memory = &features["mem_topology"];
    let nodes = list(memory, "nodes");
    if memory.is_object() {
        let (len, size) = (nodes.len(), n(memory, "block_size_bytes"));
        lines.push(format!("# memory nodes (nr {len}, block size {size:#x}):"));
    }
    for node in nodes {
        let blocks = texts(node, "blocks");
        let n_blocks: u64 = blocks.iter().map(|range| count(range)).sum();
        let gib = (n_blocks * n(memory, "block_size_bytes")) >> 30;
        let (idx, blocks) = (n(node, "node"), blocks.join(","));
        lines.push(format!("#  {idx:3} [{gib}G]: {blocks}"));
    }
}

/// How many numbers a range such as `3` or `3-5` has.
fn count(range: &str) -> u64 {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let [first, last] = [first, last].map(|number| number.parse::<u64>().unwrap());
    last - first + 1
}

fn clocks(features: &Value, lines: &mut Vec<String>) {
    let clock = &features["clockid"];
    if clock.is_object() {
        let mhz = n(clock, "resolution_ns") * 1000;
        lines.push(format!("# clockid frequency: {mhz} MHz"));
    }
    let packed = &features["compressed"];
    if packed.is_object() {
        let (level, ratio) = (n(packed, "level"), n(packed, "ratio"));
        lines.push(format!(
            "# compressed : Zstd, level = {level}, ratio = {ratio}"
        ));
    }
    let clocks = &features["clock_data"];
    if clocks.is_object() {
        // The only clock that the files have.
        assert_eq!(n(clocks, "clockid"), 1);
        lines.push("# clockid: monotonic (1)".to_owned());
        let (wall, clock) = (n(clocks, "wall_ns"), n(clocks, "clock_ns"));
        let (whole, rest) = (clock / 1_000_000_000, clock % 1_000_000_000);
        let wall = seconds(wall);
        lines.push(format!(
            "# reference time: {wall} (TOD) = {whole}.{rest:09} (monotonic)"
        ));
    }
}

fn caps(features: &Value, lines: &mut Vec<String>) {
    let hybrid = list(features, "hybrid_topology");
    if !hybrid.is_empty() {
        lines.push("# hybrid cpu system:".to_owned());
    }
    for pmu in hybrid {
        lines.push(format!("# {} cpu list : {}", t(pmu, "pmu"), t(pmu, "cpus")));
    }
    for pmu in list(features, "pmu_caps") {
        let caps = list(pmu, "caps").iter();
        let caps: Vec<String> = caps
            .map(|cap| format!("{}={}", text(&cap["name"]), text(&cap["value"])))
            .collect();
        let pmu = t(pmu, "pmu");
        lines.push(format!("# {pmu} pmu capabilities: {}", caps.join(", ")));
    }
}
