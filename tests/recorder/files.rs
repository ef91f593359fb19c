//! Limits of open files.

use crate::common::nobody::{Nobody, paranoid};
use crate::common::{
    Ran, Running, compile_c, needs, not_run, report, rprof, run, samples, scratch, tool,
};
use crate::recorder::{both, until};
use std::collections::BTreeSet;
use std::process::Command;
use tempfile::TempDir;

/// Runs rprof with this hard limit of open files.
fn with_files(limit: u32, args: &[&str]) -> Command {
    let script = format!("ulimit -n {limit} && exec \"$@\"");
    let mut shell = tool("sh");
    shell.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_rprof")]);
    shell.args(args);
    shell
}

#[test]
fn too_few_open_files_are_an_error_with_both_numbers() {
    needs!(alone);
    let dir = scratch();
    let mut record = with_files(12, &["record", "--", "true"]);
    let error = run(record.current_dir(dir.path())).fails(1);
    assert!(
        error.contains("open files are needed (1 thread x ") && error.contains("limit is 12"),
        "{error}"
    );
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// 400 threads that wait and one that works; the process ends with that one.
const THREADS: &str = r#"
    #include <pthread.h>
    #include <stdio.h>
    #include <unistd.h>
    static volatile unsigned long sink;
    static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
    static void *wait_here(void *x) { pthread_mutex_lock(&all); pthread_mutex_unlock(&all); return x; }
    static void *work_here(void *x) { getchar(); WORK(300, sink += i); return x; }
    int main(void) {
        pthread_attr_t small;
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 65536);
        pthread_t thread;
        pthread_mutex_lock(&all);
        for (int i = 0; i < 400; i++) pthread_create(&thread, &small, wait_here, 0);
        pthread_create(&thread, &small, work_here, 0);
        puts("ready");
        fflush(stdout);
        pthread_join(thread, 0);
        return 0;
    }"#;

/// Records such a program by CPU until it ends; its folder, its id, and what the recorder said.
#[track_caller]
fn recorded_by_cpu(source: &str) -> Option<(TempDir, String, Ran)> {
    needs!(all_cpus, cc);
    let dir = scratch();
    let program = compile_c(dir.path(), "program", source);
    let mut running = Running::start(&mut tool(program));
    assert_eq!(running.line(), "ready");
    let (pid, out) = (running.pid().to_string(), dir.path().join("perf.data"));
    let args = ["record", "-F", "999", "-e", "cpu-clock", "-p", &pid, "-o"];
    let args = [&args[..], &[out.to_str().unwrap()]].concat();
    let mut recorder = Running::start(&mut both(&with_files(128, &args)));
    let said = until(&mut recorder, "press Ctrl-C to stop");
    assert!(said.contains("sampling all CPUs"), "{said}");
    running.type_in(b"\n");
    let ran = recorder.finish();
    assert!(ran.status.success(), "{ran:?}");
    Some((dir, pid, ran))
}

#[test]
fn more_threads_than_open_files_are_recorded_by_cpu() {
    needs!(alone);
    let Some((dir, pid, ran)) = recorded_by_cpu(THREADS) else {
        return;
    };
    assert!(samples(&ran.stdout) > 100, "{ran:?}");
    let out = dir.path().join("perf.data");
    let table = report(&out, &["--no-children", "-g", "none", "--sort", "pid,sym"]);
    let rows = table
        .lines()
        .filter(|line| line.contains('%') && !line.starts_with('#'));
    for row in rows {
        assert!(row.contains(&pid), "{table}");
    }
    assert!(table.contains("work_here"), "{table}");
}

/// Threads that wait, and processes one after the other that work; their parents' names are not theirs.
const PROCESSES: &str = r#"
    #include <pthread.h>
    #include <stdio.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static volatile unsigned long sink;
    static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
    static void *wait_here(void *x) { pthread_mutex_lock(&all); return x; }
    __attribute__((noinline)) static void child_works(void) { WORK(20, sink += i); }
    int main(void) {
        pthread_attr_t small;
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 65536);
        pthread_t thread;
        pthread_mutex_lock(&all);
        for (int i = 0; i < 200; i++) pthread_create(&thread, &small, wait_here, 0);
        puts("ready");
        fflush(stdout);
        getchar();
        for (int i = 0; i < 40; i++) {
            if (fork() == 0) { child_works(); _exit(0); }
            wait(0);
        }
        _exit(0);
    }"#;

#[test]
fn what_watched_processes_start_is_recorded_by_cpu_too() {
    needs!(alone);
    let Some((dir, ..)) = recorded_by_cpu(PROCESSES) else {
        return;
    };
    let mut script = rprof(["script", "-G", "-F", "pid,ip,sym", "-i"]);
    let samples = run(script.arg(dir.path().join("perf.data"))).ok();
    let works = samples
        .stdout
        .lines()
        .filter(|line| line.contains("child_works"));
    let pids: BTreeSet<&str> = works
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(pids.len(), 40, "{}", samples.stdout);
}

#[test]
fn more_threads_than_open_files_are_an_error_without_rights() {
    needs!(alone, cc);
    if paranoid() < 1 {
        not_run("everybody may record all CPUs");
        return;
    }
    let Some(nobody) = Nobody::new() else {
        return;
    };
    let program = compile_c(nobody.dir.path(), "threads", THREADS);
    let mut threads = Running::start(&mut nobody.command(program.to_str().unwrap()));
    assert_eq!(threads.line(), "ready");
    let mut record = nobody.command("sh");
    let script = "ulimit -n 256; exec ./rprof record -e cpu-clock:u -p \"$0\"";
    record.args(["-c", script, &threads.pid().to_string()]);
    let error = run(&mut record).fails(1);
    assert!(
        error.contains("(402 threads x ") && error.contains("limit is 256"),
        "{error}"
    );
}
