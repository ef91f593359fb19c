//! Recorders that are killed, and disks that are full: what was written is read, by perf, too.

use crate::common::{
    Running, has, needs, number_after, perf, rprof, run, scratch, signal, tool,
    work::{burn, worker},
};
use std::path::Path;

/// Samples in a file that was not finished, by its report; none if nothing was written yet.
fn samples_of(file: &Path) -> u64 {
    let mut report = rprof(["report", "-g", "none", "-i"]);
    let ran = run(report.arg(file));
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    number_after(&ran.stdout, "# Samples: ").unwrap_or(0)
}

/// The same by perf.
fn samples_by_perf(file: &Path) -> u64 {
    let mut script = perf(["script", "-F", "comm,time,ip", "-G", "-i"]);
    let ran = run(script.arg(file));
    ran.stdout.lines().count() as u64
}

#[test]
fn whenever_a_recorder_is_killed_its_file_is_read() {
    needs!(live);
    let has_perf = has("perf", "linux-perf");
    // Moments are told by what is in the file.
    let lengths = [1u64, 300, 1000, 3000, 5000, 8000, 13_000, 21_000, 34_000];
    for (nth, length) in lengths.into_iter().enumerate() {
        let dir = scratch();
        let file = dir.path().join("perf.data");
        let mut record = rprof(["record", "-F", "4000", "-e", "cpu-clock", "-o"]);
        record.arg(&file);
        let is_compressed = nth % 3 == 2;
        if is_compressed {
            record.arg("-z");
        }
        let mut recorder = Running::start(record.args(["--", "sh", "-c", &worker(2)]));
        let len = || file.metadata().map_or(0, |file| file.len());
        while len() < length {
            recorder.work();
        }
        signal(recorder.pid(), "KILL");
        let pid = recorder.pid();
        // All of it, also what it has started.
        drop(recorder);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
        let n = samples_of(&file);
        assert!(n > 0 || length < 5000, "{length}: {n}");
        // perf needs to be told what a compressed record decompresses to.
        if has_perf && !is_compressed && n > 0 {
            assert_eq!(samples_by_perf(&file), n, "{length}");
        }
    }
}

#[test]
fn a_disk_that_gets_full_leaves_a_file_that_is_read() {
    needs!(alone, root, "unshare" in "util-linux");
    for flags in [&[][..], &["-z"]] {
        let dir = scratch();
        let disk = dir.path().join("disk");
        std::fs::create_dir(&disk).unwrap();
        // Of nobody else's: the disk goes with the shell.
        let script = "mount -t tmpfs -o size=32k none \"$1\" || exit 99
            shift 2
            \"$@\"
            status=$?
            cp \"$0/disk/perf.data\" \"$0\"
            exit $status";
        let mut shell = tool("unshare");
        shell
            .args(["-m", "sh", "-c", script])
            .arg(dir.path())
            .arg(&disk)
            .arg("--");
        shell.arg(env!("CARGO_BIN_EXE_rprof"));
        shell.args(["record", "-e", "cpu-clock", "-F", "9999", "-o"]);
        shell.arg(disk.join("perf.data")).args(flags);
        let ran = run(shell.args(["--", "sh", "-c", &burn(60)]));
        if ran.status.code() == Some(99) {
            crate::common::not_run("no tmpfs can be mounted");
            return;
        }
        let error = ran.fails(1);
        assert!(
            error.contains("No space left on device") && error.contains("readable"),
            "{error}"
        );
        let file = dir.path().join("perf.data");
        let n = samples_of(&file);
        assert!(n > 0, "{error}");
        // perf reads compressed records only where what follows them could be written, too.
        if flags.is_empty() && has("perf", "linux-perf") {
            assert_eq!(samples_by_perf(&file), n);
        }
    }
}
