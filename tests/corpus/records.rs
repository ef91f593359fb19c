//! Every record of quipper's recordings, field by field: both sides become lists of names with
//! values, and the lists are equal, so that neither side has a field that the other lacks.

use crate::common::corpus;
use crate::corpus::pb_text::{self, Item, Message};
use crate::corpus::{PIPED, QUIPPER, dump, info, kinds, number};
use serde_json::Value;
use std::collections::BTreeMap;

/// Values by the path of their names.
type Fields = BTreeMap<String, String>;

/// Kinds by number (`enum perf_event_type`, and perf's own from 64 on).
const KINDS: [(u64, &str); 12] = [
    (1, "MMAP"),
    (3, "COMM"),
    (4, "EXIT"),
    (7, "FORK"),
    (9, "SAMPLE"),
    (10, "MMAP2"),
    (13, "LOST_SAMPLES"),
    (14, "SWITCH"),
    (16, "NAMESPACES"),
    (68, "FINISHED_ROUND"),
    (73, "THREAD_MAP"),
    (79, "TIME_CONV"),
];

/// Kinds that quipper does not list: the first two become attrs and metadata, the others are
/// unknown to it.
const UNLISTED: [&str; 4] = ["HEADER_ATTR", "HEADER_FEATURE", "EVENT_UPDATE", "CPU_MAP"];

/// Their names of fields, and ours where they differ.
const OUR_NAMES: [(&str, &str); 15] = [
    ("start", "addr"),
    ("sample_time_ns", "time_ns"),
    ("fork_time_ns", "time_ns"),
    ("num_lost", "lost"),
    ("link_info", "namespaces"),
    ("entries", "threads"),
    ("from_ip", "from"),
    ("to_ip", "to"),
    ("time_shift", "shift"),
    ("time_mult", "mult"),
    ("time_zero", "zero"),
    ("time_cycles", "cycles"),
    ("time_mask", "mask"),
    ("cap_user_time_zero", "has_zero"),
    ("cap_user_time_short", "is_short"),
];

/// Lists of messages.
const LISTS: [&str; 3] = ["branch_stack", "namespaces", "threads"];

#[test]
fn every_record_has_the_fields_that_quipper_saw() {
    let Some(corpus) = corpus() else {
        return;
    };
    let (mut n_records, mut n_fields) = (0, 0);
    for (name, ending) in QUIPPER {
        let file = corpus.join("quipper").join(name);
        let theirs = pb_text::read(&file.with_file_name(format!("{name}{ending}")));
        let theirs: Vec<Fields> = theirs.messages("events").into_iter().map(said).collect();
        let records = dump(&file);
        let listed = records.iter().skip(1).filter(|record| {
            let kind = crate::corpus::text(&record["kind"]);
            !UNLISTED.contains(&&kind[..])
        });
        let mut ours: Vec<Fields> = listed.map(fields).collect();
        if ending != PIPED {
            // Stable: records of one time stay in the order of the file.
            ours.sort_by_key(|fields| fields["time_ns"].parse::<u64>().unwrap());
        }
        for (idx, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            assert_eq!(ours, theirs, "{name}: record {idx}");
            n_fields += ours.len();
        }
        assert_eq!(ours.len(), theirs.len(), "{name}");
        n_records += ours.len();
        counts_are_those_of(&theirs, &info(&file), name);
    }
    // Of eight texts: nothing was left out by mistake.
    assert_eq!((n_records, n_fields), (1008, 15_663));
}

/// `info` counts the records of each kind that quipper lists.
fn counts_are_those_of(theirs: &[Fields], info: &Value, name: &str) {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for fields in theirs {
        *counts.entry(fields["kind"].clone()).or_default() += 1;
    }
    let mut ours = kinds(info);
    ours.retain(|(kind, _)| !UNLISTED.contains(&&kind[..]));
    assert_eq!(ours, Vec::from_iter(counts), "{name}");
}

/// A record as quipper says it.
fn said(event: &Message) -> Fields {
    let mut fields = Fields::new();
    for (name, item) in &event.0 {
        match item {
            Item::Message(header) if name == "header" => {
                let number = header.number("type");
                let kind = KINDS.iter().find(|(known, _)| *known == number);
                let kind = kind.unwrap_or_else(|| panic!("kind {number} is new"));
                fields.insert("kind".to_owned(), kind.1.to_owned());
                fields.insert("misc".to_owned(), header.text("misc"));
                fields.insert("size".to_owned(), header.text("size"));
            }
            Item::Message(body) => take_message(body, "fields", &mut fields),
            _ if name == "timestamp" => {
                fields.insert("time_ns".to_owned(), item.text());
            }
            _ => panic!("{name} is new"),
        }
    }
    fields
}

/// Adds what a message holds, by our names.
fn take_message(message: &Message, path: &str, fields: &mut Fields) {
    let mut lens: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, item) in &message.0 {
        if name.ends_with("_md5_prefix") || name == "root_path" {
            continue;
        }
        let renamed = OUR_NAMES.iter().find(|(theirs, _)| theirs == name);
        let name = match renamed {
            // A thread map holds threads, and quipper calls them pid.
            _ if name == "pid" && path.contains("threads[") => "tid",
            Some((_, ours)) => ours,
            None => name,
        };
        let path = match name {
            "sample_info" => "id".to_owned(),
            name if LISTS.contains(&name) => {
                let len = lens.entry(name).or_default();
                *len += 1;
                format!("{path}.{name}[{}]", *len - 1)
            }
            name => format!("{path}.{name}"),
        };
        match item {
            Item::Message(inner) => take_message(inner, &path, fields),
            Item::Bytes(_) | Item::Word(_) => {
                fields.insert(path, item.text());
            }
        }
    }
}

/// A record as we say it.
fn fields(record: &Value) -> Fields {
    let mut fields = Fields::new();
    let mut add = |name: &str, value: String| {
        fields.insert(name.to_owned(), value);
    };
    let misc = number(&record["misc"]).unwrap();
    let kind = record["kind"].as_str().unwrap();
    add("kind", kind.to_owned());
    add("misc", misc.to_string());
    add("size", record["size"].to_string());
    let times = [&record["id"]["time_ns"], &record["fields"]["time_ns"]];
    let time = times.into_iter().find_map(number);
    add("time_ns", time.unwrap_or(0).to_string());
    if kind == "SWITCH" {
        // PERF_RECORD_MISC_SWITCH_OUT
        add("fields.is_out", (misc & 0x2000 != 0).to_string());
    }
    let has_branches = record["fields"]["branch_stack"].is_array();
    if has_branches && record["fields"]["branch_hw_index"].is_null() {
        add("fields.no_hw_idx", "true".to_owned());
        add("fields.branch_stack_hw_idx", "0".to_owned());
    }
    for part in ["fields", "id"] {
        take_value(&record[part], part, &mut fields);
    }
    fields
}

/// Adds what a value holds, as quipper writes it.
fn take_value(value: &Value, path: &str, fields: &mut Fields) {
    let name = path.rsplit('.').next().unwrap_or(path);
    let text = match value {
        Value::Null => return,
        Value::Object(object) => {
            for (name, value) in object {
                take_value(value, &format!("{path}.{name}"), fields);
            }
            return;
        }
        Value::Array(array) => {
            for (idx, value) in array.iter().enumerate() {
                take_value(value, &format!("{path}[{idx}]"), fields);
            }
            return;
        }
        _ if path.contains("namespaces[") && name == "name" => return,
        _ if path.contains("branch_stack[") && name == "flags" => {
            let path = path.strip_suffix(".flags").unwrap_or(path);
            take_branch_flags(number(value).unwrap(), path, fields);
            return;
        }
        // -1, the kernel, is a 32-bit number without a sign to quipper.
        _ if ["pid", "tid", "ppid", "ptid"].contains(&name) => {
            (value.as_i64().unwrap() & 0xffff_ffff).to_string()
        }
        Value::String(_) if ["filename", "comm"].contains(&name) => crate::corpus::text(value),
        Value::Bool(is_set) => is_set.to_string(),
        _ => number(value).unwrap().to_string(),
    };
    fields.insert(path.to_owned(), text);
}

/// Adds the parts of `struct perf_branch_entry` after its addresses.
fn take_branch_flags(flags: u64, path: &str, fields: &mut Fields) {
    for (bit, name) in ["mispredicted", "predicted", "in_transaction", "abort"]
        .into_iter()
        .enumerate()
    {
        fields.insert(
            format!("{path}.{name}"),
            (flags >> bit & 1 != 0).to_string(),
        );
    }
    for (shift, mask, name) in [(4, 0xffff, "cycles"), (20, 0xf, "type"), (24, 3, "spec")] {
        fields.insert(
            format!("{path}.{name}"),
            (flags >> shift & mask).to_string(),
        );
    }
}
