//! Folders of tables for query engines, read as recordings are.

use crate::common::{Recording, rprof, run, scratch};
use std::fs;
use std::path::{Path, PathBuf};

/// The tables of fixtures.
fn tables(dir: &Path, names: &[&str]) -> PathBuf {
    let folder = dir.join("profiles");
    for name in names {
        let mut export = Recording::fixture(name).command("export", &["--format", "parquet"]);
        run(export.arg("-o").arg(&folder)).ok();
    }
    folder
}

/// Lines of an answer, sorted. Of the quality, tables have other times, and no ends of stacks.
fn lines(text: &str) -> Vec<&str> {
    let known = |line: &&str| !line.starts_with("# Quality: ") && !line.starts_with("# Stacks: ");
    let mut lines: Vec<&str> = text.lines().filter(known).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn a_report_of_tables_is_that_of_the_recording() {
    for name in ["spin", "dwarf"] {
        let dir = scratch();
        let folder = tables(dir.path(), &[name]);
        let recording = Recording::fixture(name);
        for (command, args) in [
            ("report", &["--no-children", "-s", "sym", "-n"][..]),
            ("report", &["--children", "-g", "none", "-s", "sym"]),
            ("report", &["--no-children", "-g", "none", "-s", "dso"]),
            (
                "report",
                &["--no-children", "-g", "none", "-s", "comm,pid,tid"],
            ),
            (
                "report",
                &["--no-children", "-g", "none", "-s", "machine,srcline"],
            ),
            ("flame", &["--folded"]),
            ("flame", &["--folded", "--no-inline"]),
        ] {
            let expected = recording.read(command, args);
            let again = run(rprof([command]).args(args).arg(&folder)).ok().stdout;
            assert!(expected.lines().count() >= 2, "{expected}");
            assert_eq!(
                lines(&again),
                lines(&expected),
                "{name}: {command} {args:?}"
            );
        }
    }
}

#[test]
fn recordings_of_a_folder_are_one_profile_and_stay_apart() {
    let dir = scratch();
    let folder = tables(dir.path(), &["spin", "dwarf"]);
    let table = |args: &[&str]| run(rprof(["report", "-g", "none"]).args(args).arg(&folder)).ok();
    let apart = table(&["--no-children", "-s", "recording", "-n"]).stdout;
    let rows = apart.lines().filter(|line| line.contains("profiles/"));
    let rows: Vec<&str> = rows.collect();
    assert_eq!(rows.len(), 2, "{apart}");
    // What shows one recording takes it by its name.
    let name = rows[0].split_whitespace().last().unwrap();
    let name = Path::new(name).file_name().unwrap();
    let one = run(rprof(["script"]).arg(folder.join(name))).ok().stdout;
    assert!(!one.is_empty());
    let both = run(rprof(["script"]).arg(&folder)).ok().stdout;
    assert!(both.len() > one.len());
    let diff = run(rprof(["diff"]).arg(folder.join(name)).arg(&folder));
    let several = diff.fails(2);
    assert!(
        several.contains("tables of 2 recordings, and one is read: name it"),
        "{several}"
    );
}

#[test]
fn what_a_folder_lacks_is_said_and_shown_as_unknown() {
    let dir = scratch();
    let folder = tables(dir.path(), &["spin"]);
    let args = ["report", "--no-children", "-g", "none", "-s", "sym", "-n"];
    let read = || run(rprof(args).arg(&folder)).ok();
    fs::write(folder.join("samples/.rprof-x.parquet"), b"half").unwrap();
    let half = read();
    assert!(
        half.stderr
            .contains("half-written files (.rprof-*) are left out: 1"),
        "{}",
        half.stderr
    );
    assert!(half.stdout.contains("helper"), "{}", half.stdout);
    fs::remove_dir_all(folder.join("recordings")).unwrap();
    assert!(
        read()
            .stdout
            .contains("Samples: 212 of event 'cpu-clock:u'")
    );
    fs::remove_dir_all(folder.join("frames")).unwrap();
    let without_frames = read();
    let said = &without_frames.stderr;
    assert!(
        said.contains("frames of samples are not in the table frames"),
        "{said}"
    );
    fs::remove_dir_all(folder.join("stacks")).unwrap();
    let without_stacks = read();
    let said = &without_stacks.stderr;
    assert!(
        said.contains("212 samples have a stack that is not in the table stacks"),
        "{said}"
    );
    for ran in [without_frames, without_stacks] {
        let is_all = |line: &str| line.contains("100.00%") && line.contains("212");
        assert!(ran.stdout.lines().any(is_all), "{}", ran.stdout);
    }
}

#[test]
fn a_folder_that_costs_more_than_it_may_is_refused_with_the_option_that_allows_it() {
    let dir = scratch();
    let folder = tables(dir.path(), &["spin"]);
    for (option, expected) in [
        (
            "--max-spool",
            "needs more than 1024 bytes in a temporary file (--max-spool allows more)",
        ),
        (
            "--mem",
            "needs more than 1024 bytes of memory (--mem allows more)",
        ),
    ] {
        let error = run(rprof(["report", option, "1K"]).arg(&folder)).fails(1);
        assert!(error.contains(expected), "{error}");
    }
}
