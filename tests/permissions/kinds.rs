//! What rights decide beside whom: kinds of events, other processes, memory by a capability.

use crate::common::nobody::Sysctl;
use crate::common::{compile_c, libc, needs, not_run, run, samples};
use crate::permissions::cells::{Who, start};
use std::path::Path;
use std::process::{Command, Stdio};

/// Root without any capability.
const POWERLESS: Who = Who::RootWith("");

#[test]
fn tracepoints_and_probes_take_a_capability() {
    let Some((_live, cells)) = start() else {
        return;
    };
    if !Path::new("/sys/bus/event_source/devices/uprobe").exists() {
        not_run("no uprobes here");
        return;
    }
    let event = format!("uprobe:{}:malloc", libc());
    let probe = ["-e", &event];
    let words = ["probes in files need CAP_SYS_ADMIN", "run with sudo"];
    cells.refuses(Who::Nobody, &[], &probe, &words);
    // What the doctor says, and what the recorder does, agree: nobody is told to give what is given.
    let team = Who::RootWith(",+perfmon,+sys_ptrace,+syslog");
    for who in [Who::Nobody, POWERLESS, team, Who::Root] {
        let said = cells.doctor(who, &[]);
        let mut checks = said["checks"].as_array().unwrap().iter();
        let check = checks.find(|check| check["name"] == "probes (uprobe:)");
        let check = check.unwrap();
        if check["fix"].is_null() {
            let ran = cells.record(who, &[], &probe).ok();
            assert!(samples(&ran.stderr) > 0, "{who:?}: {}", ran.stderr);
            continue;
        }
        let fix = check["fix"].as_str().unwrap();
        assert_eq!(
            fix.contains("CAP_PERFMON is not enough"),
            who == team,
            "{who:?}: {fix}"
        );
        cells.refuses(who, &[], &probe, &[fix]);
    }
    let tracepoint = ["-e", "sched:sched_switch"];
    let events = std::fs::read_dir("/sys/kernel/tracing/events");
    if events.is_err() {
        not_run("no tracefs here");
        return;
    }
    // tracefs is root's; what it shows is for who has the capability.
    cells.refuses(Who::Nobody, &[], &tracepoint, &["sched", "sudo"]);
    cells.refuses(POWERLESS, &[], &tracepoint, &["need CAP_PERFMON"]);
}

#[test]
fn probes_that_everybody_has_are_said() {
    let Some((_live, cells)) = start() else {
        return;
    };
    if !Path::new("/sys/bus/event_source/devices/uprobe").exists() {
        return not_run("no uprobes here");
    }
    needs!(cc);
    let dir = cells.nobody.dir.path();
    // May probe, and may not write into tracefs.
    let rprof = |words: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        let sets = ["inh-caps", "ambient-caps", "bounding-set"];
        command.args(sets.map(|set| format!("--{set}=-all,+sys_admin")));
        run(command.arg(dir.join("rprof")).args(words).current_dir(dir))
    };
    if !rprof(&["--version"]).status.success() {
        return not_run("setpriv cannot give a user a capability here");
    }
    // Nobody else calls it, however busy the machine is.
    let source = "__attribute__((noinline)) void probed(void) { __asm__(\"\"); }
        int main(void) { for (int i = 0; i < 7; i++) probed(); return 0; }";
    let program = compile_c(dir, "probed", source);
    let program = program.to_str().unwrap();
    let event = format!("uprobe:{program}:probed");
    let ran = rprof(&["record", "-e", &event, program]).ok();
    let said = "tracefs is not writable (Permission denied (os error 13)): probes are set in every process";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert_eq!(samples(&ran.stderr), 7, "{}", ran.stderr);
    // Only definitions have arguments, and are counted.
    let with_arguments = format!("{event}(%di)");
    for words in [
        ["record", "-e", &*with_arguments, "true"],
        ["stat", "-e", &event, "true"],
    ] {
        let error = rprof(&words).fails(1);
        assert!(
            error.contains("cannot define probes, as tracefs is not writable"),
            "{error}"
        );
        assert_eq!(error.matches("Permission denied").count(), 1, "{error}");
    }
}

#[test]
fn what_happens_in_the_kernel_is_not_said_to_be_0() {
    let Some((_live, cells)) = start() else {
        return;
    };
    let Some(_level) = Sysctl::paranoid("2") else {
        not_run("kernel.perf_event_paranoid may not be set");
        return;
    };
    let fix = "kernel.perf_event_paranoid=1";
    let of_kernel = ["-e", "context-switches"];
    cells.refuses(
        Who::Nobody,
        &[],
        &of_kernel,
        &["permi", "profiling the kernel needs", fix],
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
    let Some((_live, cells)) = start() else {
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
    assert!(error.contains("not permitted to record it"), "{error}");
}

#[test]
fn a_capability_lifts_the_limit_of_memory() {
    let Some((_live, cells)) = start() else {
        return;
    };
    let Some(_budget) = Sysctl::set("kernel/perf_event_mlock_kb", "4") else {
        not_run("kernel.perf_event_mlock_kb may not be set");
        return;
    };
    let around = ["sh", "-c", "ulimit -l 0; exec \"$@\"", "sh"];
    let less = cells.records(POWERLESS, &around, &[], &["no locked memory left"]);
    assert!(less.stderr.contains("CAP_IPC_LOCK"), "{less:?}");
    let ran = cells.records(Who::RootWith(",+ipc_lock"), &around, &[], &[]);
    assert!(!ran.stderr.contains("memory"), "{ran:?}");
}
