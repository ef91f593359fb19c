//! Several recordings as one profile: the sum of the single ones.

use super::spin;
use crate::common::{fixtures, rprof, run, scratch};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Recordings of two programs on two machines: made by perf, compressed, and as a directory.
fn recordings() -> Vec<PathBuf> {
    let forms = fixtures().join("forms");
    vec![
        spin().join("perf.data"),
        fixtures().join("dwarf/perf.data"),
        forms.join("compressed.data"),
        forms.join("directory"),
    ]
}

/// Samples by row of a table with these keys, of all events.
fn rows(files: &[PathBuf], keys: &str) -> BTreeMap<String, u64> {
    let fields = format!("sample,{keys}");
    let options = ["--format", "csv", "-g", "none", "--no-children", "-F"];
    let table = run(rprof(["report"]).args(files).args(options).arg(&fields));
    let mut rows = BTreeMap::new();
    for line in table.ok().stdout.lines() {
        if let Some((samples, row)) = line.split_once(',')
            && let Ok(samples) = samples.parse::<u64>()
        {
            *rows.entry(row.to_owned()).or_default() += samples;
        }
    }
    rows
}

fn folded(files: &[PathBuf]) -> Vec<String> {
    let ran = run(rprof(["flame", "--folded", "--fold", "modules"]).args(files)).ok();
    ran.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn several_recordings_are_the_sum_of_the_single_ones() {
    let files = recordings();
    let mut sum = BTreeMap::new();
    for file in &files {
        for (row, samples) in rows(std::slice::from_ref(file), "comm,dso,sym") {
            *sum.entry(row).or_default() += samples;
        }
    }
    assert!(
        sum.len() > 4 && sum.values().all(|samples| *samples > 0),
        "{sum:?}"
    );
    assert_eq!(rows(&files, "comm,dso,sym"), sum);
    // The order of files matters for nothing that is counted.
    let backwards: Vec<PathBuf> = files.iter().rev().cloned().collect();
    assert_eq!(rows(&backwards, "comm,dso,sym"), sum);
}

#[test]
fn recordings_and_machines_are_told_apart_where_that_is_asked() {
    let files = recordings();
    let by_recording = rows(&files, "recording");
    for file in &files {
        let alone: u64 = rows(std::slice::from_ref(file), "comm").values().sum();
        assert_eq!(
            by_recording.get(&*file.to_string_lossy()),
            Some(&alone),
            "{by_recording:?}"
        );
    }
    let by_machine = rows(&files, "machine");
    let machines: Vec<&str> = by_machine.keys().map(String::as_str).collect();
    assert_eq!(machines, ["fixture", "vm"]);
}

#[test]
fn a_directory_stands_for_the_recordings_in_it() {
    let dir = scratch();
    let inside = dir.path().join("recordings");
    fs::create_dir(&inside).unwrap();
    let files = recordings();
    fs::copy(&files[0], inside.join("perf.data.2026010100")).unwrap();
    fs::copy(&files[2], inside.join("perf.data.2026010101")).unwrap();
    fs::write(inside.join("notes"), "no recording").unwrap();
    let expected = rows(&[files[0].clone(), files[2].clone()], "comm,dso");
    assert_eq!(rows(&[inside], "comm,dso"), expected);
    let empty = dir.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let said = run(rprof(["report"]).arg(&empty)).fails(1);
    assert!(said.contains("no recordings in this directory"), "{said}");
}

#[test]
fn stacks_of_several_recordings_are_one_graph() {
    let files = recordings();
    let count = |line: &String| -> u64 { line.rsplit_once(' ').unwrap().1.parse().unwrap() };
    let total = |files: &[PathBuf]| folded(files).iter().map(count).sum::<u64>();
    let alone = |file: &PathBuf| total(std::slice::from_ref(file));
    // Both have an event of one name.
    let pair = [files[0].clone(), files[0].clone()];
    assert_eq!(
        total(&pair),
        alone(&files[0]),
        "a recording given twice is read once"
    );
    let dir = scratch();
    let copy = dir.path().join("copy.data");
    fs::copy(&files[0], &copy).unwrap();
    assert_eq!(
        total(&[files[0].clone(), copy.clone()]),
        2 * alone(&files[0])
    );
    let chart = run(rprof(["flame", "--flamechart"]).args([&files[0], &copy])).ok();
    assert!(chart.stdout.contains("<title>spin"), "{}", chart.stderr);
    let json = run(rprof(["export", "--format", "json"]).args([&files[0], &copy]));
    let json: serde_json::Value = serde_json::from_str(&json.ok().stdout).unwrap();
    let samples = json.pointer("/events/0/samples");
    let samples = samples.and_then(serde_json::Value::as_u64);
    assert_eq!(samples, Some(2 * alone(&files[0])));
}

#[test]
fn stacks_of_code_are_counted_together() {
    let files = recordings();
    let dir = scratch();
    let copy = dir.path().join("copy.data");
    fs::copy(&files[0], &copy).unwrap();
    let callgrind = |files: &[&PathBuf]| {
        let ran = run(rprof(["export", "--format", "callgrind"]).args(files)).ok();
        let costs = ran
            .stdout
            .lines()
            .filter(|line| line.starts_with("summary:"));
        let words = costs
            .flat_map(|line| line.split(' ').skip(1))
            .map(str::parse);
        let totals: Vec<u64> = words.map(Result::unwrap).collect();
        (totals, ran.stdout.lines().count())
    };
    let (alone, n_lines) = callgrind(&[&files[0]]);
    let (both, n_lines_of_both) = callgrind(&[&files[0], &copy]);
    assert!(!alone.is_empty());
    assert_eq!(both, alone.iter().map(|cost| 2 * cost).collect::<Vec<_>>());
    assert_eq!(
        n_lines_of_both, n_lines,
        "the same code is counted at the same places"
    );
    let pprof = dir.path().join("all.pb.gz");
    run(rprof(["export", "-o"]).arg(&pprof).args(&files)).ok();
    assert!(fs::metadata(&pprof).unwrap().len() > 100);
}

#[test]
fn what_shows_one_recording_refuses_several() {
    let dir = scratch();
    let pair = ["a.data", "b.data"].map(|name| dir.path().join(name));
    for path in &pair {
        fs::copy(&recordings()[0], path).unwrap();
    }
    for (words, what) in [
        (&["report", "--tasks"][..], "--tasks or --mmaps"),
        (&["report", "--header"], "--header"),
        (&["flame", "--against", "x"], "--against"),
        (&["export", "--against", "x", "-o", "x.html"], "--against"),
    ] {
        let expected = format!("{what} reads one recording, but 2 were given");
        for given in [&[dir.path().to_owned()][..], &pair] {
            let said = run(rprof(words).args(given).current_dir(&dir)).fails(2);
            assert!(said.contains(&expected), "{said}");
        }
    }
}

#[test]
fn a_recording_that_cannot_be_read_is_named() {
    let said = run(rprof(["report"]).arg(&recordings()[0]).arg("missing.data")).fails(1);
    assert!(said.contains("missing.data"), "{said}");
}

#[test]
fn script_prints_one_recording_after_the_other() {
    let files = [spin().join("perf.data"), fixtures().join("dwarf/perf.data")];
    let script = |files: &[PathBuf], options: &[&str]| {
        let ran = run(rprof(["script"]).args(options).args(files)).ok();
        ran.stdout
    };
    let mut expected = String::new();
    for file in &files {
        expected += &format!("# recording: {}\n", file.display());
        expected += &script(std::slice::from_ref(file), &["-G"]);
    }
    assert_eq!(script(&files, &["-G"]), expected);
    let json: Vec<serde_json::Value> = script(&files, &["--json"])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let heads = json.iter().filter_map(|line| line.get("recording"));
    let heads: Vec<_> = heads.filter_map(serde_json::Value::as_str).collect();
    assert_eq!(heads, files.each_ref().map(|file| file.to_str().unwrap()));
    let alone = |file: &PathBuf| {
        script(std::slice::from_ref(file), &["--json"])
            .lines()
            .count()
    };
    assert_eq!(json.len(), files.iter().map(alone).sum::<usize>());
    let headers = script(&files, &["--header-only"]);
    assert_eq!(headers.matches("# hostname : ").count(), 2, "{headers}");
}

#[test]
fn a_filter_may_leave_no_samples_of_some_recordings() {
    let files = [spin().join("perf.data"), fixtures().join("dwarf/perf.data")];
    let ran = run(rprof(["script", "-G", "--comms", "spin"]).args(&files)).ok();
    assert!(!ran.stderr.contains("no samples match"), "{}", ran.stderr);
    let ran = run(rprof(["script", "-G", "--comms", "nobody"]).args(&files)).ok();
    assert!(ran.stderr.contains("no samples match"), "{}", ran.stderr);
}
