//! Sums are equal in every format.

use crate::common::{Recording, scratch};
use crate::export::callgrind;
use crate::export::otlp;
use crate::export::pprof;
use crate::export::recordings::{index, several_events};
use crate::export::{firefox, speedscope};
use std::fs;
use std::path::Path;

/// Samples and weight of each event in every format, against the report's.
fn check(recording: &Recording, dir: &Path) {
    let totals = recording.totals();
    assert!(!totals.is_empty());
    let json = recording.export_json(dir, "profile.json", &[]);
    assert_eq!(json["schema"], "rprof-profile");
    assert_eq!(json["version"], 1);
    for (event, (name, samples, weight)) in totals.iter().enumerate() {
        let listed = &json["events"][event];
        assert_eq!(listed["name"], **name);
        assert_eq!(listed["samples"], *samples);
        assert_eq!(listed["weight"], *weight);
        let stacks = listed["stacks"].as_array().unwrap();
        let sum = |key: &str| {
            stacks
                .iter()
                .filter_map(|one| one[key].as_u64())
                .sum::<u64>()
        };
        assert_eq!(
            (sum("samples"), sum("weight")),
            (*samples, *weight),
            "{name}"
        );
        let outermost = stacks.iter().filter(|one| one.get("parent").is_none());
        let total: u64 = outermost.map(|one| one["total"].as_u64().unwrap()).sum();
        assert_eq!(total, *weight, "{name}");
        for (idx, stack) in stacks.iter().enumerate() {
            let parent = stack.get("parent").map(|parent| parent.as_u64().unwrap());
            assert!(parent.is_none_or(|parent| parent < idx as u64));
            let n_frames = json["frames"].as_array().unwrap().len() as u64;
            assert!(stack["frame"].as_u64().unwrap() < n_frames);
        }

        let folded = recording.export(dir, "stacks.folded", &["--event", name]);
        let folded = fs::read_to_string(folded).unwrap();
        let counts = folded.lines().map(|line| line.rsplit_once(' ').unwrap().1);
        let sum: u64 = counts.map(|count| count.parse::<u64>().unwrap()).sum();
        assert_eq!(sum, *samples, "{name}");
        let flame = recording.run("flame", &["--folded", "--event", name]);
        assert_eq!(flame.stdout, folded);
    }

    let firefox = recording.export_json(dir, "profile.json.gz", &[]);
    assert_eq!(firefox::checked(&firefox), totals);
    let plain = recording.export_json(dir, "firefox.json", &["--format", "firefox"]);
    assert_eq!(plain, firefox);
    let speedscope = recording.export_json(dir, "all.speedscope.json", &[]);
    assert_eq!(speedscope::checked(&speedscope, &totals), totals);
    let callgrind = callgrind::sums(&recording.export(dir, "profile.callgrind", &[]));
    let weights: Vec<u64> = totals.iter().map(|total| total.2).collect();
    assert_eq!(callgrind, weights);
    let otlp = otlp::totals(&fs::read(recording.export(dir, "profile.otlp", &[])).unwrap());
    assert_eq!(otlp, totals);
    if let Some(sums) = pprof::totals(&recording.export(dir, "profile.pb.gz", &[]), &totals) {
        assert_eq!(sums, totals);
    }
}

#[test]
fn every_format_has_the_reports_totals() {
    let dir = scratch();
    check(&Recording::fixture("spin"), dir.path());
    check(&Recording::fixture("dwarf"), dir.path());
}

#[test]
fn every_format_has_the_sum_of_several_recordings() {
    let dir = scratch();
    let folder = dir.path().join("recordings");
    fs::create_dir(&folder).unwrap();
    let [spin, dwarf] = ["spin", "dwarf"].map(Recording::fixture);
    for name in ["a", "b"] {
        fs::copy(&spin.file, folder.join(name)).unwrap();
    }
    let all = Recording {
        file: folder,
        ..spin.clone()
    };
    check(&all, dir.path());
    // The code of one program is there once, whoever ran it.
    let speedscope = |recording: &Recording| {
        let name = "all.speedscope.json";
        recording.export_json(dir.path(), name, &[])
    };
    let frames_of = |recording| speedscope(recording)["shared"]["frames"].clone();
    assert_eq!(frames_of(&all), frames_of(&spin));
    // An event that was sampled at two rates.
    fs::copy(&dwarf.file, all.file.join("c")).unwrap();
    let totals = all.totals();
    assert_eq!(speedscope::checked(&speedscope(&all), &totals), totals);
    let firefox = all.export_json(dir.path(), "all.json.gz", &[]);
    assert_eq!(firefox::checked(&firefox), totals);
}

#[test]
fn several_events_have_each_their_totals_whatever_threads_are_called() {
    let dir = scratch();
    let Some(recording) = several_events(dir.path()) else {
        return;
    };
    check(&recording, dir.path());
    // What tracepoints wrote comes along.
    let firefox = recording.export_json(dir.path(), "fields.json.gz", &[]);
    let threads = firefox["threads"].as_array().unwrap();
    let mut markers = threads
        .iter()
        .flat_map(|thread| thread["markers"]["data"].as_array().unwrap());
    let exit = markers.find(|data| data["type"] == "sched:sched_process_exit");
    let exit = exit.expect("a thread ended");
    assert!(exit["prio"].is_number(), "{exit}");
    let comm = index(&exit["comm"]);
    assert!(firefox["shared"]["stringArray"][comm].is_string(), "{exit}");
    // Of each of several recordings.
    let folder = dir.path().join("recordings");
    fs::create_dir(&folder).unwrap();
    for name in ["a", "b"] {
        fs::copy(&recording.file, folder.join(name)).unwrap();
    }
    let both = Recording {
        file: folder,
        ..recording
    };
    check(&both, dir.path());
}

#[test]
fn filters_are_the_reports() {
    let dir = scratch();
    let spin = Recording::fixture("spin");
    let args = ["--symbols", "cold"];
    let firefox = spin.export_json(dir.path(), "profile.json.gz", &args);
    assert_eq!(firefox::checked(&firefox)[0].1, 63);
    let folded = spin.export(dir.path(), "stacks.folded", &args);
    let folded = fs::read_to_string(folded).unwrap();
    assert_eq!(folded, "spin;[unknown];_start;work;cold 63\n");
}

#[test]
fn the_same_recording_gives_the_same_bytes() {
    let dir = scratch();
    for name in [
        "a.html",
        "a.json.gz",
        "a.speedscope.json",
        "a.pb.gz",
        "a.json",
    ] {
        let first = Recording::fixture("spin").export(dir.path(), name, &[]);
        let first = fs::read(first).unwrap();
        let again = Recording::fixture("spin").export(dir.path(), name, &[]);
        assert!(first == fs::read(again).unwrap(), "{name}");
    }
}
