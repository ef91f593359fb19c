//! The critical path of a program whose end waits as told.

use super::record_events;
use crate::common::{compile, needs, rprof, run, scratch, tracefs};
use std::path::Path;

/// Milliseconds on the path, by what is done and by whom; and of the whole path.
fn shares(file: &Path, options: &[&str]) -> (Vec<(f64, String)>, f64) {
    let table = run(rprof(["sched", "critical"]).arg(file).args(options)).ok();
    let lines = || table.stdout.lines();
    let number = |text: &str| text.parse::<f64>().unwrap();
    let head = lines().next().and_then(|line| line.split_once("]: "));
    let (len, _) = head.and_then(|(_, rest)| rest.split_once(" ms")).unwrap();
    let rows = lines().filter(|line| !line.starts_with('#')).map(|line| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        (number(cells[1]), cells[3..].join(" "))
    });
    (rows.collect(), number(len))
}

#[test]
fn the_critical_path_is_that_of_what_the_end_waits_for() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let program = dir.path().join("waits_for_slow");
    compile(&program, include_str!("critical.c"), &["-O1", "-pthread"]);
    let events = "sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new";
    let words = program.to_str().unwrap();
    let file = record_events(tracefs, dir.path(), (events, "none"), words);
    let (rows, len) = shares(&file, &["-c", "waits_for_slow"]);
    let sum = |what: &str| -> f64 {
        let of = rows.iter().filter(|(_, row)| row.contains(what));
        of.map(|(ms, _)| ms).sum()
    };
    // All rows together are the path; digits are cut.
    assert!((sum("") - len).abs() < 0.01 * rows.len() as f64, "{rows:?}");
    // in_slow works for 60 ms; what it waits for while that is nobody's work.
    assert!(sum("in_slow[") >= 59.0, "{rows:?}");
    assert!(sum("in_quick[") < 1.0, "{rows:?}");
    assert!(sum("waits_for_slow[") >= 48.0, "{rows:?}");
    // Its steps are the same path.
    let steps =
        run(rprof(["sched", "critical", "--steps", "-c", "waits_for_slow"]).arg(&file)).ok();
    let steps = steps.stdout.lines().filter(|line| !line.starts_with('#'));
    let steps: f64 = steps
        .map(|line| {
            line.split_whitespace()
                .nth(1)
                .unwrap()
                .parse::<f64>()
                .unwrap()
        })
        .sum();
    assert!(steps <= len && steps > 0.9 * len, "{steps} of {len}");
}

#[test]
fn who_is_meant_has_to_be_clear() {
    let recording = crate::common::fixtures().join("spin/perf.data");
    let said = run(rprof(["sched", "critical"]).arg(&recording)).fails(1);
    assert!(said.contains("sched:sched_switch"), "{said}");
}
