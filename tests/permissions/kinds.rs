//! What rights decide beside whom: kinds of events, other processes, memory by a capability.

use crate::cells::{Cells, Who};
use crate::common::nobody::Sysctl;
use crate::common::{is_root, live, not_run, run, samples};
use std::process::{Command, Stdio};

/// Root without any capability.
const POWERLESS: Who = Who::RootWith("");

#[test]
fn tracepoints_and_probes_take_a_capability() {
    let Some((_live, cells)) = start("tracepoints_and_probes_take_a_capability") else {
        return;
    };
    let probe = ["-e", "uprobe:/bin/sh:0x1000"];
    for who in [Who::Nobody, POWERLESS] {
        cells.refuses(who, &[], &probe, &["probes need CAP_PERFMON"]);
    }
    let tracepoint = ["-e", "sched:sched_switch"];
    let events = std::fs::read_dir("/sys/kernel/tracing/events");
    if events.is_err() {
        not_run(
            "tracepoints_and_probes_take_a_capability",
            "no tracefs here",
        );
        return;
    }
    // tracefs is root's; what it shows is for who has the capability.
    cells.refuses(Who::Nobody, &[], &tracepoint, &["sched", "sudo"]);
    cells.refuses(POWERLESS, &[], &tracepoint, &["need CAP_PERFMON"]);
}

#[test]
fn what_happens_in_the_kernel_is_not_said_to_be_0() {
    let test = "what_happens_in_the_kernel_is_not_said_to_be_0";
    let Some((_live, cells)) = start(test) else {
        return;
    };
    let Some(_level) = Sysctl::paranoid("2") else {
        not_run(test, "kernel.perf_event_paranoid may not be set");
        return;
    };
    let fix = "kernel.perf_event_paranoid=1";
    let of_kernel = ["-e", "context-switches"];
    cells.refuses(
        Who::Nobody,
        &[],
        &of_kernel,
        &["permi", "samples of the kernel need", fix],
    );
    let stat = |args: &[&str]| {
        let args = [&["stat"], args, &["true"]].concat();
        run(&mut cells.rprof(Who::Nobody, &[], &args))
    };
    let error = stat(&of_kernel).fails(1);
    assert!(
        error.contains("not permitted to count context-switches") && error.contains(fix),
        "{error}"
    );
    // Beside what is permitted.
    let said = stat(&[]).ok().stderr;
    for event in ["context-switches", "cpu-migrations"] {
        let mut lines = said.lines();
        let line = lines.find(|line| line.contains(event)).expect(&said);
        assert!(line.trim().starts_with("<not permitted>"), "{said}");
    }
    let last = said.lines().last().unwrap();
    assert!(
        last.contains("context-switches, cpu-migrations") && last.contains(fix),
        "{said}"
    );
    // It was asked for so.
    let without = stat(&["-x,", "-e", "context-switches:u"]).ok().stderr;
    assert!(without.starts_with("0,"), "{without}");
}

#[test]
fn own_processes_may_be_watched_at_any_level_and_others_not() {
    let test = "own_processes_may_be_watched_at_any_level_and_others_not";
    let Some((_live, cells)) = start(test) else {
        return;
    };
    let work = ["-c", "while :; do :; done"];
    let mut own: Command = cells.nobody.command("sh");
    let mut own = own.args(work).stdin(Stdio::null()).spawn().unwrap();
    let mut roots = Command::new("sh").args(work).spawn().unwrap();
    let watch = |pid: u32, around: &[&str]| {
        let pid = pid.to_string();
        let args = ["record", "-p", &pid, "--duration", "0.3"];
        run(&mut cells.rprof(Who::Nobody, around, &args))
    };
    let mut ran = Vec::new();
    for level in ["-1", "0", "1", "2"] {
        let _level = Sysctl::paranoid(level);
        ran.push((watch(own.id(), &[]), watch(roots.id(), &[])));
    }
    // As levels of distributions answer.
    let filtered = watch(roots.id(), &[cells.filter(), "13"]);
    for child in [&mut own, &mut roots] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    for (own, roots) in ran {
        assert!(samples(&own.ok().stderr) > 0);
        let error = roots.fails(1);
        assert!(
            error.contains("another user (uid 0): run with sudo"),
            "{error}"
        );
    }
    let error = filtered.fails(1);
    assert!(error.contains("not permitted to watch it"), "{error}");
}

#[test]
fn a_capability_lifts_the_limit_of_memory() {
    let test = "a_capability_lifts_the_limit_of_memory";
    let Some((_live, cells)) = start(test) else {
        return;
    };
    let Some(_budget) = Sysctl::set("kernel/perf_event_mlock_kb", "4") else {
        not_run(test, "kernel.perf_event_mlock_kb may not be set");
        return;
    };
    let around = ["sh", "-c", "ulimit -l 0; exec \"$@\"", "sh"];
    let less = cells.records(POWERLESS, &around, &[], &["no locked memory left"]);
    assert!(less.stderr.contains("CAP_IPC_LOCK"), "{less:?}");
    let ran = cells.records(Who::RootWith(",+ipc_lock"), &around, &[], &[]);
    assert!(!ran.stderr.contains("memory"), "{ran:?}");
}

#[track_caller]
fn start(test: &str) -> Option<(crate::common::Live, Cells)> {
    let live = live(test)?;
    if !is_root(test) {
        return None;
    }
    Some((live, Cells::new(test)?))
}
