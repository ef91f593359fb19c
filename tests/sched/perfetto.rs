//! Perfetto's traces: the states of threads that `rprof sched` has, wakers and samples.

use super::record_events;
use super::trace_messages::{Packet, Trace};
use super::trace_processor::{StateRow, Tables};
use super::waiting::{SWITCHES, milliseconds, of_sched};
use crate::common::{compile, fixtures, needs, rprof, run, scratch, tool, tracefs};
use prost::Message;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Reads what a recording is exported as.
#[track_caller]
fn exported(file: &Path, options: &[&str]) -> Tables {
    let trace = file.with_extension("pftrace");
    let mut export = rprof(["export", "-o"]);
    let export = export.arg(&trace).args(options).arg("-i").arg(file);
    run(export).ok();
    check_by_published_messages(&trace);
    Tables::read(&std::fs::read(&trace).unwrap())
}

/// Whether Perfetto's own messages have all fields, where its package of Python is installed.
fn check_by_published_messages(trace: &Path) {
    const CHECK: &str = include_str!("perfetto.py");
    let import = "import perfetto.protos.perfetto.trace.perfetto_trace_pb2";
    if !tool("python3")
        .args(["-c", import])
        .output()
        .is_ok_and(|done| done.status.success())
    {
        let how = "pip install -r tests/export/requirements.txt";
        println!("Perfetto's messages are not checked: {how}");
        return;
    }
    run(tool("python3").args(["-c", CHECK]).arg(trace)).ok();
}

fn sum<'r>(rows: impl Iterator<Item = &'r StateRow>, states: &[&str]) -> u64 {
    let asked = rows.filter(|row| states.contains(&&*row.state));
    asked.filter_map(|row| row.ns).sum()
}

#[test]
fn threads_have_the_states_and_wakers_of_sched() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let program = dir.path().join("waits");
    compile(&program, include_str!("waits.c"), &["-O1", "-pthread"]);
    let events = format!("cpu-clock,{SWITCHES}");
    let file = record_events(
        tracefs,
        dir.path(),
        (&events, "fp"),
        program.to_str().unwrap(),
    );
    let tables = exported(&file, &[]);
    assert_eq!(tables.n_mismatched, 0);
    let of_sched = of_sched(&file);
    assert!(of_sched.len() >= 10, "{of_sched:?}");
    for (tid, [ran, runnable, sleeping, disk, ..]) in of_sched {
        let is_its = |row: &&StateRow| tables.threads[row.thread].tid == tid;
        let of_thread = || tables.states.iter().filter(is_its);
        for (states, of_sched) in [
            (&["Running"][..], ran),
            (&["R", "R+"], runnable),
            (&["S"], sleeping),
            (&["D"], disk),
        ] {
            let mut ns = sum(of_thread(), states);
            if states.contains(&"R") {
                // A thread that is made is woken a moment later: sched counts from there.
                let born = tables.born.iter().map(|&row| &tables.states[row]);
                let born = born
                    .filter(is_its)
                    .filter_map(|row| Some(row.woken_ns? - row.start_ns));
                ns -= born.sum::<u64>();
            }
            let own = milliseconds(ns);
            assert!(
                (own - of_sched).abs() < 0.0005,
                "{tid} {states:?} {own} {of_sched}"
            );
        }
        let number = tables.threads.iter().position(|thread| thread.tid == tid);
        let on_cpus = tables.on_cpus[&number.unwrap()];
        assert!(
            (milliseconds(on_cpus) - ran).abs() < 0.0005,
            "{tid} {on_cpus} {ran}"
        );
    }
    for cause in ["pipe", "socket", "eventfd", "epoll", "poll", "select"] {
        let name = format!("in_{cause}");
        // Locks of the kernel and of the C library are waited for, too: whoever frees one wakes the thread.
        let wakers = tables
            .states_of(&name)
            .filter(|row| !row.is_irq)
            .filter_map(|row| Some(&*tables.threads[row.waker?].name));
        let n_right = wakers.filter(|&waker| waker == "waker").count();
        assert!(n_right >= 2, "{name}: {n_right}");
    }
    // A timer wakes it, whomever it interrupts.
    let of_sleeper: Vec<&StateRow> = tables.states_of("in_sleep").collect();
    assert!(
        of_sleeper.iter().filter(|row| row.is_irq).count() >= 2,
        "{of_sleeper:?}"
    );
    check_samples(&file, &tables);
}

/// Checks that samples are those of the report.
#[track_caller]
fn check_samples(file: &Path, tables: &Tables) {
    let json = run(rprof(["export", "--format", "json", "-i"]).arg(file))
        .ok()
        .stdout;
    let profile: serde_json::Value = serde_json::from_str(&json).unwrap();
    let events = profile["events"].as_array().unwrap().iter();
    let of_report = events.map(|event| {
        let name = event["name"].as_str().unwrap().to_owned();
        let count = |key: &str| event[key].as_u64().unwrap();
        (name, (count("samples"), count("weight")))
    });
    let of_report: BTreeMap<String, (u64, u64)> = of_report.filter(|(_, (n, _))| *n > 0).collect();
    let mut own: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut counts: BTreeMap<(String, Option<u32>), u64> = BTreeMap::new();
    for sample in &tables.samples {
        let sums = own.entry(sample.event.clone()).or_default();
        let before = counts.insert((sample.event.clone(), sample.cpu), sample.count);
        *sums = (sums.0 + 1, sums.1 + sample.count - before.unwrap_or(0));
    }
    assert_eq!(own, of_report);
    let in_busy = tables.samples.iter().filter(|sample| {
        sample.event == "cpu-clock" && sample.stack.iter().any(|frame| frame == "keep_busy")
    });
    assert!(in_busy.count() > 0);
}

/// The threads of a command alone: CPUs are somebody else's meanwhile, and nobody knows whose.
#[test]
fn cpus_of_others_are_not_idle() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let program = dir.path().join("waits");
    compile(&program, include_str!("waits.c"), &["-O1", "-pthread"]);
    let file = dir.path().join("perf.data");
    let mut record = rprof(["record", "-q", "--off-cpu", "-o"]);
    run(&mut tracefs.within(record.arg(&file).arg("--").arg(&program))).ok();
    let tables = exported(&file, &[]);
    let is_named = |name: &str| tables.threads.iter().any(|thread| thread.name == name);
    assert!(is_named("[not in this trace]") && is_named("in_pipe"));
    // No CPU is said to be idle.
    assert!(!tables.on_cpus.contains_key(&0), "{:?}", tables.on_cpus);
    let in_pipe = sum(tables.states_of("in_pipe"), &["S"]);
    assert!(in_pipe > 10_000_000, "{in_pipe}");
    let shown = exported(&file, &["-c", "in_pipe"]);
    let states = shown
        .states
        .iter()
        .map(|row| &*shown.threads[row.thread].name);
    let hidden: BTreeSet<&str> = states
        .filter(|&name| name != "in_pipe" && name != "[not in this trace]")
        .collect();
    assert!(hidden.is_empty(), "{hidden:?}");
    let again = sum(shown.states_of("in_pipe"), &["S"]);
    assert_eq!(again, in_pipe);
}

/// The packets of a trace of some recordings.
#[track_caller]
fn packets(dir: &Path, recordings: &[&Path]) -> Vec<Packet> {
    let trace = dir.join("work.pftrace");
    run(rprof(["export", "-o"]).arg(&trace).args(recordings)).ok();
    check_by_published_messages(&trace);
    Trace::decode(&*std::fs::read(&trace).unwrap())
        .unwrap()
        .packet
}

#[test]
fn several_recordings_are_machines_each_as_it_is_alone() {
    let dir = scratch();
    let recordings = ["spin/perf.data", "dwarf/perf.data"].map(|name| fixtures().join(name));
    let recordings = recordings.each_ref().map(PathBuf::as_path);
    let alone = recordings.map(|one| packets(dir.path(), &[one]));
    let mut both = packets(dir.path(), &recordings);
    let second = both.split_off(alone[0].len());
    assert_eq!(both, alone[0]);
    // Sequences go on where those of the first recording end.
    let last = alone[0].iter().map(|packet| packet.sequence).max().unwrap();
    let first = second[0].sequence - alone[1][0].sequence;
    assert!(first + 1 > last, "{first} {last}");
    let as_alone = second.into_iter().map(|packet| {
        assert_eq!(packet.machine, Some(1));
        Packet {
            machine: None,
            sequence: packet.sequence - first,
            ..packet
        }
    });
    assert_eq!(as_alone.collect::<Vec<_>>(), alone[1]);
}
