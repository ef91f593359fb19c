//! Switches that were lost: what threads did meanwhile is unknown.

use super::{record_rings, timehist};
use crate::common::{compile, needs, rprof, run, scratch, tracefs};
use serde_json::Value;

/// Where the kernel said that records were lost: the CPU, and when, nanoseconds.
fn losses(dump: &str) -> Vec<(u32, u64)> {
    let lines = dump.lines().filter(|line| line.contains(" LOST: "));
    let number = |line: &str, name: &str| -> Option<u64> {
        let (_, rest) = line.split_once(&format!(" {name} "))?;
        let end = rest.find(|c: char| !c.is_ascii_digit());
        rest[..end.unwrap_or(rest.len())].parse().ok()
    };
    let moments = lines.map(|line| {
        let cpu = u32::try_from(number(line, "cpu").unwrap()).unwrap();
        (cpu, number(line, "time_ns").unwrap())
    });
    moments.collect()
}

/// Microseconds of a time with three digits after the point (milliseconds), or six (seconds).
fn micros(text: &str) -> i64 {
    text.replace('.', "").parse().unwrap()
}

#[test]
fn no_run_or_wait_goes_on_where_switches_were_lost() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let program = dir.path().join("storm");
    compile(&program, include_str!("storm.c"), &["-O1"]);
    let events = ("sched:sched_switch,sched:sched_waking", "none");
    // A page for each CPU.
    let words = format!("exec {}", program.display());
    let file = record_rings(tracefs, dir.path(), (events, "1"), &words);
    let losses = losses(&run(rprof(["dump"]).arg(&file)).ok().stdout);
    assert!(!losses.is_empty());
    let all = run(rprof(["sched", "timehist"]).arg(&file)).ok();
    let rows = timehist(&all.stdout);
    assert!(rows.len() > 100, "{}", all.stdout);
    let mut n_known = 0;
    for ((end, cpu), (task, [wait, _, ran])) in &rows {
        let (wait, ran) = (micros(wait), micros(ran));
        let (end, cpu): (i64, u32) = (micros(end), cpu.parse().unwrap());
        // How long it ran may be what is not known.
        if ran == 0 {
            continue;
        }
        let start = end - ran;
        n_known += 1;
        for &(lost_cpu, lost_ns) in &losses {
            let lost = i64::try_from(lost_ns / 1000).unwrap();
            // Times are cut to microseconds.
            let has = |from: i64, to: i64| from + 2 < lost && lost + 2 < to;
            let is_on = lost_cpu == cpu;
            assert!(
                !(is_on && has(start, end)),
                "{task} on {cpu} until {end}: {lost}"
            );
            assert!(
                !has(start - wait, start),
                "{task} waits until {start}: {lost}"
            );
        }
    }
    assert!(n_known > 100, "{}", all.stdout);
    // It is said, in each table.
    for table in [
        &["sched"][..],
        &["sched", "timehist"],
        &["sched", "latency"],
    ] {
        let said = run(rprof(table).arg(&file)).ok().stderr;
        let line = said.lines().find(|line| line.contains("the kernel lost "));
        let line = line.unwrap_or_else(|| panic!("{said}"));
        assert!(
            line.contains("waits and runs (") && line.contains("left out"),
            "{line}"
        );
    }
    // The account of all time, and the path to an end, do not know either.
    let wall = run(rprof(["report", "--wall", "-s", "comm", "-i"]).arg(&file)).ok();
    assert!(
        wall.stderr.contains("records were lost meanwhile"),
        "{}",
        wall.stderr
    );
    let path = run(rprof(["critical", "--json", "-c", "storm"]).arg(&file)).ok();
    let path: Value = serde_json::from_str(&path.stdout).unwrap();
    let steps = path["steps"].as_array().unwrap();
    let unknown = steps.iter().filter(|step| step["doing"] == "unknown");
    assert!(unknown.count() > 0, "{path}");
}
