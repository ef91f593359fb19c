//! Attrs of quipper's recordings, field by field, and the ids of their events.

use crate::corpus::pb_text::Message;
use crate::corpus::{dump, each_of_quipper, list, names, number, text, texts};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Bits of `sample_type` (`enum perf_event_sample_format`) that the files have.
const SAMPLE_TYPE: [&str; 12] = [
    "IP",
    "TID",
    "TIME",
    "ADDR",
    "READ",
    "CALLCHAIN",
    "ID",
    "CPU",
    "PERIOD",
    "STREAM_ID",
    "RAW",
    "BRANCH_STACK",
];

/// Bits of `read_format`.
const READ_FORMAT: [&str; 3] = ["TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID"];

/// Bits of `branch_sample_type`.
const BRANCHES: [&str; 4] = ["USER", "KERNEL", "HV", "ANY"];

#[test]
fn attrs_and_their_ids_are_those_that_quipper_saw() {
    each_of_quipper(|theirs, info, file| {
        let attrs = theirs.messages("file_attrs");
        let ids = attrs.iter().map(|attr| {
            let ids = attr.all("ids");
            ids.iter().map(|id| id.text().parse().unwrap()).collect()
        });
        assert_eq!(ids.collect::<Vec<Vec<u64>>>(), ids_of_events(info, file));
        let events = list(info, "events");
        assert_eq!(events.len(), attrs.len());
        for (attr, event) in attrs.iter().zip(events) {
            let [attr] = attr.messages("attr")[..] else {
                panic!("{attr:?}");
            };
            same_attr(attr, &event["attr"]);
        }
    });
}

/// Ids of each event: from EVENT_DESC, or in pipe mode from the records that bring the attrs.
fn ids_of_events(info: &Value, file: &Path) -> Vec<Vec<u64>> {
    let records: Vec<Value>;
    let holders: Vec<&Value> = if text(&info["form"]) == "pipe" {
        records = dump(file);
        let attrs = records
            .iter()
            .filter(|record| record["kind"] == "HEADER_ATTR");
        attrs.map(|record| &record["fields"]).collect()
    } else {
        list(&info["features"], "event_desc").iter().collect()
    };
    let ids = |holder: &&Value| list(holder, "ids").iter().filter_map(number).collect();
    holders.iter().map(ids).collect()
}

/// Compares an attr. `size` is left out: quipper writes the size of its own structure, 96, for
/// files whose attrs have 112 to 128 bytes.
fn same_attr(theirs: &Message, ours: &Value) {
    let or_zero = |name: &str| number(&ours[name]).unwrap_or(0);
    let mut flags = BTreeSet::new();
    for (name, item) in &theirs.0 {
        let value = item.text();
        let number = value.parse::<u64>();
        match (&name[..], number) {
            ("size", _) => {}
            (_, Err(_)) => {
                if value == "true" {
                    flags.insert(name.clone());
                }
            }
            ("sample_type", Ok(bits)) => {
                assert_eq!(texts(ours, name), names(bits, &SAMPLE_TYPE));
            }
            ("read_format", Ok(bits)) => {
                assert_eq!(texts(ours, name), names(bits, &READ_FORMAT));
            }
            ("branch_sample_type", Ok(bits)) => {
                assert_eq!(texts(ours, name), names(bits, &BRANCHES));
            }
            ("sample_period", Ok(number)) => {
                assert_eq!(or_zero(name) + or_zero("sample_freq"), number);
            }
            ("wakeup_events", Ok(number)) => assert_eq!(or_zero("wakeup"), number),
            ("bp_addr", Ok(number)) => assert_eq!(or_zero("config1"), number),
            ("bp_len", Ok(number)) => assert_eq!(or_zero("config2"), number),
            (_, Ok(number)) => assert_eq!(or_zero(name), number, "{name}"),
        }
    }
    // quipper does not write this one.
    let ours = texts(ours, "flags").into_iter();
    let ours: BTreeSet<String> = ours.filter(|flag| flag != "bpf_event").collect();
    assert_eq!(ours, flags);
}
