//! Threads that wait for each other as scripted: what for, and who wakes them.

use super::record_events;
use crate::common::{compile, needs, rprof, run, scratch, tracefs};
use std::collections::BTreeMap;

/// What each thread waits for most, and who ends that.
const SCRIPT: [(&str, &str, &str); 8] = [
    // The last of a barrier lets the others go.
    ("in_barrier1", "futex", "in_barrier3"),
    ("in_barrier2", "futex", "in_barrier3"),
    // A lock goes round.
    ("in_convoy1", "futex", "in_convoy3"),
    ("in_convoy2", "futex", "in_convoy1"),
    ("in_convoy3", "futex", "in_convoy2"),
    // One stage of a queue waits for the other one, that for time.
    ("in_stage2", "futex", "in_stage1"),
    ("in_stage1", "sleep", "[timer]"),
    ("in_barrier3", "sleep", "[timer]"),
];

/// Time off the CPU, nanoseconds, by what threads are called, their state, why, and who ended it.
type Waits = BTreeMap<[String; 4], u64>;

fn sum(waits: &Waits, fits: impl Fn([&str; 4]) -> bool) -> u64 {
    let all = waits.iter().filter(|(key, _)| {
        let [comm, state, cause, waker] = key;
        fits([comm, state, cause, waker])
    });
    all.map(|(_, ns)| ns).sum()
}

#[test]
fn each_thread_is_woken_by_the_one_that_it_waits_for() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let program = dir.path().join("wakes");
    compile(&program, include_str!("wakes.c"), &["-O1", "-pthread"]);
    let events = "sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new";
    let program = program.to_str().unwrap();
    let file = record_events(tracefs, dir.path(), (events, "fp"), program);
    let mut report = rprof(["report", "--off-cpu", "--no-children", "--format", "csv"]);
    let fields = ["-F", "comm,state,cause,waker,period", "-c", "/^in_/", "-i"];
    let table = run(report.args(fields).arg(&file)).ok().stdout;
    let rows = table.lines().filter_map(|line| {
        let mut cells = line.split(',').map(str::to_owned);
        let mut next = || cells.next();
        let key = [next()?, next()?, next()?, next()?];
        Some((key, next()?.parse().ok()?))
    });
    let waits: Waits = rows.collect();
    for (comm, cause, waker) in SCRIPT {
        let of = |asked: [&str; 2]| {
            sum(&waits, |[of, state, cause, waker]| {
                of == comm && state == "sleeping" && cause == asked[0] && waker == asked[1]
            })
        };
        let right = of([cause, waker]);
        // Some threads doze, too, before they let others go.
        let all = sum(&waits, |[of, state, cause, _]| {
            of == comm && state == "sleeping" && (cause != "sleep" || waker == "[timer]")
        });
        // Where an idle CPU takes a thread on unseen, nobody knows who woke it.
        let unknown = of([cause, "[unknown]"]);
        assert!(
            right > 0 && (right + unknown) * 100 >= all * 95,
            "{comm}: {right} of {all}\n{table}"
        );
    }
    // Interrupts are nobody's doing: who sleeps is woken by a timer alone.
    let by_others = sum(&waits, |[_, state, cause, waker]| {
        state == "sleeping" && cause == "sleep" && !waker.starts_with('[')
    });
    assert_eq!(by_others, 0, "{table}");
    // Where the kernel has it: a page comes when another thread brings it, each 20 ms later.
    let faults = sum(&waits, |[comm, _, cause, waker]| {
        (comm, cause, waker) == ("in_fault", "page fault", "brings_pages")
    });
    if waits.keys().any(|[comm, ..]| comm == "in_fault") {
        assert!(faults >= 100_000_000, "{table}");
    }
    // Two on one CPU: each has to leave it for the other one.
    let preempted = sum(&waits, |[comm, state, cause, waker]| {
        let is_either = ["in_preempt1", "in_preempt2"].contains(&comm);
        is_either && [state, cause, waker] == ["preempted", "runnable", "[none]"]
    });
    assert!(preempted >= 40_000_000, "{table}");
}
