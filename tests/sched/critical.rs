//! The critical path of a program whose end waits as told: its threads, its functions, and its samples in other readers.

use super::record_events;
use crate::common::{compile, needs, rprof, run, scratch, tracefs};
use serde_json::Value;
use std::path::Path;

/// `rprof critical --json` of a recording.
#[track_caller]
fn critical(file: &Path, options: &[&str]) -> Value {
    let json = run(rprof(["critical", "--json"]).arg(file).args(options)).ok();
    serde_json::from_str(&json.stdout).unwrap()
}

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap()
}

/// Nanoseconds in a list that fit.
fn sum(all: &Value, list: &str, name: &str, fits: impl Fn(&Value) -> bool) -> u64 {
    let rows = all[list].as_array().unwrap().iter();
    rows.filter(|row| fits(row))
        .map(|row| number(row, name))
        .sum()
}

/// Nanoseconds of the path that a thread does something.
fn of_thread(all: &Value, comm: &str, doing: &str) -> u64 {
    sum(all, "threads", "path_ns", |row| {
        row["comm"] == comm && row["doing"] == doing
    })
}

/// A time of a function of the program.
fn of_function(all: &Value, name: &str, time: &str) -> u64 {
    sum(all, "functions", time, |row| {
        row["symbol"] == format!("[.] {name}").as_str()
    })
}

/// Checks that all of a path is in each of its lists, once.
#[track_caller]
fn check_sums(all: &Value) {
    let len = number(all, "duration_ns");
    assert!(len > 0);
    assert_eq!(sum(all, "threads", "path_ns", |_| true), len);
    assert_eq!(sum(all, "steps", "duration_ns", |_| true), len);
    let known = sum(all, "functions", "path_self_ns", |_| true);
    assert_eq!(known + number(all, "unknown_ns"), len);
}

const MS: u64 = 1_000_000;

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
    let all = critical(&file, &["-c", "waits_for_slow"]);
    check_sums(&all);
    // in_slow works for 60 ms; what it waits for while that is nobody's work. A switch may be missing: then nobody knows
    // what its thread did, but that is little, as the recorder's own are there.
    let of = |comm: &str| sum(&all, "threads", "path_ns", |row| row["comm"] == comm);
    let known = |comm| of(comm) - of_thread(&all, comm, "waiting for a CPU");
    assert!(known("in_slow") >= 59 * MS, "{all}");
    assert!(of("in_quick") < MS, "{all}");
    assert!(of("waits_for_slow") >= 48 * MS, "{all}");
    let unknown = sum(&all, "threads", "path_ns", |row| row["doing"] == "unknown");
    assert!(2 * unknown < number(&all, "duration_ns"), "{all}");
    // The same as text: what is done, by whom; and step by step.
    let text = run(rprof(["critical", "-c", "waits_for_slow"]).arg(&file)).ok();
    assert!(
        text.stdout
            .starts_with("# Critical path of waits_for_slow[")
    );
    assert!(text.stdout.contains("running            in_slow["));
    let cpu_us = number(&all, "cpu_ns") / 1000;
    let measured = format!(
        "by context switches: {}.{:03} ms in all",
        cpu_us / 1000,
        cpu_us % 1000
    );
    assert!(
        text.stdout.contains(&measured),
        "{measured}: {}",
        text.stdout
    );
    let steps = run(rprof(["critical", "--steps", "-c", "waits_for_slow"]).arg(&file)).ok();
    let lines = steps.stdout.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.count(), all["steps"].as_array().unwrap().len());
    // Of several threads with such names, the one that ended last; others are named.
    let many = run(rprof(["critical", "--json", "-c", "in_*"]).arg(&file)).ok();
    let last: Value = serde_json::from_str(&many.stdout).unwrap();
    let said = many
        .stderr
        .lines()
        .find(|line| line.contains(" threads match:"));
    let said = said.unwrap_or_else(|| panic!("{}", many.stderr));
    let chosen = format!("{}[{}]", last["comm"].as_str().unwrap(), last["tid"]);
    assert!(said.contains(&chosen), "{said}");
    let (_, others) = said.split_once("for another: -t ").unwrap();
    let others = others
        .split([',', ' ', ')'])
        .filter(|word| !word.is_empty());
    let others: Vec<&str> = others.filter(|word| *word != "..").collect();
    assert!(others.len() >= 2, "{said}");
    for tid in others {
        let other = critical(&file, &["-t", tid]);
        assert_eq!(other["tid"].to_string(), tid);
        assert!(
            other["comm"].as_str().unwrap().starts_with("in_"),
            "{other}"
        );
        let end = |all: &Value| number(all, "start_ns") + number(all, "duration_ns");
        assert!(end(&other) <= end(&last), "{other}");
    }
    assert!(!text.stderr.contains("threads match"), "{}", text.stderr);
}

#[test]
fn functions_and_stacks_of_the_path_are_told_apart_from_all_others() {
    needs!(cc, live);
    if tracefs().is_none() {
        return;
    }
    let dir = scratch();
    let (program, file) = (dir.path().join("crit"), dir.path().join("perf.data"));
    let flags = [
        "-O1",
        "-pthread",
        "-fno-inline",
        "-fno-optimize-sibling-calls",
    ];
    compile(&program, include_str!("critical.c"), &flags);
    let mut record = rprof([
        "record",
        "-q",
        "--off-cpu",
        "-F",
        "1999",
        "-m",
        "1024",
        "-o",
    ]);
    run(record.arg(&file).arg("--").arg(&program)).ok();
    let all = critical(&file, &[]);
    check_sums(&all);
    assert_eq!(all["comm"], "crit");
    assert!(of_thread(&all, "in_slow", "running") >= 59 * MS, "{all}");
    let slow = of_function(&all, "slow", "path_ns");
    assert!(slow >= 55 * MS, "{all}");
    // It works for main, too, and in_quick, for which nobody waits.
    let work = ["path_ns", "cpu_ns", "saves_ns"].map(|time| of_function(&all, "work", time));
    assert!(work[0] >= 74 * MS && work[1] >= 84 * MS, "{all}");
    assert_eq!(work[2], work[0] / 10);
    assert!(of_function(&all, "usleep", "path_ns") >= 29 * MS, "{all}");
    assert!(of_function(&all, "usleep", "cpu_ns") < 3 * MS, "{all}");
    // What waits in the kernel is a cause: none of its functions has a wait, and causes come last.
    let is_cause = |row: &Value| row["cause"].is_string();
    let asleep = sum(&all, "functions", "path_self_ns", |row| {
        row["cause"] == "sleep" && row["symbol"] == "[sleep]"
    });
    assert!(asleep >= 29 * MS, "{all}");
    let functions = all["functions"].as_array().unwrap();
    assert!(functions.is_sorted_by_key(is_cause), "{all}");
    for row in functions.iter().filter(|row| !is_cause(row)) {
        let of_kernel = row["symbol"].as_str().unwrap().starts_with("[k]");
        assert!(
            !of_kernel || row["path_ns"] == row["path_cpu_ns"] && row["wall_ns"] == row["cpu_ns"],
            "{row}"
        );
    }
    let text = run(rprof(["critical"]).arg(&file)).ok().stdout;
    let (functions, causes) = text.split_once("What the path waits for").unwrap();
    assert!(
        functions.contains("[.] work") && !functions.contains("[sleep]"),
        "{text}"
    );
    assert!(
        causes.contains("[sleep]") && !causes.contains("[.] "),
        "{text}"
    );
    for other in ["quick", "keep_busy"] {
        let times = ["path_ns", "cpu_ns", "wall_ns"].map(|time| of_function(&all, other, time));
        assert!(
            times[0] < 2 * MS && times[2] >= times[1],
            "{other}: {times:?}"
        );
    }
    assert!(of_function(&all, "quick", "cpu_ns") >= 5 * MS, "{all}");
    // Other readers have the same time.
    let known = number(&all, "duration_ns") - number(&all, "unknown_ns");
    let script = run(rprof(["script", "--critical", "-G", "--json", "-i"]).arg(&file)).ok();
    let periods = script.stdout.lines().filter_map(|line| {
        let sample: Value = serde_json::from_str(line).unwrap();
        sample["period"].as_u64()
    });
    assert_eq!(periods.sum::<u64>(), known);
    let flame = run(rprof(["flame", "--critical", "--folded", "-i"]).arg(&file)).ok();
    let of_line = |line: &str| {
        Some((
            line.contains(";slow;"),
            line.rsplit_once(' ')?.1.parse::<u64>().ok()?,
        ))
    };
    let lines: Vec<_> = flame.stdout.lines().filter_map(of_line).collect();
    assert_eq!(lines.iter().map(|(_, ns)| ns).sum::<u64>(), known);
    assert!(lines.iter().any(|&(is_slow, ns)| is_slow && ns > 0));
    // Both apart in one table: the path is the same part of it.
    let keys = [
        "--wall",
        "-s",
        "critical",
        "--no-children",
        "--format",
        "csv",
        "-F",
    ];
    let fields = "critical,period";
    let table = run(rprof(["report"])
        .args(keys)
        .arg(fields)
        .arg("-i")
        .arg(&file))
    .ok();
    let yes = table
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("yes,"));
    assert_eq!(yes, Some(known.to_string().as_str()), "{}", table.stdout);
    // A part of it: what is on the path then, from half of the time on.
    let half_ns = number(&all, "start_ns") + number(&all, "duration_ns") / 2;
    let times = format!(
        "{}.{:09},",
        half_ns / 1_000_000_000,
        half_ns % 1_000_000_000
    );
    let half = critical(&file, &["--time", &times]);
    check_sums(&half);
    assert_eq!(number(&half, "start_ns"), half_ns);
    // Other readers cut at the same moment: both parts are the whole.
    let of_times = |times: &str| {
        let args = [
            "script",
            "--critical",
            "-G",
            "--json",
            "--time",
            times,
            "-i",
        ];
        let script = run(rprof(args).arg(&file)).ok().stdout;
        let period = |line: &str| serde_json::from_str::<Value>(line).unwrap()["period"].as_u64();
        script.lines().filter_map(period).sum::<u64>()
    };
    let (before, after) = (
        of_times(&format!(",{}", times.trim_end_matches(','))),
        of_times(&times),
    );
    assert_eq!(
        after,
        number(&half, "duration_ns") - number(&half, "unknown_ns")
    );
    assert_eq!(before + after, known);
    let end_ns = |all| number(all, "start_ns") + number(all, "duration_ns");
    assert_eq!(end_ns(&half), end_ns(&all));
    let said = run(rprof(["critical", "--time", ",0.000001"]).arg(&file)).fails(1);
    assert!(said.contains("in the times that are asked for"), "{said}");
    // In the middle of what main waits for, it is what in_slow does that counts.
    let mut threads = all["threads"].as_array().unwrap().iter();
    let slow = &threads.find(|row| row["comm"] == "in_slow").unwrap()["tid"];
    let steps = all["steps"].as_array().unwrap().iter();
    let steps = steps.filter(|step| step["tid"] == *slow);
    let step = steps
        .max_by_key(|step| number(step, "duration_ns"))
        .unwrap();
    let stop_ns = number(step, "start_ns") + number(step, "duration_ns") / 2;
    let times = format!(
        ",{}.{:09}",
        stop_ns / 1_000_000_000,
        stop_ns % 1_000_000_000
    );
    let part = critical(&file, &["--time", &times]);
    check_sums(&part);
    let last = part["steps"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["tid"], end_ns(&part)), (slow, stop_ns));
    assert_eq!(last["start_ns"], step["start_ns"]);
    let said = run(rprof(["critical", "--time", "1,2 3,4"]).arg(&file)).fails(2);
    assert!(said.contains("one span of time"), "{said}");
    // That of another thread, and of none.
    let said = run(rprof(["critical", "-t", "999999999"]).arg(&file)).fails(1);
    assert!(
        said.contains("no thread with a critical path is as asked for"),
        "{said}"
    );
    let pid = number(&all, "pid").to_string();
    assert_eq!(critical(&file, &["-p", &pid])["pid"], all["pid"]);
    let quick = critical(&file, &["-c", "in_quick"]);
    check_sums(&quick);
    assert_eq!(quick["comm"], "in_quick");
    let options = [
        "report",
        "--critical=in_quick",
        "-s",
        "comm",
        "--format",
        "csv",
        "-i",
    ];
    let table = run(rprof(options).arg(&file)).ok().stdout;
    assert!(
        table.contains("in_quick") && !table.contains("in_slow"),
        "{table}"
    );
}

/// Records a program with off-CPU time.
#[track_caller]
fn record_off_cpu(file: &Path, words: &[&str]) {
    let mut record = rprof(["record", "-q", "--off-cpu", "-m", "1024", "-o"]);
    run(record.arg(file).arg("--").args(words)).ok();
}

#[test]
fn who_answers_over_loopback_is_on_the_path() {
    needs!(cc, live, kernel);
    if tracefs().is_none() || std::net::TcpListener::bind("127.0.0.1:0").is_err() {
        return;
    }
    let dir = scratch();
    let (program, file) = (dir.path().join("asks"), dir.path().join("perf.data"));
    let flags = ["-O1", "-pthread"];
    compile(&program, include_str!("loopback.c"), &flags);
    for kind in ["tcp", "udp"] {
        record_off_cpu(&file, &[program.to_str().unwrap(), kind]);
        let all = critical(&file, &[]);
        check_sums(&all);
        assert!(of_thread(&all, "in_server", "running") >= 75 * MS, "{all}");
        assert!(of_thread(&all, "asks", "running") >= 15 * MS, "{all}");
        let table = ["report", "--off-cpu", "-s", "comm,waker", "--no-children"];
        let table = run(rprof(table).args(["--format", "csv", "-i"]).arg(&file)).ok();
        assert!(table.stdout.contains("asks,in_server"), "{}", table.stdout);
    }
}

#[test]
fn a_program_that_outlives_its_main_thread_ends_with_its_last_one() {
    needs!(cc, live);
    if tracefs().is_none() {
        return;
    }
    let dir = scratch();
    let (program, file) = (dir.path().join("asks"), dir.path().join("perf.data"));
    compile(&program, include_str!("loopback.c"), &["-O1", "-pthread"]);
    record_off_cpu(&file, &[program.to_str().unwrap(), "ends"]);
    let said = run(rprof(["critical"]).arg(&file)).ok().stderr;
    assert!(said.contains("to the end of in_rest["), "{said}");
    let rest = critical(&file, &[]);
    check_sums(&rest);
    assert_eq!(rest["comm"], "in_rest");
    // Less than its CPU time by what each switch takes itself.
    assert!(of_thread(&rest, "in_rest", "running") >= 45 * MS, "{rest}");
    // It begins with main, who made that thread.
    assert!(of_thread(&rest, "asks", "running") > 0, "{rest}");
    // The path to the end of the main thread is still there to be asked for.
    let main = critical(&file, &["-c", "asks"]);
    assert_eq!(of_thread(&main, "in_rest", "running"), 0, "{main}");
    // A command of which nothing ran while it was recorded.
    let other = dir.path().join("other.data");
    let mut slept = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .unwrap();
    let pid = slept.id().to_string();
    let mut record = rprof(["record", "-q", "--off-cpu", "-p", &pid, "-o"]);
    run(record.arg(&other).args(["--", "true"])).ok();
    slept.kill().unwrap();
    slept.wait().unwrap();
    let said = run(rprof(["critical"]).arg(&other)).fails(1);
    assert!(said.contains("no switches of its command"), "{said}");
}

#[test]
fn who_is_meant_has_to_be_clear() {
    let recording = crate::common::fixtures().join("spin/perf.data");
    for command in [&["critical"][..], &["report", "--critical", "-i"]] {
        let said = run(rprof(command).arg(&recording)).fails(1);
        assert!(said.contains("no context switches"), "{said}");
    }
    let said = run(rprof(["report", "-s", "critical", "-i"]).arg(&recording)).fails(1);
    assert!(said.contains("add --off-cpu or --wall"), "{said}");
}
