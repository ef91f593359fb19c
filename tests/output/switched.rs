//! A recording in several files: each is complete by itself.

use crate::common::{
    Recording, Running, has, needs, number_after, number_before, perf, report, rprof, run, samples,
    scratch, signal, work::worker,
};
use std::path::{Path, PathBuf};

/// The finished files of a recording, in order of time.
pub(crate) fn finished(dir: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(dir).unwrap();
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    // Those that are still being written have other names.
    let is_finished = |name: &str| name.starts_with("perf.data.");
    paths.retain(|path| is_finished(path.file_name().unwrap().to_str().unwrap()));
    paths.sort();
    paths
}

pub(crate) fn samples_of(path: &Path) -> u64 {
    number_after(&report(path, &["-g", "none"]), "# Samples: ").unwrap()
}

/// A recorder of a shell that works on demand.
pub(crate) fn recorder(dir: &Path, args: &[&str]) -> Running {
    let mut record = rprof(["record", "-F", "999", "-e", "cpu-clock", "-o"]);
    record.arg(dir.join("perf.data")).args(args);
    Running::start(record.args(["--", "sh", "-c", &worker(10)]))
}

/// Has it go on in another file, after some work.
pub(crate) fn switch(recorder: &mut Running, dir: &Path) {
    let before = finished(dir).len();
    recorder.work();
    signal(recorder.pid(), "USR2");
    while finished(dir).len() == before {
        recorder.work();
    }
}

/// Has it work until this many files were finished, whichever of them are kept.
pub(crate) fn work_until_finished(recorder: &mut Running, dir: &Path, n: usize) -> Vec<PathBuf> {
    let mut seen: Vec<PathBuf> = Vec::new();
    while seen.len() < n {
        recorder.work();
        for file in finished(dir) {
            if !seen.contains(&file) {
                seen.push(file);
            }
        }
    }
    seen
}

#[test]
fn files_are_switched_on_a_signal_and_each_is_complete() {
    needs!(live);
    for how in ["auto", "fp"] {
        let dir = scratch();
        let args = ["--switch-output", "--call-graph", how];
        let mut recorder = recorder(dir.path(), &args);
        recorder.work();
        switch(&mut recorder, dir.path());
        switch(&mut recorder, dir.path());
        recorder.work();
        recorder.close_input();
        let ran = recorder.finish().ok();
        let files = finished(dir.path());
        assert_eq!(files.len(), 3, "{}", ran.stderr);
        assert!(!dir.path().join("perf.data").exists());
        assert!(ran.stderr.contains("continuing in"), "{}", ran.stderr);
        let sums: u64 = files.iter().map(|file| samples_of(file)).sum();
        assert_eq!(sums, samples(&ran.stderr), "{}", ran.stderr);
        for file in &files {
            // The program is named in each, and so is the kernel.
            let table = report(file, &["--no-children", "-g", "none", "--sort", "comm,dso"]);
            assert!(table.contains(" sh "), "{table}");
            assert!(!table.contains("[unknown]"), "{table}");
            let info = Recording {
                file: file.clone(),
                root: None,
                stderr: String::new(),
            }
            .info();
            for feature in ["hostname", "cmdline", "sample_time", "build_id"] {
                assert!(!info["features"][feature].is_null(), "{feature}");
            }
            if has("perf", "linux-perf") {
                let mut script = perf(["script", "-F", "comm,time,ip", "-G", "-i"]);
                let text = run(script.arg(file)).ok().stdout;
                assert_eq!(text.lines().count() as u64, samples_of(file), "{text}");
                let mut script = perf(["script", "-F", "comm,ip,sym,dso", "-G", "-i"]);
                let text = run(script.arg(file)).ok().stdout;
                assert!(!text.contains("([unknown])"), "{text}");
            }
        }
    }
}

#[test]
fn files_are_switched_by_size_and_only_the_last_are_kept() {
    needs!(live);
    let dir = scratch();
    let args = ["--switch-output=8K", "--switch-max-files", "2"];
    let mut recorder = recorder(dir.path(), &args);
    let seen = work_until_finished(&mut recorder, dir.path(), 4);
    recorder.close_input();
    let ran = recorder.finish().ok();
    let files = finished(dir.path());
    assert_eq!(files.len(), 2, "{}", ran.stderr);
    assert!(!files.contains(&seen[0]) && !files.contains(&seen[1]));
    let gone = number_before(&ran.stderr, " removed, the last").unwrap();
    let written = number_before(&ran.stderr, &format!(" files, {gone} removed")).unwrap();
    assert!(written >= 5, "{}", ran.stderr);
    assert_eq!(written - gone, 2, "{}", ran.stderr);
    let last = files.last().unwrap().to_str().unwrap();
    assert!(
        ran.stderr.contains(&format!("the last {last} ")),
        "{}",
        ran.stderr
    );
}

#[test]
fn everybodys_files_are_switched_by_time() {
    needs!(alone, all_cpus);
    let dir = scratch();
    let mut recorder = recorder(dir.path(), &["-a", "--switch-output=1s", "-z"]);
    while finished(dir.path()).len() < 2 {
        recorder.work();
    }
    recorder.close_input();
    recorder.finish().ok();
    for file in finished(dir.path()) {
        // What works runs from before the first file on, and has its name in all.
        let table = report(
            &file,
            &["--no-children", "-g", "none", "--sort", "comm,dso"],
        );
        assert!(samples_of(&file) > 0);
        assert!(table.contains(" sh "), "{table}");
    }
}

#[test]
fn files_keep_their_place_where_the_output_is_a_link() {
    needs!(live);
    let (dir, there) = (scratch(), scratch());
    let target = there.path().join("perf.data");
    std::os::unix::fs::symlink(target, dir.path().join("perf.data")).unwrap();
    let args = ["--switch-output", "--switch-max-files", "1"];
    let mut recorder = recorder(dir.path(), &args);
    recorder.work();
    switch(&mut recorder, there.path());
    recorder.work();
    recorder.close_input();
    let ran = recorder.finish().ok();
    let files = finished(there.path());
    let [file] = &files[..] else {
        panic!("{files:?}: {}", ran.stderr);
    };
    let file = file.display();
    let said = format!("files, 1 removed, the last {file} ");
    assert!(ran.stderr.contains(&said), "{}", ran.stderr);
}

#[test]
fn a_recording_ends_at_its_largest_size() {
    needs!(live);
    let dir = scratch();
    let mut recorder = recorder(dir.path(), &["--max-size", "8K"]);
    while recorder.type_in_if_open(b"\n") {}
    let ran = recorder.finish().ok();
    assert!(ran.stderr.contains("--max-size"), "{}", ran.stderr);
    let file = dir.path().join("perf.data");
    assert!(file.metadata().unwrap().len() >= 8 << 10);
    assert_eq!(samples_of(&file), samples(&ran.stderr));
}

#[test]
fn a_file_gets_the_time_of_its_end_as_name() {
    needs!(live);
    let dir = scratch();
    let mut recorder = recorder(dir.path(), &["--timestamp-filename"]);
    recorder.work();
    recorder.close_input();
    let ran = recorder.finish().ok();
    let [file] = &finished(dir.path())[..] else {
        panic!("{}", ran.stderr);
    };
    let name = file.file_name().unwrap().to_str().unwrap();
    let time = name.strip_prefix("perf.data.").unwrap();
    assert!(
        time.len() == 16 && time.bytes().all(|digit| digit.is_ascii_digit()),
        "{name}"
    );
    assert!(
        ran.stderr
            .contains(&format!("rprof report -i {}", file.display()))
    );
    assert_eq!(samples_of(file), samples(&ran.stderr));
}

#[test]
fn what_runs_is_described_at_the_end_or_not_at_all() {
    needs!(live);
    let dir = scratch();
    // Records with time 0 are those that describe what ran before.
    let described = |args: &[&str]| {
        let mut sleeper = Running::start(crate::common::tool("sh").args(["-c", &worker(20)]));
        let out = dir.path().join("perf.data");
        let mut record = rprof(["record", "-F", "999", "-e", "cpu-clock", "-o"]);
        record
            .arg(&out)
            .args(["-p", &sleeper.pid().to_string()])
            .args(args);
        let ran = crate::common::record_while(&mut record, || sleeper.work()).ok();
        assert!(samples(&ran.stderr) > 0);
        let recording = Recording::new(out, ran);
        let kinds: Vec<String> = recording
            .read("dump", &["--json"])
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .filter(|record| record["fields"]["pid"] == sleeper.pid())
            .map(|record| record["kind"].as_str().unwrap().to_owned())
            .collect();
        let table = recording.read("report", &["--no-children", "-g", "none", "--sort", "dso"]);
        (kinds, table, recording.stderr)
    };
    let first = |kinds: &[String], kind: &str| kinds.iter().position(|one| one == kind);
    let (kinds, table, _) = described(&[]);
    assert!(
        first(&kinds, "MMAP2") < first(&kinds, "SAMPLE"),
        "{kinds:?}"
    );
    assert!(!table.contains("[unknown]"), "{table}");
    // At the end, with the same stacks and names.
    let (kinds, table, said) = described(&["--tail-synthesize"]);
    assert!(
        first(&kinds, "MMAP2") > first(&kinds, "SAMPLE"),
        "{kinds:?}"
    );
    assert!(!table.contains("[unknown]"), "{table}");
    assert!(said.contains("all stacks complete"), "{said}");
    let (kinds, _, _) = described(&["--synth", "task"]);
    assert!(first(&kinds, "COMM").is_some() && first(&kinds, "MMAP2").is_none());
    let (kinds, _, _) = described(&["--synth", "no"]);
    assert_eq!(first(&kinds, "COMM"), None, "{kinds:?}");
}

#[test]
fn build_ids_at_the_end_are_left_out_if_so_asked() {
    needs!(live);
    let dir = scratch();
    for (flag, has_section) in [("--no-buildid", false), ("--no-buildid-cache", true)] {
        let mut recorder = recorder(dir.path(), &[flag]);
        recorder.work();
        recorder.close_input();
        let ran = recorder.finish().ok();
        let info = Recording::new(dir.path().join("perf.data"), ran).info();
        assert_eq!(!info["features"]["build_id"].is_null(), has_section);
    }
}

#[test]
fn what_needs_a_file_is_said() {
    for args in [
        &["--switch-output", "-o", "-"][..],
        &["--timestamp-filename", "-o", "-"],
        &["--switch-output", "--embed-symbols"],
        &["--switch-output=5"],
        &["--switch-max-files", "3"],
        &["--max-size", "5"],
    ] {
        let error = run(rprof(["record"]).args(args).arg("true")).fails(2);
        assert!(error.contains("--"), "{error}");
    }
}
