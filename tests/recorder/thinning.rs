//! `--samples-per-hour`: what is kept, and what it then stands for.

use crate::common::{Ran, Recording, needs, perf, rprof, run, scratch, signal, work::burn};
use crate::output::switched::{finished, recorder};
use serde_json::Value;
use std::path::Path;

fn info(file: &Path) -> Value {
    let info = run(rprof(["info", "--json", "-i"]).arg(file)).ok();
    serde_json::from_str(&info.stdout).unwrap()
}

/// How many samples were taken and kept, as the file says.
fn thinning(file: &Path) -> (u64, u64) {
    let info = info(file);
    let thinning = &info["features"]["thinning"];
    assert_eq!(thinning["samples_per_hour"], 36_000, "{info}");
    let number = |name| thinning[name].as_u64().unwrap();
    (number("taken"), number("kept"))
}

/// Nanoseconds between samples of a clock; the kernel may not allow the requested frequency.
fn period_ns(info: &Value) -> u64 {
    let attr = &info["events"][0]["attr"];
    1_000_000_000 / attr["sample_freq"].as_u64().unwrap()
}

/// Seconds from the first sample to the last, rounded up.
fn seconds(info: &Value) -> u64 {
    let time_ns = |name| info["records"][name].as_u64().unwrap();
    let span_ns = time_ns("last_sample_ns") - time_ns("first_sample_ns");
    span_ns.div_ceil(1_000_000_000)
}

/// The periods of a file's samples.
fn periods(file: &Path) -> Vec<u64> {
    let printed = run(rprof(["script", "-F", "period", "-i"]).arg(file)).ok();
    let words = printed.stdout.split_ascii_whitespace();
    words.map(|word| word.parse().unwrap()).collect()
}

fn record(dir: &Path, args: &[&str]) -> Ran {
    let mut record = rprof(["record", "-F", "5000", "--samples-per-hour", "36000"]);
    record
        .args(args)
        .args(["sh", "-c", &burn(150)])
        .current_dir(dir);
    run(&mut record).ok()
}

#[test]
fn periods_of_kept_samples_add_up_to_those_of_all() {
    needs!(live);
    let dir = scratch();
    let ran = record(dir.path(), &["-e", "cpu-clock"]);
    let file = dir.path().join("perf.data");
    let (taken, kept) = thinning(&file);
    let said = format!("kept {kept} of {taken} samples (--samples-per-hour)");
    assert!(
        ran.stderr.contains(&format!("{said} in perf.data")),
        "{ran:?}"
    );
    let periods = periods(&file);
    assert_eq!(periods.len() as u64, kept);
    let info = info(&file);
    // Ten a second, and a burst at the start and at the end.
    let bound = 10 * seconds(&info) + 200;
    assert!(kept > 10 && kept < bound && kept < taken, "{said}: {bound}");
    // A recorder that gets no CPU for a while finds a burst, and keeps little of it: what that stands for may be missing
    // at the end. How exact sums are is for the tests of thinning itself.
    let sum: u64 = periods.iter().sum();
    let all = taken * period_ns(&info);
    assert!(sum > all / 4 && sum < 4 * all, "{sum} of {all}");
    let recording = Recording::new(file, ran);
    let table = recording.read("report", &["-g", "none"]);
    assert!(table.contains(&format!("# Thinned: {said}\n")), "{table}");
    assert!(
        table.contains(&format!("# Event count (approx.): {sum}\n")),
        "{table}"
    );
    let header = recording.read("report", &["--header-only"]);
    assert!(header.contains(&format!("# thinned: {said}\n")), "{header}");
    // What counts samples elsewhere counts nanoseconds of a thinned clock.
    let folded = recording.read("flame", &["--folded"]);
    let counts = folded.lines().map(|line| line.rsplit_once(' ').unwrap().1);
    assert_eq!(
        counts.map(|n| n.parse::<u64>().unwrap()).sum::<u64>(),
        sum,
        "{folded}"
    );
}

#[test]
fn perf_counts_a_thinned_recording_alike() {
    needs!(perf, alone);
    let dir = scratch();
    let args = ["-e", "cpu-clock,page-faults", "--call-graph", "fp"];
    let ran = record(dir.path(), &args);
    let recording = Recording::new(dir.path().join("perf.data"), ran);
    let args = [
        "-g",
        "none",
        "--no-children",
        "-F",
        "overhead,period,sample,comm,dso",
        "-t",
        ";",
    ];
    let ours = recording.read("report", &args);
    let mut report = perf(["report", "--stdio", "-i"]);
    let theirs = run(report.arg(&recording.file).args(args)).ok();
    let rows = |table: &str| {
        let rows = table
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut rows: Vec<String> = rows.map(|line| line.replace(' ', "")).collect();
        rows.sort();
        rows
    };
    assert!(rows(&ours).len() > 1, "{ours}");
    assert_eq!(rows(&ours), rows(&theirs.stdout));
}

#[test]
fn each_of_several_files_says_what_it_kept() {
    needs!(live);
    let dir = scratch();
    let args = ["--samples-per-hour", "36000", "--switch-output"];
    let mut recorder = recorder(dir.path(), &args);
    for _ in 0..2 {
        let before = finished(dir.path()).len();
        for _ in 0..5 {
            recorder.work();
        }
        signal(recorder.pid(), "USR2");
        while finished(dir.path()).len() == before {
            recorder.work();
        }
    }
    recorder.close_input();
    let ran = recorder.finish().ok();
    let files = finished(dir.path());
    let counts: Vec<(u64, u64)> = files.iter().map(|file| thinning(file)).collect();
    for (file, &(taken, kept)) in files.iter().zip(&counts) {
        assert_eq!(periods(file).len() as u64, kept, "of {taken}");
    }
    let taken: u64 = counts.iter().map(|(taken, _)| taken).sum();
    let kept: u64 = counts.iter().map(|(_, kept)| kept).sum();
    assert!(kept < taken);
    let said = format!("kept {kept} of {taken} samples (--samples-per-hour)");
    assert!(ran.stderr.contains(&said), "{said}: {}", ran.stderr);
}

#[test]
fn what_would_be_wrong_if_samples_were_dropped_is_refused() {
    needs!(live);
    let dir = scratch();
    let refused = |args: &[&str], code| {
        let mut record = rprof(["record", "--samples-per-hour", "100"]);
        run(record
            .args(args)
            .args(["--", "true"])
            .current_dir(dir.path()))
        .fails(code)
    };
    for (args, code, said) in [
        (
            &["-e", "page-faults", "-c", "10"][..],
            1,
            "cannot thin 'page-faults",
        ),
        (&["-e", "{cpu-clock,page-faults}:S"], 1, "leave out :S"),
        (&["--overwrite"], 2, "'--overwrite'"),
        (&["-b"], 2, "'--branch-any'"),
        (&["-o", "-"], 2, "use -o FILE"),
    ] {
        let error = refused(args, code);
        assert!(error.contains(said), "{args:?}: {error}");
    }
    assert!(dir.path().read_dir().unwrap().next().is_none());
}
