//! The time of threads that wait as told: each for one thing, and who wakes them.

use super::record_events;
use crate::common::{Tracefs, compile, fixtures, needs, rprof, run, scratch, tracefs};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(super) const SWITCHES: &str = "sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new";

/// Records threads each of which is called `in_` and what it waits for.
#[track_caller]
fn record_waits(tracefs: Tracefs, dir: &Path, events: &str) -> PathBuf {
    let program = dir.join("waits");
    compile(&program, include_str!("waits.c"), &["-O1", "-pthread"]);
    record_events(tracefs, dir, (events, "fp"), program.to_str().unwrap())
}

/// A derived sample.
#[derive(Debug)]
pub(super) struct Stretch {
    tid: i64,
    comm: String,
    pub(super) state: String,
    cause: String,
    pub(super) ns: u64,
}

/// All samples of an account.
pub(super) fn stretches(file: &Path, account: &str) -> Vec<Stretch> {
    let mut script = rprof(["script", account, "-G", "--json", "-i"]);
    let lines = run(script.arg(file)).ok().stdout;
    let samples = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let stretch = |sample: Value| {
        let text = |name: &str| Some(sample[name].as_str()?.to_owned());
        Some(Stretch {
            tid: sample["tid"].as_i64()?,
            comm: text("comm")?,
            state: text("state")?,
            cause: text("cause")?,
            ns: sample["period"].as_u64()?,
        })
    };
    samples.filter_map(stretch).collect()
}

/// Milliseconds that `rprof sched` has for each thread that was born in the recording: run, runnable, sleeping, disk, other, unknown.
pub(super) fn of_sched(file: &Path) -> BTreeMap<i64, [f64; 6]> {
    let table = run(rprof(["sched", "-c", "/^in_/"]).arg(file)).ok();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let (_, ids) = cells.last()?.trim_end_matches(']').rsplit_once('[')?;
        let tid = ids.split('/').next()?.parse().ok()?;
        // The moment of the longest wait for a CPU may be missing: what is behind it is counted from the end.
        let at = |from_behind: usize| cells.len().checked_sub(from_behind);
        let mut times = [0.0; 6];
        for (time, at) in times
            .iter_mut()
            .zip([Some(0), Some(1), at(8), at(7), at(6), at(5)])
        {
            *time = cells.get(at?)?.parse().ok()?;
        }
        Some((tid, times))
    };
    table.stdout.lines().filter_map(row).collect()
}

/// Milliseconds, which tables cut after three digits.
pub(super) fn milliseconds(ns: u64) -> f64 {
    let micros = u32::try_from(ns / 1000).unwrap();
    f64::from(micros) / 1000.0
}

#[test]
fn waits_have_their_cause_and_add_up_to_those_of_sched() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let file = record_waits(tracefs, dir.path(), SWITCHES);
    let all = stretches(&file, "--off-cpu");
    check_sums(&all, &file);
    check_causes(&all, "sleeping");
}

/// Checks that threads have waited for as long as `rprof sched` says.
#[track_caller]
fn check_sums(all: &[Stretch], file: &Path) {
    let of_sched = of_sched(file);
    assert!(of_sched.len() >= 10, "{of_sched:?}");
    for (tid, [_, runnable, sleeping, disk, ..]) in of_sched {
        let sum = |states: &[&str]| {
            let asked = all
                .iter()
                .filter(|one| one.tid == tid && states.contains(&&*one.state));
            milliseconds(asked.map(|one| one.ns).sum())
        };
        let own = [
            sum(&["runnable", "preempted"]),
            sum(&["sleeping"]),
            sum(&["disk sleep"]),
        ];
        for (own, of_sched) in own.into_iter().zip([runnable, sleeping, disk]) {
            assert!((own - of_sched).abs() < 0.0005, "{tid} {own} {of_sched}");
        }
    }
}

/// Checks that threads wait for what they are called by.
#[track_caller]
fn check_causes(all: &[Stretch], asked: &str) {
    for (comm, causes) in [
        ("in_sleep", &["sleep"][..]),
        ("in_pipe", &["pipe"]),
        ("in_socket", &["socket"]),
        ("in_eventfd", &["eventfd"]),
        ("in_futex", &["futex"]),
        ("in_epoll", &["epoll"]),
        ("in_poll", &["poll"]),
        ("in_select", &["select"]),
        ("in_child", &["child", "sleep"]),
        ("in_timerfd", &["sleep"]),
    ] {
        let mut of_cause: BTreeMap<&str, u64> = BTreeMap::new();
        for one in all
            .iter()
            .filter(|one| one.comm == comm && one.state == asked)
        {
            *of_cause.entry(&one.cause).or_default() += one.ns;
        }
        let sum: u64 = of_cause.values().sum();
        let right: u64 = causes.iter().filter_map(|cause| of_cause.get(cause)).sum();
        assert!(
            sum > 10_000_000 && right * 100 >= sum * 95,
            "{comm}: {of_cause:?}"
        );
    }
}

#[test]
fn the_threads_of_a_command_alone_have_their_causes() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let program = dir.path().join("waits");
    compile(&program, include_str!("waits.c"), &["-O1", "-pthread"]);
    for (event, state) in [
        ("sched:sched_switch", "sleeping"),
        ("context-switches", "blocked"),
    ] {
        let file = dir.path().join("perf.data");
        let mut record = rprof([
            "record",
            "-q",
            "--switch-events",
            "--call-graph",
            "fp",
            "-c",
            "1",
        ]);
        let record = record
            .args(["-e", event, "-o"])
            .arg(&file)
            .arg("--")
            .arg(&program);
        run(&mut tracefs.within(record)).ok();
        let all = stretches(&file, "--off-cpu");
        check_causes(&all, state);
        if event == "sched:sched_switch" {
            // Others ran on the CPUs meanwhile, unrecorded.
            check_sums(&all, &file);
            let table = run(rprof(["sched"]).arg(&file)).ok().stdout;
            assert!(!table.contains("Busy"), "{table}");
        }
    }
}

#[test]
fn each_wait_has_who_ended_it() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let file = record_waits(tracefs, dir.path(), SWITCHES);
    let mut report = rprof(["report", "--off-cpu", "--no-children", "--format", "csv"]);
    let keys = ["-s", "comm,state,cause,waker", "-c", "/^in_/", "-i"];
    let table = run(report.args(keys).arg(&file)).ok().stdout;
    let rows = table
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let (mut seen, mut n_timers) = (Vec::new(), 0);
    for row in rows {
        let [.., comm, state, cause, waker] = row[..] else {
            continue;
        };
        let of_thread = ["pipe", "socket", "eventfd", "epoll", "poll", "select"];
        match (state, cause) {
            // Which thread a timer interrupts has nothing to do with it.
            ("sleeping", "sleep") => {
                assert!(["[timer]", "[unknown]"].contains(&waker), "{table}");
                n_timers += u64::from(waker == "[timer]");
            }
            ("sleeping", cause) if of_thread.contains(&cause) && comm == format!("in_{cause}") => {
                assert_eq!(waker, "waker", "{table}");
                seen.push(cause);
            }
            _ => {}
        }
    }
    assert!(seen.len() >= 6 && n_timers > 0, "{table}");
    check_who_woke_whom(&file);
}

/// Checks that rows of who woke whom weigh what the waits of who was woken do.
#[track_caller]
fn check_who_woke_whom(file: &Path) {
    let csv = |keys: &str, of: &[&str]| {
        let mut report = rprof(["report", "--off-cpu", "--no-children", "--format", "csv"]);
        let report = report.args(["--call-graph", "none", "-s", keys, "-i"]);
        let table = run(report.arg(file)).ok().stdout;
        let rows = table
            .lines()
            .filter(|line| of.iter().all(|part| line.contains(part)));
        rows.map(|row| row.split(',').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let woken = csv("waker,wakee", &["waker,in_pipe"]);
    assert_eq!(woken, csv("waker,comm", &["waker,in_pipe"]));
    assert_eq!(woken.len(), 1, "{woken:?}");
    // Who had to leave a CPU is woken by nobody.
    assert_eq!(csv("wakee,state", &["[none],preempted"]).len(), 1);
}

#[test]
fn running_and_waiting_are_all_of_the_time() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let file = record_waits(tracefs, dir.path(), &format!("cpu-clock,{SWITCHES}"));
    let of_sched = of_sched(&file);
    assert!(of_sched.len() >= 10, "{of_sched:?}");
    let all = stretches(&file, "--wall");
    // Where switches are missing, a sample may say more than they do.
    let known = of_sched.into_iter().filter(|(_, times)| times[5] == 0.0);
    let mut n_checked = 0;
    for (tid, of_sched) in known {
        n_checked += 1;
        let own = all.iter().filter(|one| one.tid == tid).map(|one| one.ns);
        let (own, known) = (milliseconds(own.sum()), of_sched.iter().sum::<f64>());
        assert!(
            (own - known).abs() <= 0.01 + known / 1000.0,
            "{tid} {own} {known}"
        );
    }
    assert!(n_checked > 0);
    // A picture of both: what waits has the colour of its cause.
    let picture = run(rprof(["flame", "--wall", "-o", "-", "-i"]).arg(&file))
        .ok()
        .stdout;
    assert!(picture.contains("Wall time, ") && picture.contains("[pipe]"));
    // Waits for work are one frame, with the same sums.
    let lines = |args: &[&str]| {
        let mut flame = rprof(["flame", "--wall", "--folded", "--threads"]);
        let folded = run(flame.args(args).arg("-i").arg(&file)).ok().stdout;
        let line = |line: &str| {
            let (stack, ns) = line.rsplit_once(' ')?;
            let (comm, rest) = stack.split_once(';').unwrap_or((stack, ""));
            Some((comm.to_owned(), rest == "[idle]", ns.parse::<u64>().ok()?))
        };
        folded.lines().filter_map(line).collect::<Vec<_>>()
    };
    let (plain, folded) = (lines(&[]), lines(&["--fold", "idle"]));
    let sums = |lines: &[(String, bool, u64)]| {
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for (comm, _, ns) in lines {
            *sums.entry(comm.clone()).or_default() += ns;
        }
        sums
    };
    assert_eq!(sums(&plain), sums(&folded));
    let idle: Vec<&str> = folded
        .iter()
        .filter(|(_, is_idle, _)| *is_idle)
        .map(|(comm, ..)| &**comm)
        .collect();
    for (comm, is_idle) in [
        ("in_epoll", true),
        ("in_poll", true),
        ("in_pipe", false),
        ("in_sleep", false),
    ] {
        assert_eq!(idle.contains(&comm), is_idle, "{comm}: {idle:?}");
    }
    let mut report = rprof(["report", "--wall", "--fold", "idle", "-g", "none", "-i"]);
    let table = run(report.arg(&file)).ok().stdout;
    assert!(
        table.contains("# Idle: ") && table.contains("[idle]"),
        "{table}"
    );
    let mut report = rprof(["report", "--fold", "idle", "-i"]);
    let refused = run(report.arg(&file)).fails(2);
    assert!(refused.contains("add --off-cpu or --wall"), "{refused}");
}

/// A child and a thread that ends right after its last wait, each with how long it waited and lived by its own clock.
const OWN_TIME: &str = r#"
    #define _GNU_SOURCE
    #include <pthread.h>
    #include <stdio.h>
    #include <sys/wait.h>
    #include <time.h>
    #include <unistd.h>
    static long now(void) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec * 1000000000L + t.tv_nsec;
    }
    static long slept(void) {
        long all = 0;
        for (int i = 0; i < 3; i++) {
            struct timespec ms = { 0, 20000000 };
            long begin = now();
            nanosleep(&ms, NULL);
            all += now() - begin;
        }
        return all;
    }
    static long thread[2];
    static void *naps(void *arg) {
        thread[0] = gettid();
        thread[1] = slept();
        return arg;
    }
    int main(void) {
        for (int i = 0; i < 5; i++) {
            pthread_t id;
            long begin = now();
            pthread_create(&id, NULL, naps, NULL);
            pthread_join(id, NULL);
            dprintf(1, "%ld %ld %ld\n", thread[0], thread[1], now() - begin);
            int answer[2];
            long waited = 0;
            if (pipe(answer)) return 1;
            begin = now();
            pid_t child = fork();
            if (child == 0) {
                waited = slept();
                _exit(write(answer[1], &waited, sizeof waited) < 0);
            }
            waitpid(child, NULL, 0);
            if (read(answer[0], &waited, sizeof waited) < 0) return 1;
            dprintf(1, "%d %ld %ld\n", child, waited, now() - begin);
        }
        dprintf(1, "%d 0 0\n", getpid());
        return 0;
    }
"#;

#[test]
fn what_record_off_cpu_writes_is_what_the_program_says_of_its_time() {
    needs!(cc, live);
    let dir = scratch();
    let (program, file) = (dir.path().join("own"), dir.path().join("perf.data"));
    compile(&program, OWN_TIME, &["-O1", "-pthread"]);
    let mut record = rprof(["record", "--off-cpu", "-m", "1024", "-o"]);
    let ran = run(record.arg(&file).arg("--").arg(&program)).ok();
    let told = ran.stdout.lines().filter_map(|line| {
        let mut numbers = line.split(' ').map(|word| word.parse::<u64>().ok());
        Some((numbers.next()??, [numbers.next()??, numbers.next()??]))
    });
    let told: BTreeMap<u64, [u64; 2]> = told.collect();
    assert_eq!(told.len(), 11, "{}", ran.stdout);
    let sum_of = |account| {
        let mut sums: BTreeMap<u64, u64> = BTreeMap::new();
        for one in stretches(&file, account) {
            *sums.entry(u64::try_from(one.tid).unwrap()).or_default() += one.ns;
        }
        sums
    };
    let (off_cpu, wall) = (sum_of("--off-cpu"), sum_of("--wall"));
    for tid in off_cpu.keys().chain(wall.keys()) {
        assert!(told.contains_key(tid), "{tid} is not the program's");
    }
    for (tid, &[slept, lived]) in told.iter().filter(|(_, told)| told[1] > 0) {
        let [waited, all] = [&off_cpu, &wall].map(|sums| sums.get(tid).copied().unwrap_or(0));
        // Its clock runs a little before and after each wait.
        assert!(waited * 50 >= slept * 49, "{tid}: {waited} of {slept}");
        assert!(
            waited <= all && all * 50 <= lived * 51,
            "{tid}: {waited}, {all} of {lived}"
        );
    }
}

#[test]
fn a_recording_without_switches_has_no_time_off_the_cpu() {
    let file = fixtures().join("spin").join("perf.data");
    for account in ["--off-cpu", "--wall"] {
        let refused = run(rprof(["report", account, "-i"]).arg(&file)).fails(1);
        assert!(refused.contains("no context switches"), "{refused}");
        assert!(refused.contains(account) && refused.contains("rprof record --off-cpu"));
    }
    let refused = run(rprof(["report", "-s", "cause", "-i"]).arg(&file)).fails(1);
    assert!(refused.contains("add --off-cpu or --wall"), "{refused}");
}
