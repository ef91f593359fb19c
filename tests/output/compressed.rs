//! `-z`: what is compressed is read as if it were not.

use crate::common::{
    Recording, Running, has, needs, number_after, perf, rprof, run, samples, scratch, signal,
    work::{burn, worker},
};
use std::fs::File;
use std::process::Stdio;

#[test]
fn a_compressed_recording_is_read_by_rprof_and_perf() {
    needs!(live);
    let dir = scratch();
    for level in ["-z", "-z19", "--compression-level=22"] {
        let out = dir.path().join("perf.data");
        let mut record = rprof(["record", level, "-F", "999", "-e", "cpu-clock", "-o"]);
        let ran = run(record.arg(&out).args(["--", "sh", "-c", &burn(20)])).ok();
        let n = samples(&ran.stderr);
        assert!(ran.stderr.contains("compressed from"), "{}", ran.stderr);
        let recording = Recording::new(out.clone(), ran);
        let table = recording.run("report", &["--stats"]);
        assert!(!table.stderr.contains("warning"), "{}", table.stderr);
        let table = recording.read("report", &["-g", "none"]);
        assert_eq!(number_after(&table, "# Samples: "), Some(n));
        let info = recording.info();
        let how = &info["features"]["compressed"];
        assert_eq!((&how["type"], &how["version"]), (&1.into(), &0.into()));
        if has("perf", "linux-perf") {
            let mut script = perf(["script", "-F", "comm,time,ip", "-G", "-i"]);
            let text = run(script.arg(&out)).ok().stdout;
            assert_eq!(text.lines().count() as u64, n, "{text}");
        }
    }
}

#[test]
fn context_switches_are_compressed_unless_that_is_not_wanted() {
    needs!(live);
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let recorded = |flags: &[&str]| {
        let mut record = rprof(["record", "-e", "cpu-clock", "-o"]);
        record.arg(&out).args(flags);
        run(record.args(["--", "sh", "-c", "sleep 0.01; true"])).ok()
    };
    for (flags, is_compressed) in [
        (&["--off-cpu"][..], true),
        (&["--off-cpu", "--no-compression"], false),
        (&["--off-cpu=0"], false),
        (&["--off-cpu=0", "-z"], true),
        (&["--no-compression"], false),
    ] {
        let ran = recorded(flags);
        let stderr = ran.stderr.clone();
        assert_eq!(
            stderr.contains("compressed from"),
            is_compressed,
            "{stderr}"
        );
        let n = samples(&stderr);
        let recording = Recording::new(out.clone(), ran);
        let how = &recording.info()["features"]["compressed"];
        assert_eq!(!how.is_null(), is_compressed, "{flags:?}");
        if has("perf", "linux-perf") {
            let mut script = perf(["script", "-F", "comm,time,ip", "-G", "-i"]);
            let text = run(script.arg(&out)).ok().stdout;
            assert_eq!(text.lines().count() as u64, n, "{text}");
        }
    }
}

#[test]
fn a_compressed_pipe_is_read_by_rprof_and_perf() {
    needs!(live);
    let dir = scratch();
    let piped = dir.path().join("piped.data");
    let mut record = rprof(["record", "-z", "-F", "999", "-e", "cpu-clock", "-o", "-"]);
    let child = record
        .args(["--", "sh", "-c", &burn(20)])
        .stdin(Stdio::null())
        .stdout(File::create(&piped).unwrap())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let ran = crate::common::finish(child).ok();
    let n = samples(&ran.stderr);
    let table = Recording::new(piped.clone(), ran).read("report", &["-g", "none"]);
    assert_eq!(number_after(&table, "# Samples: "), Some(n));
    if has("perf", "linux-perf") {
        let mut script = perf(["script", "-F", "comm,time,ip", "-G", "-i", "-"]);
        let text = crate::common::run_from(&mut script, &piped).ok().stdout;
        assert_eq!(text.lines().count() as u64, n, "{text}");
    }
}

#[test]
fn a_compressed_recording_whose_recorder_is_killed_has_what_was_flushed() {
    needs!(live);
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let mut record = rprof(["record", "-z", "-F", "999", "-e", "cpu-clock", "-o"]);
    record.arg(&out).args(["--", "sh", "-c", &worker(10)]);
    let mut recorder = Running::start(&mut record);
    recorder.work();
    let read = || {
        let mut report = rprof(["report", "-g", "none", "-i"]);
        let table = run(report.arg(&out)).stdout;
        number_after(&table, "# Samples: ").unwrap_or(0)
    };
    // Rounds are written while it goes on: nothing waits for a full block.
    while read() == 0 {
        recorder.work();
    }
    signal(recorder.pid(), "KILL");
    recorder.close_input();
    let ran = recorder.finish();
    assert_eq!(
        ran.stderr
            .lines()
            .filter(|line| line.contains("panicked"))
            .count(),
        0
    );
    assert!(read() > 0);
}

#[test]
fn a_level_that_there_is_not_is_an_error() {
    for level in ["-z-1", "-z1.5", "-zx"] {
        let error = run(&mut rprof(["record", level, "true"])).fails(2);
        assert!(error.contains("--compression-level"), "{error}");
    }
}
