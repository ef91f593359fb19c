//! `rprof list`, compared with `perf list`.

use crate::common;
use crate::common::nobody::Nobody;
use crate::common::{Tracefs, alone, compile_c, needs, perf, rprof, run, scratch, tracefs};
use rprof_events::{Sources, parse_events};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// The JSON that it prints.
fn list(words: &[&str]) -> Value {
    let ran = run(rprof(["list", "--json"]).args(words)).ok();
    let list: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(list["schema"], "rprof-list");
    assert_eq!(list["version"], 1);
    list
}

/// Names, and other names for the same.
fn names(list: &Value) -> BTreeSet<String> {
    let events = list["events"].as_array().unwrap();
    let counted = events.iter().filter(|event| event["is_counted"] != false);
    let names = counted.flat_map(|event| [&event["name"], &event["alias"]]);
    names
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect()
}

/// What `perf list` prints for a kind, without what it calls tool events, which cannot be sampled.
fn perfs(kind: &str) -> BTreeSet<String> {
    let listed = run(&mut perf(["list", kind])).ok().stdout;
    let lines = listed.lines().filter(|line| !line.contains("[Tool event]"));
    let lines = lines.filter_map(|line| line.trim().split_once("  "));
    let names = lines.flat_map(|(names, _)| names.split(" OR "));
    names.map(|name| name.trim().to_owned()).collect()
}

#[test]
fn names_are_those_of_perf_list() {
    let _live = alone();
    needs!("perf" in "perf");
    for kind in ["hw", "sw", "cache", "pmu"] {
        let (ours, theirs) = (names(&list(&[kind])), perfs(kind));
        assert!(theirs.is_subset(&ours), "{kind}: {theirs:?} {ours:?}");
        if kind != "pmu" {
            assert_eq!(ours, theirs, "{kind}");
        }
    }
    if tracefs().is_some() {
        let (ours, theirs) = (names(&list(&["tracepoint"])), perfs("tracepoint"));
        let missing: Vec<_> = theirs.difference(&ours).collect();
        assert!(!theirs.is_empty() && missing.is_empty(), "{missing:?}");
    }
}

#[test]
fn every_name_can_be_recorded() {
    let sources = Sources::default();
    let _live = alone();
    for name in names(&list(&["hw", "sw", "cache", "pmu", "tracepoint"])) {
        if !name.contains("=?") {
            let parsed = parse_events(&name, &sources);
            assert_eq!(parsed.map_err(|error| panic!("{error}")).unwrap().len(), 1);
        }
    }
}

#[test]
fn fields_of_tracepoints_are_shown_if_asked_for() {
    if tracefs().is_none() {
        return;
    }
    let list = list(&["-v", "sched:sched_switch"]);
    let events = list["events"].as_array().unwrap();
    assert_eq!(events.len(), 1, "{list}");
    let fields = events[0]["fields"].as_array().unwrap();
    let comm = fields.iter().find(|field| field["name"] == "prev_comm");
    assert_eq!(comm.unwrap()["type"], "char[16]", "{list}");
    let text = run(&mut rprof(["list", "-v", "sched:sched_switch"]))
        .ok()
        .stdout;
    assert!(text.contains("\n      prev_comm: char[16]\n"), "{text}");
}

#[test]
fn words_select_kinds_and_names() {
    let text = run(&mut rprof(["list", "sw", "switches"])).ok().stdout;
    let events = text.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(events.count(), 2, "{text}");
    assert!(text.contains("  context-switches, cs  "), "{text}");
    if Path::new("/sys/bus/event_source/devices/uprobe/format").exists() {
        let text = run(&mut rprof(["list", "pmu", "uprobe"])).ok().stdout;
        assert!(text.contains("terms: "), "{text}");
    }
    let error = run(&mut rprof(["list", "no-such-thing"])).fails(1);
    assert!(
        error.contains("no event matches 'no-such-thing'"),
        "{error}"
    );
}

#[test]
fn functions_of_a_file_are_places_of_probes() {
    needs!(cc);
    let dir = scratch();
    // A marker as `sys/sdt.h` makes it.
    let source = r#"
        void probed_here(void) {
            __asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n"
                ".4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"
                "993: .8byte 990b, 0, 0\n.asciz \"probed\"\n.asciz \"place\"\n.asciz \"\"\n"
                "994: .balign 4\n.popsection");
        }
        int main(void) { probed_here(); return 0; }"#;
    let program = compile_c(dir.path(), "program", source);
    let program = program.to_str().unwrap();
    let list = list(&["--path", program, "probed"]);
    let names: Vec<&str> = list["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["name"].as_str().unwrap())
        .collect();
    let expected = [
        format!("usdt:{program}:probed:place"),
        format!("uprobe:{program}:probed_here"),
    ];
    assert_eq!(names, expected);
    for (kind, name) in [("usdt", &expected[0]), ("uprobe", &expected[1])] {
        let text = run(&mut rprof(["list", "--path", program, kind, "probed"]))
            .ok()
            .stdout;
        let events: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(events.len(), 1, "{text}");
        assert!(events[0].trim_start().starts_with(name), "{text}");
    }
    let error = run(&mut rprof(["list", "--path", program, "no-such"])).fails(1);
    assert!(
        error.ends_with(&format!(
            "no function or marker of {program} matches 'no-such'\n"
        )),
        "{error}"
    );
    if Path::new("/sys/bus/event_source/devices/uprobe").exists() {
        for name in names {
            assert_eq!(parse_events(name, &Sources::default()).unwrap().len(), 1);
        }
    }
    let error = run(&mut rprof(["list", "--path", "/no/such/file"])).fails(1);
    assert!(
        error.contains("looking for functions in /no/such/file"),
        "{error}"
    );
}

#[test]
fn why_tracepoints_are_missing_is_said_beside_the_list() {
    if tracefs() != Some(Tracefs::Mounted) {
        return common::not_run("no tracefs that others may not read");
    }
    let Some(nobody) = Nobody::new() else {
        return;
    };
    let list = |words: &[&str]| nobody.rprof(&[&["list"], words].concat());
    let error = run(&mut list(&["tracepoint"])).fails(1);
    assert!(
        error.starts_with("rprof: error: looking up '*:*': no permission to read"),
        "{error}"
    );
    let ran = run(&mut list(&[])).ok();
    assert!(
        ran.stdout.contains("page-faults") && !ran.stdout.contains("looking up"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stderr
            .starts_with("rprof: warning: looking up '*:*': no permission"),
        "{}",
        ran.stderr
    );
}
