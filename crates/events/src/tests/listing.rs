//! What is listed of a machine can be recorded there, under the same names.

use super::machine::Machine;
use crate::{EventError, EventList, ListKind, Selection, list_events, parse_events};

fn list(machine: &Machine, words: &[&str]) -> EventList {
    list_events(&machine.sources, &Selection::of(words))
}

fn names(list: &EventList) -> Vec<&str> {
    list.events
        .iter()
        .map(|event| event.name.as_str())
        .collect()
}

#[test]
fn every_listed_name_is_an_event() {
    let machine = Machine::usual();
    let listed = list(&machine, &[]);
    for event in &listed.events {
        // What has to be filled in, and a file that is damaged.
        let is_not_whole = ["=?", "NN", "ADDR", "FUNCTION", "PROVIDER", "broken"];
        if is_not_whole.iter().any(|part| event.name.contains(part)) {
            continue;
        }
        for name in [Some(&event.name), event.alias.as_ref()]
            .into_iter()
            .flatten()
        {
            let parsed = parse_events(name, &machine.sources).unwrap();
            assert_eq!(parsed.len(), 1, "{name}");
            if let Some(event) = &event.event {
                assert_eq!(parsed[0].attr.kind, event.attr.kind, "{name}");
                assert_eq!(parsed[0].attr.config, event.attr.config, "{name}");
            }
        }
    }
    let kinds = listed.events.iter().map(|event| event.kind);
    assert!(kinds.is_sorted());
}

#[test]
fn forms_of_probes_are_listed_where_the_kernel_has_them() {
    let machine = Machine::usual();
    let probes = list(&machine, &["probe"]);
    assert!(names(&probes).contains(&"uprobe:/PATH:FUNCTION[+OFFSET]"));
    let markers = list(&machine, &["sdt"]);
    let expected = ["usdt:/PATH:PROVIDER:NAME", "sdt_PROVIDER:NAME[@/PATH]"];
    assert_eq!(names(&markers), expected);
    assert!(names(&list(&Machine::bare(), &["probe"])).is_empty());
}

#[test]
fn pmus_have_terms_and_events_with_units() {
    let machine = Machine::usual();
    let listed = list(&machine, &["pmu"]);
    assert!(names(&listed).contains(&"cpu/mem-loads/"));
    assert!(names(&listed).contains(&"cpu/asked,event=?/"));
    let frequency = listed.events.iter();
    let frequency = frequency.filter(|event| event.name == "i915/actual-frequency/");
    let units: Vec<_> = frequency.map(|event| event.unit.as_deref()).collect();
    assert_eq!(units, [Some("M")]);
    let cpu = listed.pmus.iter().find(|pmu| pmu.name == "cpu").unwrap();
    let event = ("event".to_owned(), "config:0-7,32-35".to_owned());
    assert!(cpu.terms.contains(&event), "{cpu:?}");
    // Nothing of its own.
    assert!(listed.pmus.iter().all(|pmu| pmu.name != "software"));
}

#[test]
fn words_and_patterns_select() {
    let machine = Machine::usual();
    assert_eq!(names(&list(&machine, &["sw", "cs"])), ["context-switches"]);
    let all = list(&machine, &["*faults"]);
    assert_eq!(
        names(&all),
        [
            "page-faults",
            "minor-faults",
            "major-faults",
            "alignment-faults",
            "emulation-faults"
        ]
    );
    let switches = list(&machine, &["tracepoint", "SCHED:*switch"]);
    assert_eq!(names(&switches), ["sched:sched_switch"]);
    let kinds = list(&machine, &["tracepoint"]);
    assert!(
        kinds
            .events
            .iter()
            .all(|event| event.kind == ListKind::Tracepoint)
    );
}

#[test]
fn a_pmu_is_found_by_its_name() {
    let machine = Machine::usual();
    for name in ["cpu", "i915", "uncore_imc"] {
        let listed = list(&machine, &[name]);
        assert!(listed.events.len() + listed.pmus.len() > 0, "{name}");
        assert!(listed.pmus.iter().all(|pmu| pmu.name.starts_with(name)));
    }
}

#[test]
fn without_tracefs_the_rest_is_listed() {
    let machine = Machine::bare();
    let listed = list(&machine, &[]);
    assert!(names(&listed).contains(&"cpu-clock"));
    let why = listed.without_tracepoints.unwrap();
    assert!(matches!(why, EventError::TracefsMissing { .. }), "{why}");
    assert!(list(&machine, &["hw"]).without_tracepoints.is_none());
}
