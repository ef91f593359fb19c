//! Files that are damaged, cut, or no recordings: an error or a warning, never a panic or a hang.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

mod common;

use common::{corpus, fixtures, rprof, run, scratch, write};
use std::path::Path;

fn spin_recording() -> Vec<u8> {
    std::fs::read(fixtures().join("spin/perf.data")).unwrap()
}

/// Runs report and flame on a file; both must end by themselves, well or with one error line.
fn survives(path: &Path) {
    for args in [&["report"][..], &["flame", "--folded"]] {
        let ran = run(rprof(args).arg("-i").arg(path));
        assert!(
            matches!(ran.status.code(), Some(0 | 1)),
            "{}: {ran:?}",
            path.display()
        );
        assert!(
            !ran.stderr.contains("panicked"),
            "{}: {}",
            path.display(),
            ran.stderr
        );
        if ran.status.code() == Some(1) {
            assert!(
                ran.stderr.contains("error: "),
                "{}: {}",
                path.display(),
                ran.stderr
            );
        }
    }
}

#[test]
fn a_recording_cut_at_every_fiftieth_reads_or_says_why_not() {
    let bytes = spin_recording();
    let dir = scratch();
    for part in 0..50 {
        let path = dir.path().join("cut");
        write(&path, &bytes[..bytes.len() * part / 50]);
        survives(&path);
    }
}

#[test]
fn every_byte_of_the_header_may_be_wrong() {
    let bytes = spin_recording();
    let dir = scratch();
    for at in (0..104).step_by(4) {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0xff;
        let path = dir.path().join("flipped");
        write(&path, &bytes);
        survives(&path);
    }
}

#[test]
fn recordings_by_others_and_malformed_ones_are_survived() {
    let Some(dir) = corpus("recordings_by_others_and_malformed_ones_are_survived") else {
        return;
    };
    let mut n = 0;
    for folder in std::fs::read_dir(dir).unwrap() {
        let folder = folder.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(folder).unwrap() {
            survives(&file.unwrap().path());
            n += 1;
        }
    }
    assert!(n > 20, "only {n} files");
}

#[test]
fn what_is_no_recording_is_named() {
    let dir = scratch();
    let path = dir.path().join("x");
    let error = |bytes: &[u8]| {
        write(&path, bytes);
        run(rprof(["report", "-i"]).arg(&path)).fails(1)
    };
    assert!(error(b"").contains("it is empty"));
    assert!(error(b"#!/bin/sh\necho hello\n").contains("not a perf.data file"));
    assert!(error(&std::fs::read("/bin/sh").unwrap()[..4096]).contains("ELF"));
    let missing = dir.path().join("missing");
    let stderr = run(rprof(["report", "-i"]).arg(&missing)).fails(1);
    assert!(stderr.contains("rprof record"), "{stderr}");
    let stderr = run(rprof(["report", "-i"]).arg(dir.path())).fails(1);
    assert!(stderr.contains("directory"), "{stderr}");
}
