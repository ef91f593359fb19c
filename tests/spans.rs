//! Spans of threads' time: a server whose requests are known, recorded and shown.

use crate::common::{Program, needs, not_run, perf, rprof, run, skipped};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const OPTIONS: &[&str] = &["-O1", "-fno-omit-frame-pointer", "-pthread"];
const SOURCE: &str = include_str!("spans/server.c");

fn server() -> Option<Program> {
    needs!(root, cc);
    if !Path::new("/sys/bus/event_source/devices/uprobe").exists() {
        skipped("a kernel with CONFIG_UPROBE_EVENTS");
        return None;
    }
    Program::new(SOURCE, OPTIONS)
}

/// `request=uprobe:PATH:begin_request..uprobe:PATH:end_request`.
fn span(program: &Program, name: &str) -> String {
    let at = program.path();
    let at = at.display();
    format!("{name}=uprobe:{at}:begin_{name}..uprobe:{at}:end_{name}")
}

/// Records what the server does, with spans of these names.
#[track_caller]
fn record(program: &Program, names: &[&str], options: &[&str], what: &[&str]) -> PathBuf {
    let out = program.file("perf.data");
    let mut record = rprof(["record", "-m", "1024", "-o"]);
    record.arg(&out).args(options);
    for name in names {
        record.args(["--span", &span(program, name)]);
    }
    run(record.arg("--").arg(program.path()).args(what)).ok();
    out
}

/// A report as JSON, and what was said.
#[track_caller]
fn report(file: &Path, options: &[&str]) -> (Value, String) {
    let mut report = rprof([
        "report",
        "--format",
        "json",
        "--no-children",
        "--show-total-period",
        "-g",
        "none",
        "-i",
    ]);
    let ran = run(report.arg(file).args(options)).ok();
    (serde_json::from_str(&ran.stdout).unwrap(), ran.stderr)
}

/// Rows of the first event: the value of a column, and weights.
fn rows(report: &Value, column: &str) -> Vec<(String, u64)> {
    let rows = report["events"][0]["rows"].as_array().unwrap().iter();
    let row = |row: &Value| {
        let name = row[column].as_str().unwrap().to_owned();
        (name, row["period"].as_u64().unwrap())
    };
    rows.map(row).collect()
}

fn spans(report: &Value) -> Vec<(String, u64, u64)> {
    let spans = report["spans"].as_array().unwrap().iter();
    let number = |span: &Value, name: &str| span[name].as_u64().unwrap();
    let spans = spans.map(|span| {
        let name = span["name"].as_str().unwrap().to_owned();
        (name, number(span, "count"), number(span, "total_ns"))
    });
    spans.collect()
}

#[test]
fn slow_requests_show_what_the_plain_profile_hides() {
    let Some(program) = server() else { return };
    needs!(live);
    let file = record(&program, &["request"], &["-e", "cpu-clock"], &["serve"]);
    let symbols = |options: &[&str]| {
        let (report, _) = report(&file, &[&["-s", "sym", "--no-inline"], options].concat());
        let mut rows = rows(&report, "sym");
        for (name, _) in &mut rows {
            *name = name.trim_start_matches("[.] ").to_owned();
        }
        rows
    };
    assert_eq!(symbols(&[])[0].0, "usual_path");
    let slow = symbols(&["--slower-than", "p99"]);
    assert_eq!(slow[0].0, "planted_path", "{slow:?}");
    assert_eq!(
        symbols(&["--slower-than", "request:15ms"])[0].0,
        "planted_path"
    );
    // The others never take it, and both together are all samples in spans.
    let fast = symbols(&["--faster-than", "15ms"]);
    assert!(
        fast.iter().all(|(name, _)| name != "planted_path"),
        "{fast:?}"
    );
    let sum = |rows: &[(String, u64)]| rows.iter().map(|(_, weight)| weight).sum::<u64>();
    let (by_span, _) = report(&file, &["-s", "span"]);
    let in_spans = rows(&by_span, "span")
        .into_iter()
        .find(|(name, _)| name == "request");
    let slower = sum(&symbols(&["--slower-than", "15ms"]));
    assert_eq!(slower + sum(&fast), in_spans.unwrap().1);
}

#[test]
fn a_table_of_spans_counts_each_and_perf_reads_their_events() {
    let Some(program) = server() else { return };
    needs!(perf, live);
    let file = record(&program, &["request"], &["-e", "cpu-clock"], &["serve"]);
    let (by_span, said) = report(&file, &["--by-span"]);
    let all = spans(&by_span);
    assert_eq!(
        (all.len(), &*all[0].0, all[0].1),
        (1, "request", 1000),
        "{said}"
    );
    // Ten of them work for 20 ms of their own time, all for 0.3 ms.
    assert!(all[0].2 > 10 * 20_000_000 + 1000 * 300_000, "{all:?}");
    assert!(by_span["spans"][0]["max_ns"].as_u64().unwrap() > 20_000_000);
    let text = run(rprof(["report", "--by-span", "-i"]).arg(&file))
        .ok()
        .stdout;
    let heading = text.find("p99 ms").unwrap();
    assert!(text.find("usual_path").unwrap() > heading, "{text}");
    // The events that begin and end them say nothing of where time goes.
    assert!(!text.contains("begin_request"), "{text}");
    let script = run(perf(["script", "-F", "event", "-i"]).arg(&file))
        .ok()
        .stdout;
    for edge in ["begin_request", "end_request"] {
        assert_eq!(
            script.lines().filter(|line| line.contains(edge)).count(),
            1000
        );
    }
    // What slow requests take that others do not.
    let diff = run(rprof(["diff", "--slower-than", "15ms", "-s", "sym"]).arg(&file))
        .ok()
        .stdout;
    let row = diff.lines().find(|line| line.contains("planted_path"));
    assert!(row.is_some() && diff.contains("begin_request"), "{diff}");
}

#[test]
fn waits_belong_to_the_span_that_they_are_in() {
    let Some(program) = server() else { return };
    needs!(alone);
    let names = ["request", "query"];
    let file = record(
        &program,
        &names,
        &["--off-cpu", "-e", "cpu-clock"],
        &["queries"],
    );
    let (by_span, said) = report(&file, &["--off-cpu", "-s", "span,state"]);
    let rows = by_span["events"][0]["rows"].as_array().unwrap();
    let slept = |span: &str| {
        let rows = rows.iter().filter(|row| row["span"] == span);
        let waiting = rows.filter(|row| row["state"] != "preempted" && row["state"] != "runnable");
        waiting
            .map(|row| row["period"].as_u64().unwrap())
            .sum::<u64>()
    };
    let ms = 1_000_000;
    assert!(slept("query") >= 20 * 5 * ms, "{by_span} {said}");
    assert!(
        slept("request") >= 20 * ms && slept("request") < slept("query"),
        "{by_span}"
    );
    assert!(slept("[none]") >= 20 * 2 * ms, "{by_span}");
    // Of twenty, none is slower than 99 %.
    let diff = run(rprof(["diff", "--slower-than", "request:p99", "--off-cpu"]).arg(&file)).ok();
    let why = "request: 20 spans: p99 is the longest, and none is slower";
    assert!(diff.stderr.contains(why), "{}", diff.stderr);
    let (by_span, _) = report(&file, &["--by-span", "--wall"]);
    let all = spans(&by_span);
    let total = |name: &str| all.iter().find(|(own, ..)| own == name).unwrap().2;
    assert!(slept("query") <= total("query") && total("query") < total("request"));
}

#[test]
fn spans_may_be_of_tracepoints_and_markers_and_of_the_whole_machine() {
    let Some(program) = server() else { return };
    needs!(alone);
    let at = program.path().display().to_string();
    let nap = "nap=syscalls:sys_enter_clock_nanosleep..syscalls:sys_exit_clock_nanosleep";
    let marked = format!("marked=usdt:{at}:server:query_begins..usdt:{at}:server:query_ends");
    let request = span(&program, "request");
    for everybody in [&[][..], &["-a"]] {
        let file = program.file("perf.data");
        let mut record = rprof([
            "record",
            "-q",
            "-m",
            "1024",
            "--off-cpu",
            "-e",
            "cpu-clock",
            "-o",
        ]);
        record.arg(&file).args(everybody);
        record.args(["--span", nap, "--span", &marked, "--span", &request]);
        run(record.arg("--").arg(program.path()).arg("queries")).ok();
        let (table, said) = report(&file, &["--by-span", "--wall"]);
        let all = spans(&table);
        let of = |name: &str| all.iter().find(|(own, ..)| own == name).cloned().unwrap();
        assert_eq!((of("marked").1, of("request").1), (20, 20), "{said}");
        // Others sleep, too, where everybody is recorded.
        let n_naps = of("nap").1;
        assert!(
            n_naps == 60 || !everybody.is_empty() && n_naps > 60,
            "{all:?}"
        );
        assert!(of("nap").2 >= 20 * 8_000_000, "{all:?}");
        assert!(
            of("marked").2 >= 20 * 5_000_000 && of("marked").2 < of("request").2,
            "{all:?}"
        );
        // What a thread waits in a nap is in the innermost span.
        let comm = at.rsplit('/').next().unwrap();
        let own = ["-c", comm, "--off-cpu", "-s", "span,cause"];
        let (waits, said) = report(&file, &own);
        let rows = waits["events"][0]["rows"].as_array().unwrap().iter();
        let asleep = rows.filter(|row| row["cause"] == "sleep");
        // Some virtual machines do not trace idle CPUs, and so not who runs next: then that is said.
        let is_said = said.contains("not fit what was recorded before") && !everybody.is_empty();
        assert!(asleep.clone().count() > 0 || is_said, "{waits} {said}");
        if asleep.clone().count() == 0 {
            not_run("the rest: idle CPUs are not traced here");
        }
        assert!(asleep.clone().all(|row| row["span"] == "nap"), "{waits}");
    }
}

#[test]
fn percentiles_of_several_recordings_are_those_of_all_spans() {
    let Some(program) = server() else { return };
    needs!(live);
    let of = |name: &str, what: &str| {
        let file = record(&program, &["request"], &["-e", "cpu-clock"], &[what]);
        let own = program.file(name);
        std::fs::rename(file, &own).unwrap();
        own
    };
    // Of twenty requests, none is slower than 98 % of them; of all 1020, twenty are.
    let (served, queries) = (of("a.data", "serve"), of("b.data", "queries"));
    let said = |files: &[&Path]| {
        let mut report = rprof(["report", "-s", "sym", "--slower-than", "p98"]);
        run(report.args(files)).ok().stderr
    };
    let why = "p98 is the longest, and none is slower";
    assert!(said(&[&queries]).contains(why));
    let together = said(&[&served, &queries]);
    assert!(!together.contains(why), "{together}");
}

#[test]
fn marker_files_are_spans_and_a_wait_is_cut_where_one_ends() {
    let Some(program) = Program::new(SOURCE, OPTIONS) else {
        return;
    };
    needs!(live);
    let out = program.file("perf.data");
    let mut record = rprof(["record", "-q", "--off-cpu=0", "-e", "cpu-clock:u", "-o"]);
    record
        .arg(&out)
        .arg("--")
        .arg(program.path())
        .arg("mark")
        .arg(program.dir());
    let half_ns: u64 = run(&mut record).ok().stdout.trim().parse().unwrap();
    let (on_cpu, said) = report(&out, &["-s", "span"]);
    assert!(
        said.contains("1 line of a marker file was ignored"),
        "{said}"
    );
    assert_eq!(rows(&on_cpu, "span")[0].0, "load page");
    let (waits, said) = report(&out, &["--off-cpu", "-s", "span"]);
    let all = rows(&waits, "span");
    let of = |name: &str| {
        all.iter()
            .find(|(span, _)| span == name)
            .map_or(0, |(_, ns)| *ns)
    };
    // Samples one by one have the same spans.
    let script = |more: &[&str]| {
        let mut script = rprof(["script", "--off-cpu", "-G", "-F", "+span", "-i"]);
        run(script.arg(&out).args(more)).ok().stdout
    };
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for line in script(&["--json"]).lines() {
        let sample: Value = serde_json::from_str(line).unwrap();
        let Some(ns) = sample["period"].as_u64() else {
            continue;
        };
        let name = sample["span"].as_str();
        assert_eq!(
            name.is_some(),
            sample["span_ns"].as_u64().is_some(),
            "{line}"
        );
        *sums.entry(name.unwrap_or("[none]").to_owned()).or_default() += ns;
    }
    assert_eq!(sums, all.iter().cloned().collect());
    let text = script(&[]);
    assert!(
        text.contains(" half a nap ") && text.contains(" [none] "),
        "{text}"
    );
    // Less by what the thread ran for before it slept.
    let half = of("half a nap");
    assert!(
        half <= half_ns && half > half_ns / 2,
        "{half} {half_ns} {said}"
    );
    assert!(of("[none]") >= half_ns / 2, "{all:?}");
}

#[test]
fn a_span_does_not_go_on_in_the_next_program() {
    let Some(program) = server() else { return };
    needs!(live);
    let file = record(&program, &["request"], &["-e", "cpu-clock"], &["exec"]);
    let (by_function, said) = report(&file, &["-s", "sym,span", "--no-inline"]);
    for sentence in ["1 span did not end", "1 end of a span without a beginning"] {
        assert!(said.contains(sentence), "{sentence}: {said}");
    }
    let rows = by_function["events"][0]["rows"].as_array().unwrap().iter();
    let after = rows.filter(|row| row["sym"].as_str().unwrap().contains("planted_path"));
    let spans: Vec<_> = after.map(|row| row["span"].as_str().unwrap()).collect();
    assert_eq!(spans, ["[none]"], "{by_function}");
}

#[test]
fn a_marker_file_says_nothing_of_other_processes() {
    let Some(program) = Program::new(SOURCE, OPTIONS) else {
        return;
    };
    needs!(live);
    let out = program.file("perf.data");
    let mut record = rprof(["record", "-q", "--off-cpu=0", "-e", "cpu-clock:u", "-o"]);
    let what = record.arg(&out).arg("--").arg(program.path());
    run(what.arg("mark-other").arg(program.dir())).ok();
    let (waits, said) = report(&out, &["--wall", "-s", "span"]);
    let names: Vec<_> = rows(&waits, "span").into_iter().map(|row| row.0).collect();
    assert_eq!(names, ["[none]"]);
    assert!(
        said.contains("1 marker file was not read: the thread"),
        "{said}"
    );
}

#[test]
fn what_does_not_match_is_said() {
    let Some(program) = server() else { return };
    needs!(live);
    let names = ["request", "query"];
    let file = record(&program, &names, &["-e", "cpu-clock"], &["confuse"]);
    let (by_span, said) = report(&file, &["--by-span"]);
    for sentence in [
        "2 spans did not end",
        "1 end of a span without a beginning",
        "1 span ended on another thread",
        "1 span overlapped a later one",
    ] {
        assert!(said.contains(sentence), "{sentence}: {said}");
    }
    let counts: Vec<_> = spans(&by_span)
        .into_iter()
        .map(|(name, n, _)| (name, n))
        .collect();
    assert_eq!(counts.len(), 2);
    assert!(counts.iter().all(|(_, n)| *n == 1), "{counts:?}");
    let none = run(rprof(["report", "--slower-than", "reqest:p50", "-i"]).arg(&file));
    assert!(
        none.fails(1)
            .contains("no span 'reqest' (spans are: request, query)")
    );
}

#[test]
fn recordings_without_spans_say_how_to_record_them() {
    let file = crate::common::fixtures().join("spin/perf.data");
    for options in [&["--by-span"][..], &["--slower-than", "p99"]] {
        let said = run(rprof(["report", "-i"]).arg(&file).args(options)).fails(1);
        assert!(
            said.contains("rprof record --span NAME=BEGIN..END"),
            "{said}"
        );
    }
}

#[test]
fn the_critical_paths_of_requests_are_their_time() {
    let Some(program) = server() else { return };
    needs!(live);
    let file = record(
        &program,
        &["request", "query"],
        &["--off-cpu", "-F", "1999"],
        &["queries"],
    );
    let critical = |command: &[&str]| -> Value {
        let json = run(rprof(["critical", "--json"]).args(command).arg(&file)).ok();
        serde_json::from_str(&json.stdout).unwrap()
    };
    let sum = |all: &Value, list: &str, time: &str| -> u64 {
        let rows = all[list].as_array().unwrap().iter();
        rows.map(|row| row[time].as_u64().unwrap()).sum()
    };
    let (table, _) = report(&file, &["--by-span", "--wall"]);
    for name in ["request", "query"] {
        let all = critical(&["--span", name]);
        let len = all["duration_ns"].as_u64().unwrap();
        let (_, count, total_ns) = spans(&table).into_iter().find(|of| of.0 == name).unwrap();
        // One thread, for which nobody waits: each path is its span.
        assert_eq!(all["n_spans"].as_u64(), Some(count));
        assert_eq!((all["spans"][0].as_str(), len), (Some(name), total_ns));
        assert_eq!(sum(&all, "threads", "path_ns"), len);
        let known = sum(&all, "functions", "path_self_ns");
        assert_eq!(known + all["unknown_ns"].as_u64().unwrap(), len);
        // Each sleeps 5 ms in its query, and 1 ms outside of it.
        // Of short waits, callers are not known.
        let naps = all["functions"].as_array().unwrap().iter();
        let naps =
            naps.filter(|one| one["symbol"] == "[.] nap" || one["symbol"] == "[.] [truncated]");
        let nap: u64 = naps.map(|one| one["path_ns"].as_u64().unwrap()).sum();
        let least = if name == "query" {
            5_000_000
        } else {
            6_000_000
        };
        assert!(nap >= least * count, "{all}");
        let option = format!("--critical=span:{name}");
        let (table, _) = report(&file, &[&option]);
        let weight = table["events"][0]["weight"].as_u64().unwrap();
        assert_eq!(weight, known);
    }
    let said = run(rprof(["critical", "--span", "none"]).arg(&file)).fails(1);
    assert!(said.contains("no span 'none' (spans are: "), "{said}");
}
