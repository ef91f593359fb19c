//! Time in which the recording was paused, and CPUs that were left out: what threads do there is unknown, no wait.

use crate::common::{needs, rprof, run, scratch, tool, tracefs};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// Each thread's time by what it does, nanoseconds.
fn by_thread(file: &Path) -> BTreeMap<i64, u64> {
    let mut script = rprof(["script", "--wall", "-G", "--json", "-i"]);
    let lines = run(script.arg(file)).ok().stdout;
    let mut sums = BTreeMap::new();
    for line in lines.lines() {
        let sample: Value = serde_json::from_str(line).unwrap();
        // Other lines are of no samples.
        if let (Some(tid), Some(ns)) = (sample["tid"].as_i64(), sample["period"].as_u64()) {
            *sums.entry(tid).or_default() += ns;
        }
    }
    sums
}

/// The pause that all events have in common, and the shortest one, nanoseconds: they are paused one after the other.
fn pause(file: &Path) -> ((u64, u64), u64) {
    let info = run(rprof(["info", "--json", "-i"]).arg(file)).ok().stdout;
    let info: Value = serde_json::from_str(&info).unwrap();
    let all = info["features"]["pauses"].as_array().unwrap();
    let number = |pause: &Value, name: &str| pause[name].as_u64().unwrap();
    let mut events: Vec<u64> = all.iter().map(|one| number(one, "event_idx")).collect();
    events.dedup();
    assert_eq!(
        events.len(),
        all.len(),
        "more than one of an event: {all:?}"
    );
    let times = || {
        all.iter()
            .map(|one| (number(one, "start_ns"), number(one, "end_ns")))
    };
    let common = times().reduce(|one, other| (one.0.max(other.0), one.1.min(other.1)));
    let shortest = times().map(|(from, until)| until - from).min();
    (common.unwrap(), shortest.unwrap())
}

#[test]
fn pauses_are_unknown_in_every_account() {
    needs!(live, root);
    if tracefs().is_none() {
        return;
    }
    let dir = scratch();
    let file = dir.path().join("perf.data");
    run(tool("mkfifo")
        .arg(dir.path().join("words"))
        .arg(dir.path().join("acks")))
    .ok();
    let script = "exec 7<>words 8<>acks
        ask() { echo $1 >&7; read -r _ <&8; }
        waits() { for i in 1 2 3 4 5; do sleep 0.01; done; }
        waits; ask disable; sleep 1; ask enable; waits";
    let mut record = rprof([
        "record",
        "-q",
        "--off-cpu",
        "-a",
        "-m",
        "1024",
        "-o",
        "perf.data",
    ]);
    let record = record.args(["--control", "fifo:words,acks", "--", "bash", "-c", script]);
    let began = Instant::now();
    run(record.current_dir(dir.path())).ok();
    let took_ns = u64::try_from(began.elapsed().as_nanos()).unwrap();
    let ((from, until), shortest_ns) = pause(&file);
    assert!(shortest_ns >= 1_000_000_000, "{shortest_ns}");
    let most_ns = took_ns - shortest_ns;
    let sums = by_thread(&file);
    assert!(!sums.is_empty());
    for (tid, ns) in &sums {
        assert!(*ns <= most_ns, "{tid}: {ns} of {most_ns}");
    }
    let warned = run(rprof(["report", "--wall", "-i"]).arg(&file))
        .ok()
        .stderr;
    assert!(warned.contains("recording was paused 1 time"), "{warned}");
    assert!(!warned.contains("count as waiting"), "{warned}");
    // The table of `sched` has a column for it.
    let table = run(rprof(["sched"]).arg(&file)).ok();
    assert!(
        table.stderr.contains("recording was paused 1 time"),
        "{}",
        table.stderr
    );
    let rows = table.stdout.lines().filter(|line| line.contains("bash["));
    // Before the switches to wait, those that are forced, the moves and the name.
    let unknown = rows.map(|line| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        cells[cells.len() - 5].parse::<f64>().unwrap()
    });
    let most = unknown.fold(0.0, f64::max);
    assert!(most >= 1000.0, "{}", table.stdout);
    // Nothing leads through it either.
    let path = run(rprof(["critical", "--json", "-c", "bash"]).arg(&file))
        .ok()
        .stdout;
    let path: Value = serde_json::from_str(&path).unwrap();
    let steps = path["steps"].as_array().unwrap().iter();
    for step in steps.filter(|step| step["doing"] != "unknown") {
        let start = step["start_ns"].as_u64().unwrap();
        let end = start + step["duration_ns"].as_u64().unwrap();
        assert!(end <= from || start >= until, "{step}");
    }
}

#[test]
fn threads_that_leave_the_recorded_cpus_do_not_wait() {
    needs!(live, root);
    if tracefs().is_none() || std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return;
    }
    let dir = scratch();
    let file = dir.path().join("perf.data");
    // It runs on one CPU, then on another one that is not sampled, and never waits for long.
    let work = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    let words = format!(
        "taskset -pc 0 $$ >/dev/null; {work}; taskset -pc 1 $$ >/dev/null; {work}; {work}; \
                         taskset -pc 0 $$ >/dev/null; {work}"
    );
    let mut record = rprof(["record", "-q", "--off-cpu", "-C", "0", "-m", "4096", "-o"]);
    run(record.arg(&file).args(["--", "sh", "-c", &words])).ok();
    let warned = run(rprof(["report", "--wall", "-i"]).arg(&file))
        .ok()
        .stderr;
    assert!(!warned.contains("not recorded (-C)"), "{warned}");
    let path = run(rprof(["script", "--wall", "-c", "sh", "-G", "--json", "-i"]).arg(&file)).ok();
    let mut ns: BTreeMap<String, u64> = BTreeMap::new();
    for line in path.stdout.lines() {
        let sample: Value = serde_json::from_str(line).unwrap();
        if let (Some(state), Some(period)) = (sample["state"].as_str(), sample["period"].as_u64()) {
            *ns.entry(state.to_owned()).or_default() += period;
        }
    }
    // Half of its work and more is on the other CPU: there it ran, or was ready to.
    let blocked: u64 = ["sleeping", "disk sleep", "blocked"]
        .map(|state| ns.get(state).copied().unwrap_or(0))
        .iter()
        .sum();
    assert!(ns["running"] > blocked, "{ns:?}");
    // `sched` has no records of that CPU, and says so.
    let table = run(rprof(["sched"]).arg(&file));
    assert!(
        table.stderr.contains("not recorded (-C)"),
        "{}",
        table.stderr
    );
}
