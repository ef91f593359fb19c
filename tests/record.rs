//! `rprof record`, for real: what it records, how it ends, what it says when it cannot.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

mod common;

use common::{
    SPIN, compile_c, has, is_root, live, number_after, number_before, report, rprof, run, samples,
    scratch,
};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn a_command_is_recorded_and_its_samples_are_in_the_file() {
    let _live = live();
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let ran = run(rprof(["record", "-F", "999", "-o"])
        .arg(&out)
        .args(["--", "sh", "-c", script]))
    .ok();
    let n = samples(&ran.stderr);
    assert!(n > 0 && ran.stderr.contains(" 0 lost"), "{}", ran.stderr);
    let table = report(&out, &["--no-children", "-g", "none"]);
    assert_eq!(number_after(&table, "# Samples: "), Some(n));
    assert_eq!(number_after(&table, "# Total Lost Samples: "), Some(0));
    assert!(table.lines().any(|line| line.contains("%  sh ")), "{table}");
}

#[test]
fn an_older_recording_is_kept_beside_the_new_one() {
    let _live = live();
    let dir = scratch();
    let out = dir.path().join("perf.data");
    common::write(&out, b"older");
    run(rprof(["record", "-q", "-o"]).arg(&out).arg("true")).ok();
    assert_eq!(
        std::fs::read(dir.path().join("perf.data.old")).unwrap(),
        b"older"
    );
    assert_ne!(std::fs::read(&out).unwrap(), b"older");
}

#[test]
fn children_and_threads_are_followed() {
    let _live = live();
    let test = "children_and_threads_are_followed";
    if !has(test, "cc", "gcc") {
        return;
    }
    let dir = scratch();
    let source = r#"
        #define _GNU_SOURCE
        #include <pthread.h>
        static volatile unsigned long sink;
        static void *busy(void *name) {
            pthread_setname_np(pthread_self(), name);
            for (unsigned long i = 0; i < 300000000; i++) sink += i;
            return 0;
        }
        int main(void) {
            pthread_t one;
            pthread_create(&one, 0, busy, "own-thread");
            pthread_join(one, 0);
            return 0;
        }"#;
    let program = compile_c(dir.path(), "threads", source);
    let out = dir.path().join("perf.data");
    run(rprof(["record", "-F", "999", "-o"])
        .arg(&out)
        .args(["sh", "-c", "\"$0\"; true"])
        .arg(program))
    .ok();
    let table = report(&out, &["--no-children", "-g", "none", "--sort", "comm"]);
    assert!(table.contains("own-thread"), "{table}");
}

#[test]
fn a_running_process_is_attached_to_and_outlives_the_recording() {
    let _live = live();
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let mut spinning = spin();
    let pid = spinning.id().to_string();
    let ran =
        run(rprof(["record", "-F", "999", "-p", &pid, "--duration", "0.5", "-o"]).arg(&out)).ok();
    assert!(spinning.try_wait().unwrap().is_none());
    spinning.kill().unwrap();
    spinning.wait().unwrap();
    assert!(samples(&ran.stderr) > 0, "{}", ran.stderr);
    let table = report(&out, &["--no-children", "-g", "none", "--sort", "comm,pid"]);
    assert!(
        table.contains(&format!("sh        {pid}")) || table.contains(&pid),
        "{table}"
    );
}

/// A shell that spins, running for sure.
fn spin() -> std::process::Child {
    let mut child = Command::new("sh")
        .args(["-c", SPIN])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "ready\n");
    child
}

#[test]
fn all_cpus_show_processes_that_were_there_before() {
    let _live = live();
    if !is_root("all_cpus_show_processes_that_were_there_before") {
        return;
    }
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let mut spinning = spin();
    let pid = spinning.id().to_string();
    run(rprof(["record", "-F", "999", "-a", "-o"])
        .arg(&out)
        .args(["--", "sleep", "0.5"]))
    .ok();
    spinning.kill().unwrap();
    spinning.wait().unwrap();
    let table = report(&out, &["--no-children", "-g", "none", "--pid", &pid]);
    let own = table
        .lines()
        .find(|line| line.contains("%  sh "))
        .expect(&table);
    assert!(!own.contains("[unknown]"), "{own}");
}

#[test]
fn what_is_lost_is_counted_as_the_kernel_counts_it() {
    let _live = live();
    let test = "what_is_lost_is_counted_as_the_kernel_counts_it";
    if !has(test, "cc", "gcc") {
        return;
    }
    let dir = scratch();
    // 20,000 page faults, a sample each, while the recorder is stopped: the ring must overflow.
    let source = r#"
        #include <signal.h>
        #include <sys/mman.h>
        #include <unistd.h>
        int main(void) {
            unsigned long size = 20000UL * 4096;
            volatile char *p = mmap(0, size, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            madvise((void *)p, size, MADV_NOHUGEPAGE);
            kill(getppid(), SIGSTOP);
            for (unsigned long i = 0; i < size; i += 4096) p[i] = 1;
            kill(getppid(), SIGCONT);
            return 0;
        }"#;
    let program = compile_c(dir.path(), "faults", source);
    let out = dir.path().join("perf.data");
    let args = ["record", "-e", "page-faults", "-c", "1", "-m", "1", "-o"];
    let ran = run(rprof(args).arg(&out).arg(program)).ok();
    let (samples, lost) = (
        samples(&ran.stderr),
        number_before(&ran.stderr, " lost").unwrap(),
    );
    assert!(lost > 0 && samples + lost >= 20_000, "{}", ran.stderr);
    let table = report(&out, &["-g", "none"]);
    assert_eq!(number_after(&table, "# Total Lost Samples: "), Some(lost));
    if has(test, "perf", "linux-perf") {
        let perf = run(Command::new("perf")
            .args(["report", "--stdio", "-i"])
            .arg(&out))
        .ok();
        assert_eq!(
            number_after(&perf.stdout, "# Total Lost Samples: "),
            Some(lost)
        );
    }
}

#[test]
fn several_events_are_recorded_side_by_side() {
    let _live = live();
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    run(
        rprof(["record", "-F", "999", "-e", "cpu-clock,page-faults", "-o"])
            .arg(&out)
            .args(["sh", "-c", script]),
    )
    .ok();
    let table = report(&out, &["-g", "none"]);
    assert!(
        table.contains("event 'cpu-clock'") && table.contains("event 'page-faults'"),
        "{table}"
    );
}

#[test]
fn threads_and_cpus_can_be_chosen() {
    let _live = live();
    if !is_root("threads_and_cpus_can_be_chosen") {
        return;
    }
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let mut spinning = spin();
    let tid = spinning.id().to_string();
    let record = |args: &[&str]| {
        let args = [&["record", "-F", "999", "--duration", "0.5"], args, &["-o"]].concat();
        run(rprof(args).arg(&out)).ok();
        report(&out, &["--no-children", "-g", "none", "--sort", "tid,cpu"])
    };
    let rows = |table: &str| -> Vec<String> {
        let rows = table
            .lines()
            .filter(|line| line.contains("% ") && line.starts_with(' '));
        rows.map(str::to_owned).collect()
    };
    let of_thread = rows(&record(&["-t", &tid]));
    let of_cpu = rows(&record(&["-C", "0"]));
    spinning.kill().unwrap();
    spinning.wait().unwrap();
    assert!(
        !of_thread.is_empty() && of_thread.iter().all(|row| row.contains(&tid)),
        "{of_thread:?}"
    );
    assert!(
        !of_cpu.is_empty() && of_cpu.iter().all(|row| row.trim_end().ends_with("000")),
        "{of_cpu:?}"
    );
}

#[test]
fn under_sudo_the_file_is_the_callers() {
    use std::os::unix::fs::MetadataExt;
    let _live = live();
    if !is_root("under_sudo_the_file_is_the_callers") {
        return;
    }
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let mut record = rprof(["record", "-q", "-o"]);
    record
        .arg(&out)
        .arg("true")
        .env("SUDO_UID", "65534")
        .env("SUDO_GID", "65533");
    run(&mut record).ok();
    let meta = std::fs::metadata(&out).unwrap();
    assert_eq!(
        (meta.uid(), meta.gid(), meta.mode() & 0o777),
        (65534, 65533, 0o600)
    );
}

#[test]
fn tracepoints_are_recorded_and_open_in_perf() {
    let _live = live();
    let test = "tracepoints_are_recorded_and_open_in_perf";
    if !is_root(test) || !has(test, "perf", "linux-perf") {
        return;
    }
    if !Path::new("/sys/kernel/tracing/events/sched").exists() {
        let mut mount = Command::new("mount");
        let mounted = mount
            .args(["-t", "tracefs", "nodev", "/sys/kernel/tracing"])
            .status();
        if !mounted.is_ok_and(|status| status.success()) {
            println!("{test}: not run, this kernel has no tracefs");
            return;
        }
    }
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let args = ["record", "-e", "sched:sched_process_exec", "-o"];
    let ran = run(rprof(args)
        .arg(&out)
        .args(["sh", "-c", "true; /bin/true; /bin/true; exit 0"]))
    .ok();
    let n = samples(&ran.stderr);
    assert!(n >= 2, "{}", ran.stderr);
    let script = run(Command::new("perf")
        .args(["script", "-F", "comm,event,trace", "-i"])
        .arg(&out))
    .ok();
    let lines: Vec<&str> = script
        .stdout
        .lines()
        .filter(|line| line.contains("sched_process_exec:"))
        .collect();
    assert_eq!(lines.len() as u64, n, "{}", script.stdout);
    assert!(
        lines.iter().any(|line| line.contains("filename=/bin/true")),
        "{}",
        script.stdout
    );
}
