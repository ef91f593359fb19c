//! Recordings that were never finished: what would say which kernel it was is not in them.

use crate::common::{not_run, rprof, run, scratch};
use crate::kernel::machine::{clock, mapping, push};
use rprof_abi::RecordKind;
use rprof_perfdata::Writer;
use std::fs::File;
use std::path::Path;

/// A recording that was never finished, of a sample in `schedule` of the kernel that runs here: from
/// its text's start, which is said to be `shift` bytes further, up to an end `longer` bytes further.
fn unfinished(file: &Path, symbols: &[u64; 3], (shift, longer): (u64, u64)) {
    let &[text, etext, schedule] = symbols;
    let mut records = Vec::new();
    let start = text + shift;
    let len = etext + longer - start;
    mapping(&mut records, start, len, start, b"[kernel.kallsyms]_text");
    let mut body = (schedule + 1).to_ne_bytes().to_vec();
    body.extend([7_i32, 7].map(i32::to_ne_bytes).concat());
    push(&mut records, RecordKind::SAMPLE, &body);
    let new = File::create(file).unwrap();
    let mut writer = Writer::start(new, file, &[clock()], Vec::new()).unwrap();
    writer.write(&records).unwrap();
}

/// Its release was to be written at the end. Kernels that are not of one length are of different
/// builds, wherever they are.
#[test]
fn a_recording_that_was_never_finished_has_the_names_of_the_kernel_that_still_runs() {
    let list = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    let address = |name: &str| {
        let line = list
            .lines()
            .find(|line| line[16..].ends_with(&format!(" {name}")))?;
        let address = u64::from_str_radix(&line[..16], 16).ok()?;
        Some(address).filter(|&address| address != 0)
    };
    let symbols = ["_text", "_etext", "schedule"].map(address);
    let [Some(text), Some(etext), Some(schedule)] = symbols else {
        not_run("the kernel hides its symbols");
        return;
    };
    let dir = scratch();
    let file = dir.path().join("perf.data");
    let named = |changes| {
        unfinished(&file, &[text, etext, schedule], changes);
        let fields = ["script", "-F", "ip,sym", "-i"];
        let ran = run(rprof(fields).arg(&file)).ok();
        assert!(
            ran.stderr.contains("did not end properly"),
            "{}",
            ran.stderr
        );
        ran.stdout.contains(" schedule")
    };
    assert!(named((0, 0)));
    assert!(!named((0, 0x1000)), "a kernel of another length");
    assert!(!named((0x10_0000, 0)), "a kernel at another place");
}
