//! Files that are damaged, cut, or no recordings: an error or a warning, never a panic, a hang or
//! memory without bounds.
//!
//! Thousands of cases run in one process each test: the test starts itself again under a limit of
//! memory ([`batch`]), damages every recording there is ([`recordings`], [`edits`]) and does with
//! each what the sub-commands do ([`verbs`]).

mod batch;
mod edits;
mod recordings;
mod verbs;

use crate::common::{corpus, rprof, run, scratch, tool, write};
use rprof_abi::{
    AttrFlags, AttrSize, Encoder, Endian, Misc, PerfEventAttr, RawRecord, RecordHeader, RecordKind,
    SampleType,
};
use rprof_perfdata::file_kind;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

#[test]
fn a_cut_recording_is_an_error_or_a_warning() {
    batch::run(edits::cuts);
}

#[test]
fn every_byte_of_the_header_may_be_wrong() {
    batch::run(edits::head_bytes);
}

#[test]
fn lengths_and_counts_may_be_anything() {
    batch::run(edits::numbers);
}

#[test]
fn records_may_hold_anything() {
    batch::run(edits::random);
}

/// Samples of 64 KiB, as those with stacks are, and no rounds to order them by.
#[test]
fn large_samples_do_not_pile_up_in_memory() {
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let limit_kib = 200_000 + 40_000 * n_threads;
    let dir = scratch();
    let path = dir.path().join("perf.data");
    write_sparse(&path, 2 * limit_kib / 64);
    let mut limited = tool("sh");
    limited.args(["-c", "ulimit -v \"$0\" && exec \"$@\""]);
    limited.arg(limit_kib.to_string());
    limited
        .arg(env!("CARGO_BIN_EXE_rprof"))
        .args(["script", "-i"]);
    // Arenas take address space, not memory.
    let ran = run(limited.arg(&path).env("MALLOC_ARENA_MAX", "1")).ok();
    assert_eq!(ran.stdout.lines().count(), 2 * limit_kib / 64);
}

/// A recording of one event and so many samples, all of them zeros: holes in the file.
fn write_sparse(path: &Path, n_samples: usize) {
    const LEN: u16 = 65_528;
    let file = File::create(path).unwrap();
    let endian = Endian::NATIVE;
    let mut head = endian.bytes_u64(u64::from_le_bytes(*b"PERFILE2")).to_vec();
    head.extend(endian.bytes_u64(16));
    let sample_type = SampleType::IP.with(SampleType::TID).with(SampleType::TIME);
    let attr = PerfEventAttr {
        sample_type,
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..PerfEventAttr::default()
    };
    let mut body = Vec::new();
    attr.encode(&mut body, endian, AttrSize::VER0);
    let event = RawRecord {
        kind: file_kind::HEADER_ATTR,
        misc: Misc(0),
        body: &body,
    };
    event.encode(&mut head, endian).unwrap();
    file.write_all_at(&head, 0).unwrap();
    let header = RecordHeader {
        kind: RecordKind::SAMPLE,
        misc: Misc(0),
        size: LEN,
    };
    let mut sample = Vec::new();
    header.encode(&mut Encoder::new(&mut sample, endian));
    let at = |n: usize| (head.len() + n * usize::from(LEN)) as u64;
    for n in 0..n_samples {
        file.write_all_at(&sample, at(n)).unwrap();
    }
    file.set_len(at(n_samples)).unwrap();
}

#[test]
fn recordings_by_others_and_malformed_ones_are_survived() {
    let Some(dir) = corpus() else {
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
