//! Records as old kernels wrote them. The recordings are made of bytes: no such kernel runs here.

use super::made::{HOT, Made, PID};
use crate::common::{fixtures, rprof, run, scratch};
use rprof_abi::{Encoder, Endian, Misc, RawRecord, RecordKind, Sample};
use std::path::Path;

/// Where the program of the fixture `spin` is mapped a second time.
const AGAIN: u64 = 0x7f00_0040_1000;
const VDSO: u64 = 0x7ffc_1000;

/// MMAP2 of Linux 3.12 to 3.15, and 3.10 of RHEL 7: without protection and flags.
fn old_mmap2(addr: u64, pgoff: u64, name: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    let mut encoder = Encoder::new(&mut body, Endian::NATIVE);
    encoder.i32(PID);
    encoder.i32(PID);
    for field in [addr, 0x1000, pgoff] {
        encoder.u64(field);
    }
    // Device, inode, its generation.
    encoder.bytes(&[0; 24]);
    encoder.c_str_padded(name);
    // What all records end with here: task and time.
    encoder.i32(PID);
    encoder.i32(PID);
    encoder.u64(1_000_000_000);
    let raw = RawRecord {
        kind: RecordKind::MMAP2,
        misc: Misc::USER,
        body: &body,
    };
    let mut record = Vec::new();
    raw.encode(&mut record, Endian::NATIVE).unwrap();
    record
}

fn record(path: &Path) {
    let mut made = Made::new(&[]);
    made.sideband = [
        old_mmap2(AGAIN, 0x1000, b"/tmp/rprof-fixture/spin"),
        old_mmap2(VDSO, VDSO, b"[vdso]"),
    ]
    .concat();
    let sample = |ip| Sample {
        ip: Some(ip),
        period: Some(1000),
        ..Sample::default()
    };
    made.write(path, &[sample(AGAIN + HOT % 0x1000), sample(VDSO + 0x700)]);
}

#[test]
fn mappings_of_old_kernels_have_their_files_and_offsets() {
    let dir = scratch();
    let file = dir.path().join("old");
    record(&file);
    let root = fixtures().join("spin/root");
    let read = |args: &[&str]| {
        let mut rprof = rprof(args);
        rprof.arg("-i").arg(&file).arg("--symfs").arg(&root);
        run(&mut rprof).ok().stdout
    };
    let script = read(&["script", "-F", "ip,sym,symoff,dso"]);
    let lines: Vec<&str> = script.lines().map(str::trim).collect();
    let expected = [
        "7f0000401000 hot+0x0 (/tmp/rprof-fixture/spin)",
        "7ffc1700 [unknown] ([vdso])",
    ];
    assert_eq!(lines, expected);
    let dump = run(rprof(["dump", "-i"]).arg(&file)).ok().stdout;
    assert!(dump.contains("/tmp/rprof-fixture/spin"), "{dump}");
    let table = read(&["report", "--no-children", "-g", "none", "-s", "dso,sym"]);
    assert!(table.contains("[.] hot"), "{table}");
    assert!(table.contains("[.] 0x0000000000000700"), "{table}");
}

/// The kernel that was recorded is not known: the vdso that runs here may be another.
#[test]
fn no_build_id_is_wanted_that_was_not_recorded() {
    let dir = scratch();
    let file = dir.path().join("old");
    record(&file);
    let symbols = run(rprof(["symbols", "--all", "-i"]).arg(&file))
        .ok()
        .stdout;
    let reason = "part of the recorded kernel, which may not be the running one";
    assert!(symbols.contains(reason), "{symbols}");
    // "another kernel's", in hexadecimal digits.
    assert!(!symbols.contains("616e6f74"), "{symbols}");
}
