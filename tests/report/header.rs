//! `--header` is what perf prints of the same file, by the clock of UTC.

use crate::common::{self, fixtures, needs, perf, rprof, run, scratch};
use std::path::{Path, PathBuf};

/// The fixtures: files, pipes, compressed ones.
fn recordings() -> Vec<PathBuf> {
    let forms = ["compressed.data", "piped.data", "piped-compressed.data"];
    let forms = forms.map(|name| fixtures().join("forms").join(name));
    let others = ["dwarf", "spin"].map(|name| fixtures().join(name).join("perf.data"));
    others.into_iter().chain(forms).collect()
}

fn ours(args: &[&str], file: &Path) -> String {
    run(rprof(args).arg("-i").arg(file)).ok().stdout
}

fn assert_same(args: &[&str], file: &Path) {
    // perf has the date in local time.
    let theirs = run(perf(args).env("TZ", "UTC").arg("-i").arg(file)).ok();
    assert_eq!(
        ours(args, file),
        theirs.stdout,
        "{args:?} {}",
        file.display()
    );
}

#[test]
fn headers_of_fixtures_are_perfs() {
    needs!(perf);
    let _alone = common::alone();
    for file in recordings() {
        assert_same(&["report", "--header-only"], &file);
        assert_same(&["report", "--header-only", "-I"], &file);
        let is_piped = file.to_string_lossy().contains("piped");
        if !is_piped {
            // perf's script ends before it sees what is among the records.
            assert_same(&["script", "--header-only"], &file);
        }
    }
}

#[test]
fn headers_of_live_recordings_are_perfs() {
    needs!(alone, perf);
    let dir = scratch();
    let file = dir.path().join("perf.data");
    let events = "{cpu-clock,page-faults}";
    for options in [
        &["-e", events, "-k", "mono"][..],
        &[
            "-g",
            "-d",
            "-c",
            "100000",
            "-e",
            "cpu-clock:u,mem:0x1000:rw",
        ],
    ] {
        for mut record in [perf(["record"]), rprof(["record"])] {
            run(record
                .args(options)
                .arg("-o")
                .arg(&file)
                .args(["--", "true"]))
            .ok();
            assert_same(&["report", "--header-only", "-I"], &file);
        }
    }
}

#[test]
fn the_header_stands_before_what_is_shown() {
    let file = fixtures().join("spin/perf.data");
    for command in ["report", "script"] {
        let header = ours(&[command, "--header-only", "-I"], &file);
        assert!(
            header.starts_with("# ========\n# captured on    : "),
            "{header}"
        );
        let shown = ours(&[command], &file);
        assert_eq!(ours(&[command, "-I"], &file), header + &shown);
    }
}

#[test]
fn a_damaged_feature_is_said_and_the_others_are_shown() {
    let dir = scratch();
    let file = dir.path().join("perf.data");
    let mut bytes = std::fs::read(fixtures().join("spin/perf.data")).unwrap();
    let name = b"x86_64\0";
    let at = bytes
        .windows(name.len())
        .position(|bytes| bytes == name)
        .unwrap();
    // The length of the text, which stands before it.
    bytes[at - 4..at].copy_from_slice(&u32::MAX.to_ne_bytes());
    common::write(&file, &bytes);
    let ran = run(rprof(["report", "--header-only"]).arg("-i").arg(&file)).ok();
    assert!(
        ran.stderr.contains("damaged feature section ARCH"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stdout.contains("# arch :"), "{}", ran.stdout);
    assert!(ran.stdout.contains("# nrcpus online :"), "{}", ran.stdout);
}
