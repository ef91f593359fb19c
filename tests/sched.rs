//! Runs and waits of threads: those that perf sched has, and those of programs that wait as told.

mod causes;
mod conservation;
mod critical;
mod firefox;
mod lost;
mod perfetto;
mod trace_messages;
mod trace_processor;
mod waiting;
mod waking;

use crate::common::{fixtures, needs, perf, rprof, run, scratch, tracefs};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Records the scheduler's events of the whole machine while `program` runs.
#[track_caller]
fn record(tracefs: crate::common::Tracefs, dir: &Path, program: &str) -> PathBuf {
    let events = "sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new";
    record_events(tracefs, dir, (events, "none"), program)
}

/// Records some events of the whole machine, with stacks of one kind.
#[track_caller]
fn record_events(
    tracefs: crate::common::Tracefs,
    dir: &Path,
    (events, stacks): (&str, &str),
    program: &str,
) -> PathBuf {
    record_rings(tracefs, dir, ((events, stacks), "4096"), program)
}

/// The same with rings of some pages.
#[track_caller]
fn record_rings(
    tracefs: crate::common::Tracefs,
    dir: &Path,
    ((events, stacks), pages): ((&str, &str), &str),
    program: &str,
) -> PathBuf {
    let file = dir.join("perf.data");
    let mut record = rprof(["record", "-q", "-a", "-m", pages, "--call-graph", stacks]);
    let record = record.args(["-e", events, "-o"]).arg(&file);
    run(&mut tracefs.within(record.args(["--", "sh", "-c", program]))).ok();
    file
}

/// Rows of timehist by time and CPU: task; wait time, delay and run time.
fn timehist(text: &str) -> BTreeMap<(String, String), (String, [String; 3])> {
    let rows = text.lines().filter_map(|line| {
        let (time, rest) = line.trim_start().split_once(' ')?;
        let (cpu, rest) = rest.trim_start().strip_prefix('[')?.split_once(']')?;
        let mut words = rest.split_whitespace().rev().map(str::to_owned);
        let mut times = [words.next()?, words.next()?, words.next()?];
        times.reverse();
        let mut task: Vec<String> = words.collect();
        task.reverse();
        Some(((time.to_owned(), cpu.to_owned()), (task.join(" "), times)))
    });
    rows.collect()
}

/// How many switches do not fit those before them, as a warning says.
fn contradictions(warnings: &str) -> usize {
    let said = warnings.lines().find(|line| line.contains(" not fit "));
    let words = said.map(|line| line.split_whitespace().filter_map(|word| word.parse().ok()));
    words.and_then(|mut numbers| numbers.next()).unwrap_or(0)
}

#[test]
fn runs_and_waits_are_those_of_perf() {
    needs!(perf);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let program = "(for i in 1 2 3 4 5; do sleep 0.01; done) & (while :; do :; done) & pid=$!; sleep 0.1; kill $pid";
    let file = record(tracefs, dir.path(), program);
    let ours = run(rprof(["sched", "timehist"]).arg(&file)).ok();
    let theirs = run(perf(["sched", "-i"])
        .arg(&file)
        .args(["timehist", "--no-call-graph"]))
    .ok();
    let n_contradictions = contradictions(&ours.stderr);
    let (ours, mut theirs) = (timehist(&ours.stdout), timehist(&theirs.stdout));
    // CPUs without a thread have rows of their own there.
    theirs.retain(|_, (task, _)| task != "<idle>");
    let moments = |rows: &BTreeMap<(String, String), _>| rows.keys().cloned().collect::<Vec<_>>();
    assert_eq!(moments(&ours), moments(&theirs));
    assert!(ours.len() > 10, "{ours:?}");
    let mut n_unknown = 0;
    for (moment, (task, times)) in &theirs {
        let (own_task, own_times) = &ours[moment];
        // What has ended has no id any more: perf takes it for one thread, whichever it is.
        if task.starts_with(":-1") {
            assert!(!own_task.starts_with(":-1"), "{own_task}");
            continue;
        }
        // perf has room for 31 characters.
        let own_task: String = own_task.chars().take(31).collect();
        let is_same = *task == own_task && times == own_times;
        // Where switches are missing, perf counts what others did.
        n_unknown += usize::from(!is_same);
        assert!(
            is_same || own_times[2] == "0.000",
            "{moment:?} {task} {times:?} {own_task} {own_times:?}"
        );
    }
    assert!(
        n_unknown <= n_contradictions,
        "{n_unknown} of {n_contradictions}"
    );
}

#[test]
fn the_recorders_own_switches_are_among_those_of_a_machine() {
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone, all_cpus);
    let dir = scratch();
    // A thread for each CPU that never waits: all others have to take it from one.
    let busy = "for cpu in $(seq $(nproc)); do while :; do :; done & all=\"$all $!\"; done";
    let program = format!("{busy}; for i in 1 2 3 4 5; do sleep 0.05; done; kill $all");
    let file = record(tracefs, dir.path(), &program);
    let script = run(rprof(["script", "-G", "-i"]).arg(&file)).ok().stdout;
    let of = |field: &str| script.lines().filter(|line| line.contains(field)).count();
    let (comes, leaves) = (of(" next_comm=rprof "), of(" prev_comm=rprof "));
    // Some kernels do not record how an idle CPU switches to it.
    assert!(comes > 0 && leaves > 0, "{comes} {leaves}");
    let said = run(rprof(["sched"]).arg(&file)).ok().stderr;
    assert!(!said.contains("only some threads"), "{said}");
}

#[test]
fn the_map_of_cpus_is_that_of_perf() {
    needs!(perf);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let program = "for i in 1 2 3 4 5 6 7 8 9; do sleep 0.005; done; (exec sleep 0.01) & wait";
    let file = record(tracefs, dir.path(), program);
    let ours = run(rprof(["sched", "map"]).arg(&file)).ok().stdout;
    let theirs = run(perf(["sched", "-i"]).arg(&file).arg("map")).ok().stdout;
    assert!(
        ours.lines().count() > 20 && ours.contains(" => sleep:"),
        "{ours}"
    );
    // Older ones end lines without a name with a blank.
    let lines = |text: &str| {
        text.lines()
            .map(|line| line.trim_end().to_owned())
            .collect::<Vec<_>>()
    };
    for (own, other) in lines(&ours).iter().zip(lines(&theirs)) {
        assert_eq!(*own, other);
    }
    assert_eq!(lines(&ours).len(), lines(&theirs).len());
    // Some threads alone: the same lines, without those of others.
    let some = run(rprof(["sched", "map", "-c", "sleep"]).arg(&file))
        .ok()
        .stdout;
    assert!(some.contains(" => sleep:") && some.lines().count() < ours.lines().count());
}

/// Rows of latency by the name of threads; and the total.
fn latencies(text: &str) -> BTreeMap<String, String> {
    let rows = text.lines().filter(|line| line.contains(" ms |"));
    let rows = rows.filter_map(|line| {
        let (task, rest) = line.split_once('|')?;
        let (name, _) = task.trim().rsplit_once(':')?;
        Some((name.to_owned(), rest.to_owned()))
    });
    rows.collect()
}

/// The names of threads that were ever preempted in the kernel, those that they had later, too.
fn preempted(script: &str) -> BTreeSet<String> {
    let switches = script.lines().filter_map(|line| {
        let (_, rest) = line.split_once("prev_comm=")?;
        let (name, rest) = rest.split_once(" prev_pid=")?;
        let (tid, rest) = rest.split_once(' ')?;
        Some((name, tid, rest.contains(" prev_state=R+ ==> ")))
    });
    let switches: Vec<(&str, &str, bool)> = switches.collect();
    let preempted = switches.iter().filter(|(.., is_preempted)| *is_preempted);
    let tids: BTreeSet<&str> = preempted.map(|(_, tid, _)| *tid).collect();
    let of_tids = switches.iter().filter(|(_, tid, _)| tids.contains(tid));
    of_tids.map(|(name, ..)| (*name).to_owned()).collect()
}

#[test]
fn delays_are_those_of_perf() {
    needs!(perf);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let file = dir.path().join("perf.data");
    let mut record = rprof(["record", "-q", "-a", "-m", "4096", "--call-graph", "none"]);
    // perf 6.1 asks for no other wake-ups than these.
    let wakeups =
        "sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_stat_runtime";
    let record = record.args(["-e", wakeups, "-o"]).arg(&file);
    let program = "(for i in 1 2 3 4 5; do sleep 0.01; done) & (while :; do :; done) & pid=$!; sleep 0.1; kill $pid";
    run(&mut tracefs.within(record.args(["--", "sh", "-c", program]))).ok();
    let ours = run(rprof(["sched", "latency"]).arg(&file)).ok();
    let theirs = run(perf(["sched", "-i"]).arg(&file).arg("latency")).ok();
    let script = run(rprof(["script", "-F", "event,trace", "-i"]).arg(&file)).ok();
    let n_contradictions = contradictions(&ours.stderr);
    let (ours, theirs) = (latencies(&ours.stdout), latencies(&theirs.stdout));
    assert!(ours.contains_key("sleep") && ours.len() > 3, "{ours:?}");
    // It reads their state behind the end of a table: what that is, nobody knows.
    let preempted = preempted(&script.stdout);
    let others = |rows: &BTreeMap<String, String>| -> BTreeSet<(String, String)> {
        // The total is that of all rows.
        let is_other = |name: &str| !preempted.contains(name) && name != "TOTAL";
        let others = rows.iter().filter(|(name, _)| is_other(name));
        others
            .map(|(name, row)| (name.clone(), row.clone()))
            .collect()
    };
    let (ours, theirs) = (others(&ours), others(&theirs));
    let different: Vec<_> = ours.symmetric_difference(&theirs).collect();
    assert!(different.len() <= 4 * n_contradictions, "{different:?}");
}

#[test]
fn a_sleep_is_a_wait_and_a_loop_a_run() {
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let program = "(exec sleep 0.3) & i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done; wait";
    let file = record(tracefs, dir.path(), program);
    let table = run(rprof(["sched", "-c", "sleep"]).arg(&file)).ok();
    let row = table.stdout.lines().find(|line| line.contains(" sleep["));
    let cells: Vec<&str> = row.unwrap().split_whitespace().collect();
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    // Its columns from behind: task, moves, forced, to wait, unknown, other, disk, sleep.
    let column = |from_behind: usize| number(cells[cells.len() - from_behind]);
    // Where the switch after it is missing, it is not known how long it slept.
    assert!(column(8) + column(5) >= 290.0, "{}", table.stdout);
    assert!(column(4) >= 1.0, "{}", table.stdout);
    // The account of CPUs is there, whichever threads are shown.
    let n_cpus = table
        .stdout
        .lines()
        .skip_while(|line| !line.contains("Busy %"))
        .count();
    assert!(n_cpus > 1, "{}", table.stdout);
    // What nobody is called is not there.
    let none = run(rprof(["sched", "-c", "nobody"]).arg(&file)).ok();
    assert!(none.stdout.starts_with("# 0 threads"), "{}", none.stdout);
}

#[test]
fn a_recording_without_switches_says_what_to_record() {
    let file = fixtures().join("spin").join("perf.data");
    for words in [&["sched"][..], &["sched", "timehist"]] {
        let refused = run(rprof(words).arg(&file));
        assert_eq!(refused.status.code(), Some(1));
        assert!(
            refused
                .stderr
                .contains("sched:sched_switch,sched:sched_waking"),
            "{}",
            refused.stderr
        );
    }
}
