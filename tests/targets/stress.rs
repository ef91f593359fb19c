//! Many threads, many processes, many events: what is recorded is whole, or its loss is known to the last
//! sample.

use super::{info, sampled};
use crate::common::{
    FRAME_POINTERS, Program, Recording, Running, alone, needs, rprof, run, scratch, tool,
    work::burn,
};

/// Threads that wait, and threads that begin and end whenever it is told to go on.
const THREADS: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
volatile unsigned long sink;
static void *waits(void *unused) { for (;;) pause(); return unused; }
static void *works(void *unused) { WORK(2, sink += i) return unused; }
int main(void) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_t thread;
    for (int i = 0; i < 1000; i++)
        if (pthread_create(&thread, &small, waits, 0)) return 1;
    puts("ready");
    fflush(stdout);
    while (getchar() == '\n') {
        for (int i = 0; i < 1000; i++) {
            if (pthread_create(&thread, &small, works, 0)) return 2;
            pthread_join(thread, 0);
        }
        puts("done");
        fflush(stdout);
    }
    return 0;
}
"#;

/// The most memory that a process has had, kB.
pub(crate) fn most_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_thousand_threads_and_a_thousand_that_come_and_go_are_recorded() {
    let Some(program) = Program::new(THREADS, FRAME_POINTERS) else {
        return;
    };
    let _live = alone();
    let mut threads = Running::start(&mut tool(program.path()));
    assert_eq!(threads.line(), "ready");
    let pid = threads.pid().to_string();
    let mut record = rprof([
        "record",
        "-e",
        "cpu-clock",
        "-F",
        "999",
        "-p",
        &pid,
        "--",
        "cat",
    ]);
    let mut recorder = Running::start(record.current_dir(program.dir()));
    // It records once the command runs.
    recorder.type_in(b"runs\n");
    assert_eq!(recorder.line(), "runs");
    threads.work();
    let memory = most_memory(recorder.pid());
    recorder.close_input();
    let recording = Recording::new(program.file("perf.data"), recorder.finish().ok());
    assert!(memory < 256 << 10, "{memory} kB");
    recording.lost();
    assert_eq!(sampled(&recording.file, &["works"]), ["works"]);
}

#[test]
fn a_hundred_and_twenty_eight_events_are_sampled_at_once() {
    needs!(alone);
    let dir = scratch();
    let events = vec!["cpu-clock"; 128].join(",");
    let mut record = rprof([
        "record",
        "-c",
        "10000000",
        "--call-graph",
        "fp",
        "-e",
        &events,
    ]);
    record.args(["--", "sh", "-c", &burn(30)]);
    let ran = run(record.current_dir(dir.path())).ok();
    let recording = Recording::new(dir.path().join("perf.data"), ran);
    recording.lost();
    let info = info(&recording.file);
    let events = info["events"].as_array().unwrap();
    let n_sampled = events
        .iter()
        .filter(|event| event["samples"].as_u64() > Some(0))
        .count();
    assert_eq!((events.len(), n_sampled), (129, 128));
}
