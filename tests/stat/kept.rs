//! Counts in files: perf reads ours, we read perf's, and damaged ones end in a line.

use crate::common::{needs, perf, rprof, run, scratch};
use crate::stat::{HIT, work};
use std::path::Path;

/// Words of the lines that a report shows, without those of what stands above and below the counts.
#[track_caller]
fn counts(text: &str) -> Vec<String> {
    let is_count = |line: &&str| line.starts_with("  ") && !line.contains("seconds");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().filter(is_count).map(words).collect()
}

#[track_caller]
fn ours(file: &Path) -> String {
    let mut report = rprof(["stat", "report", "--no-big-num", "-i"]);
    run(report.arg(file)).ok().stderr
}

#[track_caller]
fn perfs(file: &Path) -> String {
    let mut report = perf(["stat", "report", "-i"]);
    run(report.arg(file)).ok().stderr
}

#[test]
fn each_tool_reads_the_counts_of_both() {
    let Some(program) = work() else { return };
    needs!(perf, alone);
    let dir = scratch();
    let events = format!("page-faults:u,mem:{HIT:#x}:x,task-clock,stalled-cycles-frontend");
    for (tool, name) in [("rprof", "ours"), ("perf", "perfs")] {
        let file = dir.path().join(name);
        let words = [
            "stat",
            "record",
            "-e",
            &events,
            "-o",
            file.to_str().unwrap(),
        ];
        let mut record = if tool == "perf" {
            perf(words)
        } else {
            rprof(words)
        };
        run(record.arg("--").arg(program.path())).ok();
        let both = [ours(&file), perfs(&file)];
        let [shown, expected] = both.each_ref().map(|text| counts(text));
        assert_eq!(shown, expected, "{both:?}");
        assert_eq!(shown.len(), 4, "{shown:?}");
        assert!(shown[1].starts_with("1000 mem:"), "{shown:?}");
        let title = |text: &str| text.lines().nth(1).unwrap().to_owned();
        assert_eq!(title(&both[0]), title(&both[1]));
    }
}

#[test]
fn intervals_are_kept_one_by_one() {
    needs!(perf, alone);
    let dir = scratch();
    let file = dir.path().join("intervals");
    let mut record = rprof([
        "stat",
        "record",
        "-I",
        "10",
        "--interval-count",
        "3",
        "-e",
        "faults",
        "-o",
    ]);
    let said = run(record.arg(&file).args(["sleep", "300"])).stderr;
    let shown = ours(&file);
    assert_eq!(said, shown);
    assert_eq!(counts(&shown).len(), 3, "{shown}");
    let of = |text: &str| -> Vec<String> {
        let metric = |line: String| line.split(" #").next().unwrap().to_owned();
        counts(text).into_iter().map(metric).collect()
    };
    assert_eq!(of(&shown), of(&perfs(&file)));
}

#[test]
fn a_file_that_was_there_is_kept_and_damaged_ones_end_in_a_line() {
    needs!(alone);
    let dir = scratch();
    let stat = |words: &[&str]| {
        let mut command = rprof(["stat"].iter().chain(words));
        run(command.current_dir(dir.path()))
    };
    for _ in 0..2 {
        stat(&["record", "-e", "page-faults,task-clock", "true"]).ok();
    }
    assert!(dir.path().join("perf.data.old").exists());
    let whole = std::fs::read(dir.path().join("perf.data")).unwrap();
    let json = stat(&["report", "-j", "--global"]).ok().stderr;
    assert_eq!(json.lines().count(), 2, "{json}");
    let cut = dir.path().join("cut");
    for len in (0..whole.len()).step_by(40) {
        std::fs::write(&cut, &whole[..len]).unwrap();
        let ran = stat(&["report", "cut"]);
        let code = ran.status.code();
        assert!(code == Some(0) || code == Some(1), "{len}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{len}: {}", ran.stderr);
    }
    for at in (104..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        std::fs::write(&cut, &bytes).unwrap();
        let ran = stat(&["report", "-A", "cut"]);
        assert!(!ran.stderr.contains("panicked"), "{at}: {}", ran.stderr);
    }
    let samples = run(rprof(["record", "-q", "-o"]).arg(&cut).arg("true"));
    samples.ok();
    let said = stat(&["report", "cut"]).fails(1);
    assert!(said.contains("no counts"), "{said}");
    for (words, code, expected) in [
        (&["record", "-r", "2", "true"][..], 2, "one run"),
        (
            &["record", "-a", "-G", "/", "-e", "cs", "true"],
            2,
            "leave out -G",
        ),
        (&["report", "no-such-file"], 1, "no-such-file"),
    ] {
        let said = stat(words).fails(code);
        assert!(said.contains(expected), "{said}");
    }
}
