//! `record --off-cpu`: switches are those that threads count, stacks lead to what waits, and what is not allowed is said.

mod nobody;

use crate::common::nobody::{Nobody, Sysctl};
use crate::common::{
    Running, compile_c, in_path, is_root, needs, number_before, perf, record_while, rprof, run,
    scratch, skipped, tool, tracefs,
};
use std::path::{Path, PathBuf};

/// Waits in several ways, each in a function of its own, and tells how often it was switched out in the meantime: the
/// counts of /proc/PID/status at two moments, each between two times of the clock.
const WAITS: &str = r#"
    #include <fcntl.h>
    #include <linux/futex.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/epoll.h>
    #include <sys/syscall.h>
    #include <time.h>
    #include <unistd.h>
    #define WAIT __attribute__((noinline, noclone)) void
    static volatile int sink;
    static long now(void) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec * 1000000000L + t.tv_nsec;
    }
    static void count(void) {
        char text[4096];
        long before = now();
        int file = open("/proc/thread-self/status", O_RDONLY);
        ssize_t n = read(file, text, sizeof text - 1);
        long after = now();
        close(file);
        text[n > 0 ? n : 0] = 0;
        char *own = strstr(text, "\nvoluntary_ctxt_switches:");
        char *forced = strstr(text, "nonvoluntary_ctxt_switches:");
        printf("%ld %ld %ld\n", before, after, atol(own + 25) + atol(forced + 27));
    }
    WAIT waits_asleep(void) { struct timespec t = { 0, 3000000 }; nanosleep(&t, 0); sink++; }
    WAIT waits_for_futex(void) {
        struct timespec t = { 0, 3000000 };
        int word = 0;
        syscall(SYS_futex, &word, FUTEX_WAIT, 0, &t, 0, 0);
        sink++;
    }
    WAIT waits_for_pipe(int fd) { char byte; sink += read(fd, &byte, 1); }
    WAIT waits_for_epoll(int fd) {
        struct epoll_event one;
        sink += epoll_wait(fd, &one, 1, 3);
    }
    int main(int argc, char **argv) {
        if (argc > 1) getchar();
        int questions[2], answers[2];
        if (pipe(questions) || pipe(answers)) return 1;
        if (!fork()) {
            struct timespec t = { 0, 3000000 };
            char byte;
            for (int i = 0; i < 20; i++) {
                if (read(questions[0], &byte, 1) != 1) return 2;
                nanosleep(&t, 0);
                if (write(answers[1], &byte, 1) != 1) return 3;
            }
            return 0;
        }
        int epoll = epoll_create1(0);
        count();
        for (int i = 0; i < 20; i++) {
            waits_asleep();
            waits_for_futex();
            if (write(questions[1], "x", 1) != 1) return 4;
            waits_for_pipe(answers[0]);
            waits_for_epoll(epoll);
        }
        count();
        printf("%d\n", getpid());
        return 0;
    }"#;

const FUNCTIONS: [&str; 4] = [
    "waits_asleep",
    "waits_for_futex",
    "waits_for_pipe",
    "waits_for_epoll",
];

/// What the program tells of itself.
struct Told {
    /// Times between which its switches were counted, the first no later and no earlier than the count.
    first: [u64; 2],
    last: [u64; 2],
    switches: u64,
    pid: u64,
}

impl Told {
    fn parse(stdout: &str) -> Self {
        let words = stdout.split_whitespace().map(|word| word.parse().unwrap());
        let words: Vec<u64> = words.collect();
        let [a, b, n, c, d, m, pid] = words[..] else {
            panic!("{stdout}")
        };
        Self {
            first: [a, b],
            last: [c, d],
            switches: m - n,
            pid,
        }
    }
}

/// A sample of a switch: when it was, in nanoseconds, and its frames.
struct Switch {
    time_ns: u64,
    is_blocked: bool,
    frames: Vec<String>,
}

/// The switches of a thread.
fn switches(file: &Path, tid: u64) -> Vec<Switch> {
    let fields = "tid,time,event,trace,ip,sym";
    let script = run(rprof(["script", "--ns", "-F", fields, "-i"]).arg(file)).ok();
    let mut all = Vec::new();
    for sample in script.stdout.split("\n\n") {
        let mut lines = sample.trim_start_matches('\n').lines();
        let Some(head) = lines.next() else { continue };
        let is_switch = head.contains("sched:sched_switch:") || head.contains("context-switches");
        let words: Vec<&str> = head.split_whitespace().collect();
        if !is_switch || words.first().is_none_or(|word| word.parse() != Ok(tid)) {
            continue;
        }
        let time = words[1].trim_end_matches(':').replace('.', "");
        all.push(Switch {
            time_ns: time.parse().unwrap(),
            is_blocked: !head.contains("prev_state=R"),
            frames: lines
                .filter_map(|line| Some(line.trim().split_once(' ')?.1.to_owned()))
                .collect(),
        });
    }
    all
}

/// The program, recorded by a command up to the program's words.
fn waits(dir: &Path) -> (PathBuf, PathBuf) {
    (compile_c(dir, "waits", WAITS), dir.join("perf.data"))
}

/// Every switch is recorded, or said to be lost; every function's waits have its name and `main` in their stacks.
fn check(file: &Path, stdout: &str, stderr: &str) {
    let told = Told::parse(stdout);
    let all = switches(file, told.pid);
    let between = |from: u64, to: u64| {
        let within = all.iter().filter(|one| (from..=to).contains(&one.time_ns));
        within.count() as u64
    };
    let n_lost = number_before(stderr, " lost").unwrap();
    // No less than between the inner times, no more than between the outer ones.
    let (inner, outer) = (
        between(told.first[1], told.last[0]),
        between(told.first[0], told.last[1]),
    );
    assert!(inner <= told.switches, "{inner} {}", told.switches);
    assert!(outer + n_lost >= told.switches, "{outer} {}", told.switches);
    for function in FUNCTIONS {
        let is_of =
            |one: &&Switch| one.is_blocked && one.frames.iter().any(|name| name == function);
        let waits: Vec<&Switch> = all.iter().filter(is_of).collect();
        assert!(
            waits.len() as u64 + n_lost >= 15,
            "{function}: {}",
            waits.len()
        );
        let is_complete = |one: &&Switch| one.frames.iter().any(|name| name == "main");
        assert!(waits.iter().all(is_complete), "{function}");
    }
}

#[test]
fn switches_are_those_that_the_thread_counts_and_their_stacks_name_what_waits() {
    needs!(root, cc, live);
    let dir = scratch();
    let (program, file) = waits(dir.path());
    let mut record = rprof(["record", "--off-cpu=0", "-o"]);
    let ran = run(record.arg(&file).arg("--").arg(&program)).ok();
    if !ran
        .stderr
        .contains("recording context switches with stacks, and wake-ups")
    {
        return skipped("tracepoints");
    }
    check(&file, &ran.stdout, &ran.stderr);
    // On-CPU samples are in the same file, and the parent's wake-ups by its child.
    let script = run(rprof(["script", "-F", "comm,event,trace", "-i"]).arg(&file)).ok();
    let pid = Told::parse(&ran.stdout).pid;
    let woken = format!("pid={pid} ");
    let is_wake_up = |line: &&str| line.contains("sched_waking:") && line.contains(&woken);
    assert!(script.stdout.lines().filter(is_wake_up).count() >= 20);
    // Nobody else's.
    let others = script
        .stdout
        .lines()
        .filter(|line| line.contains("sched_waking:"));
    let is_own = |line: &str| line.contains("comm=waits") || line.contains("comm=rprof");
    for other in others {
        assert!(is_own(other), "{other}");
    }
}

#[test]
fn stacks_of_long_waits_are_read_while_they_last() {
    needs!(root, cc, live);
    let dir = scratch();
    let (program, file) = waits(dir.path());
    let mut record = rprof(["record", "--off-cpu", "-o"]);
    let ran = run(record.arg(&file).arg("--").arg(&program)).ok();
    let Some(n_read) = number_before(&ran.stderr, " waits that lasted 1 ms") else {
        return skipped("tracepoints");
    };
    let told = Told::parse(&ran.stdout);
    let all = switches(&file, told.pid);
    let n_lost = number_before(&ran.stderr, " lost").unwrap();
    assert!(all.len() as u64 + n_lost >= told.switches);
    // Whole stacks, or the innermost frame and a gap.
    let mut n_whole = 0;
    let mut n_cut = 0;
    for wait in all.iter().filter(|wait| wait.is_blocked) {
        let has = |name: &str| wait.frames.iter().any(|frame| frame == name);
        n_whole += u64::from(has("main"));
        let is_cut = !has("main") && FUNCTIONS.iter().any(|function| has(function));
        assert!(!is_cut, "{:?}", wait.frames);
        let is_truncated = wait.frames.last().is_some_and(|last| last == "[truncated]");
        n_cut += u64::from(is_truncated);
        assert_ne!(is_truncated, has("main"), "{:?}", wait.frames);
    }
    assert!(
        n_cut == 0 || !ran.stderr.contains("all stacks complete"),
        "{}",
        ran.stderr
    );
    // Of its child, too. How soon the recorder looks is for the machine to say: it sees some of 80 waits of 3 ms.
    assert!((1..=n_read).contains(&n_whole), "{}", ran.stderr);
}

#[test]
fn switches_of_a_running_process_and_of_all_are_recorded() {
    needs!(root, cc, alone);
    let dir = scratch();
    let (program, file) = waits(dir.path());
    for target in ["-p", "-a"] {
        let mut waits = Running::start(tool(&program).arg("later"));
        let mut recorder = rprof(["record", "--off-cpu=0", "-m", "8192", "-o"]);
        recorder.arg(&file).arg(target);
        if target == "-p" {
            recorder.arg(waits.pid().to_string());
        }
        let mut lines = Vec::new();
        let ran = record_while(&mut recorder, || {
            waits.type_in(b"\n");
            lines.extend((0..3).map(|_| waits.line()));
        });
        let ran = ran.ok();
        waits.finish().ok();
        if !ran.stderr.contains("and wake-ups") {
            return skipped("tracepoints");
        }
        check(&file, &lines.join(" "), &ran.stderr);
    }
}

#[test]
fn clocks_that_tracepoints_cannot_have_are_those_of_other_switches() {
    needs!(root, cc, live);
    let dir = scratch();
    let (program, file) = waits(dir.path());
    let mut record = rprof(["record", "--off-cpu", "-k", "boot", "-o"]);
    let ran = run(record.arg(&file).arg("--").arg(&program)).ok();
    assert!(ran.stderr.contains("without wake-ups"), "{}", ran.stderr);
    let told = Told::parse(&ran.stdout);
    let n_lost = number_before(&ran.stderr, " lost").unwrap();
    assert!(switches(&file, told.pid).len() as u64 + n_lost >= told.switches);
}

#[test]
fn perf_reads_the_switches() {
    needs!(root, cc, perf, live);
    let dir = scratch();
    let (program, file) = waits(dir.path());
    let mut record = rprof(["record", "--off-cpu", "-o"]);
    let ran = run(record.arg(&file).arg("--").arg(&program)).ok();
    if !ran.stderr.contains("and wake-ups") {
        return skipped("tracepoints");
    }
    let theirs = run(perf(["script", "-F", "event", "-i"]).arg(&file)).ok();
    let ours = run(rprof(["script", "-F", "event", "-i"]).arg(&file)).ok();
    let count = |text: &str| {
        text.lines()
            .filter(|line| line.contains("sched_switch"))
            .count()
    };
    assert_eq!(count(&theirs.stdout), count(&ours.stdout));
    assert!(count(&ours.stdout) >= 80, "{}", ran.stderr);
    // A row for each switch, whatever it takes the threads' names for.
    for view in ["timehist", "latency"] {
        let seen = run(perf(["sched", "-i"]).arg(&file).arg(view)).ok();
        let rows = seen
            .stdout
            .lines()
            .filter(|line| line.contains(" ms |") || line.contains("] "));
        let least = if view == "latency" {
            1
        } else {
            count(&ours.stdout)
        };
        assert!(rows.count() >= least, "{view}: {}", seen.stdout);
    }
}

#[test]
fn who_may_sample_the_kernel_has_stacks_of_switches() {
    needs!(root, cc, alone);
    let Some(nobody) = Nobody::new() else { return };
    let Some(_level) = Sysctl::paranoid("1") else {
        return skipped("a perf_event_paranoid that can be set");
    };
    let (program, file) = waits(nobody.dir.path());
    let program = program.to_str().unwrap();
    let words = ["record", "--off-cpu=0", "-o", "perf.data", "--", program];
    let ran = run(&mut nobody.rprof(&words)).ok();
    assert!(ran.stderr.contains("without wake-ups"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("tracepoints need CAP_PERFMON"),
        "{}",
        ran.stderr
    );
    check(&file, &ran.stdout, &ran.stderr);
}

#[test]
fn all_user_leaves_out_switches_and_says_so() {
    needs!(cc, live);
    let dir = scratch();
    let (program, file) = waits(dir.path());
    let mut record = rprof(["record", "--off-cpu", "--all-user", "-o"]);
    let ran = run(record.arg(&file).arg("--").arg(&program)).ok();
    let why = "switches happen in the kernel, which --all-user leaves out";
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
}

#[test]
fn a_capability_is_enough() {
    needs!(root, cc, live);
    if in_path("setpriv").is_none() || !is_root() {
        return skipped("setpriv");
    }
    let dir = scratch();
    let (program, file) = waits(dir.path());
    // CAP_PERFMON, and root's files: tracefs cannot be mounted with it.
    let mut record = tool("setpriv");
    record.args(["--bounding-set=-all,+perfmon", "--inh-caps=-all,+perfmon"]);
    let own = rprof(["record", "--off-cpu=0", "-o"]);
    record.arg(own.get_program()).args(own.get_args());
    record.arg(&file).arg("--").arg(&program);
    let Some(mounted) = tracefs() else {
        return;
    };
    let ran = run(&mut mounted.within(&record)).ok();
    assert!(ran.stderr.contains("and wake-ups"), "{}", ran.stderr);
    check(&file, &ran.stdout, &ran.stderr);
}
