//! pprof profiles, read as recordings are.

use super::{read, spin};
use crate::common::{fixtures, needs, rprof, run, run_from, scratch, tool, write};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The fixture's recording, as rprof exports it.
fn exported(dir: &Path) -> PathBuf {
    let path = dir.join("spin.pb.gz");
    let mut export = rprof(["export", "--format", "pprof", "-o"]);
    export.arg(&path).arg("-i").arg(spin().join("perf.data"));
    run(export.arg("--symfs").arg(spin().join("root"))).ok();
    path
}

/// The rows of an event in a table in CSV, sorted; there is a column of events if there are several.
fn rows<'t>(table: &'t str, event: &str) -> Vec<&'t str> {
    let has_events = table.starts_with("event,");
    let of_event = |line: &'t str| match line.split_once(',') {
        Some((name, row)) if has_events => (name == event).then_some(row),
        _ => Some(line),
    };
    let mut rows: Vec<&str> = table.lines().skip(1).filter_map(of_event).collect();
    rows.sort_unstable();
    rows
}

#[test]
fn what_was_exported_has_the_same_rows_when_it_is_read_again() {
    let dir = scratch();
    let profile = exported(dir.path());
    for args in [
        &["--no-children", "-s", "sym"][..],
        &["--no-children", "-s", "comm,dso,sym"],
        &["--no-children", "-s", "pid,tid,sym"],
        &["--no-children", "-s", "srcline"],
        &["--children", "-s", "sym", "--no-inline"],
    ] {
        let table = [&["-g", "none", "--format", "csv"], args].concat();
        let expected = read("report", &table).ok().stdout;
        let again = run(rprof(["report"]).args(&table).arg(&profile))
            .ok()
            .stdout;
        let expected = rows(&expected, "cpu-clock:u");
        assert!(expected.len() >= 2, "{expected:?}");
        assert_eq!(rows(&again, "cpu-clock:u"), expected, "{args:?}");
    }
}

#[test]
fn every_view_takes_pprof_profiles() {
    let dir = scratch();
    let profile = exported(dir.path());
    let on = |args: &[&str]| run(rprof(args).arg(&profile)).ok().stdout;
    let folded = on(&["flame", "--folded"]);
    assert!(folded.contains(";work;hot;helper 149149149"), "{folded}");
    let script = on(&["script", "-F", "comm,pid,event,period,sym"]);
    assert!(
        script.contains("cpu-clock:u") && script.contains("93093093"),
        "{script}"
    );
    for (format, name) in [
        ("speedscope", "x.json"),
        ("firefox", "x.json.gz"),
        ("html", "x.html"),
    ] {
        let out = dir.path().join(name);
        let out = out.to_str().unwrap();
        on(&["export", "--format", format, "-o", out]);
        assert!(Path::new(out).metadata().unwrap().len() > 100, "{format}");
    }
    let recording = spin().join("perf.data");
    let mut diff = rprof(["diff", "--symfs"]);
    diff.arg(spin().join("root")).arg(&recording).arg(&profile);
    let diff = run(&mut diff).ok().stdout;
    assert!(
        diff.contains("# Event 'cpu-clock:u'") && diff.contains("helper"),
        "{diff}"
    );
    let code = run(rprof(["annotate", "hot", "-i"]).arg(&profile)).fails(1);
    assert!(code.contains("no addresses of code"), "{code}");
}

#[test]
fn standard_input_may_be_folded_text_or_a_profile() {
    let dir = scratch();
    let profile = exported(dir.path());
    let folded = dir.path().join("spin.folded");
    let text = run(rprof(["flame", "--folded", "-i"]).arg(&profile))
        .ok()
        .stdout;
    write(&folded, text.as_bytes());
    for file in [&profile, &folded] {
        let args = [
            "report",
            "--no-children",
            "-g",
            "none",
            "-s",
            "sym",
            "--format",
            "csv",
        ];
        let expected = run(rprof(args).arg(file)).ok().stdout;
        let from_file = run_from(rprof(args).args(["-i", "-"]), file).ok().stdout;
        assert_eq!(from_file, expected);
        // A pipe cannot be read twice.
        let mut pipe = tool("sh");
        pipe.args(["-c", "cat \"$0\" | \"$@\""]).arg(file);
        let reader = rprof(args);
        pipe.arg(reader.get_program()).args(reader.get_args());
        assert_eq!(run(pipe.arg("-")).ok().stdout, expected);
        for command in [
            &["flame", "--folded"][..],
            &["script"],
            &["export", "--format", "json"],
        ] {
            let read = run_from(rprof(command).arg("-"), file).ok().stdout;
            assert!(read.contains("helper"), "{command:?}: {read}");
        }
    }
}

/// Self weights by name, of an event.
fn flat(profile: &Path, event: &str) -> BTreeMap<String, u64> {
    let args = [
        "report",
        "--no-children",
        "-g",
        "none",
        "-F",
        "period,sym",
        "--format",
        "csv",
    ];
    let table = run(rprof(args).arg(profile)).ok().stdout;
    let rows = rows(&table, event).into_iter().map(|row| {
        let (weight, name) = row.split_once(',').unwrap();
        let name = name.trim_matches('"').trim_start_matches("[.] ");
        (
            name.trim_end_matches(" (inlined)").to_owned(),
            weight.parse().unwrap(),
        )
    });
    rows.collect()
}

#[test]
fn rows_of_profiles_of_go_are_those_of_its_own_tool() {
    needs!("go" in "golang-go");
    let dir = scratch();
    for (file, index, unit, event) in [
        ("cpu.pb.gz", "samples", "count", "samples"),
        ("cpu.pb.gz", "cpu", "ns", "cpu"),
        ("heap.pb.gz", "inuse_space", "B", "inuse_space/bytes"),
        ("heap.pb.gz", "alloc_objects", "count", "alloc_objects"),
    ] {
        let profile = fixtures().join("pprof").join(file);
        let mut pprof = tool("go");
        pprof.args([
            "tool",
            "pprof",
            "-symbolize=none",
            "-top",
            "-nodecount=0",
            "-nodefraction=0",
        ]);
        pprof.args([format!("-sample_index={index}"), format!("-unit={unit}")]);
        pprof
            .env("HOME", dir.path())
            .env("PPROF_TMPDIR", dir.path());
        let text = run(pprof.arg(&profile)).ok().stdout;
        let lines = text
            .lines()
            .skip_while(|line| !line.contains("flat%"))
            .skip(1);
        let expected = lines.filter_map(|line| {
            let mut words = line.split_whitespace();
            let flat = words
                .next()
                .unwrap()
                .trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let flat: u64 = flat.parse().unwrap();
            let name: Vec<&str> = words.skip(4).filter(|word| *word != "(inline)").collect();
            (flat > 0).then(|| (name.join(" "), flat))
        });
        let expected: BTreeMap<String, u64> = expected.collect();
        assert!(!expected.is_empty(), "{text}");
        assert_eq!(flat(&profile, event), expected, "{file} {index}");
    }
}

#[test]
fn a_profile_that_is_cut_off_is_refused() {
    let dir = scratch();
    let whole = std::fs::read(fixtures().join("pprof/cpu.pb.gz")).unwrap();
    let cut = dir.path().join("cut.pb.gz");
    write(&cut, &whole[..whole.len() - 20]);
    let said = run(rprof(["report"]).arg(&cut)).fails(1);
    assert!(
        said.contains("cut.pb.gz: pprof: the compressed data is cut off"),
        "{said}"
    );
}
