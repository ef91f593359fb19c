//! `rprof record`, for real: what it records, how it ends, what it says when it cannot.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

mod common;

use common::{
    compile_c, has, is_root, live, number_after, number_before, rprof, run, scratch, signal,
};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

/// Burns CPU until it is killed, after a line that says it runs.
const SPIN: &str = "echo ready; while :; do :; done";

fn samples(stderr: &str) -> u64 {
    number_before(stderr, " samples in").expect(stderr)
}

fn report(path: &Path, args: &[&str]) -> String {
    let path = path.to_str().unwrap();
    run(&mut rprof(["report", "-i", path].iter().chain(args)))
        .ok()
        .stdout
}

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
fn the_commands_exit_status_is_passed_on() {
    let _live = live();
    let dir = scratch();
    let record = |script: &str| {
        let out = dir.path().join("perf.data");
        run(rprof(["record", "-o"]).arg(out).args(["sh", "-c", script]))
            .status
            .code()
    };
    assert_eq!(record("exit 0"), Some(0));
    assert_eq!(record("exit 7"), Some(7));
    assert_eq!(record("kill -9 $$"), Some(137));
}

#[test]
fn a_command_that_cannot_be_started_leaves_the_old_recording_alone() {
    let _live = live();
    let dir = scratch();
    let out = dir.path().join("perf.data");
    common::write(&out, b"precious");
    let record = |command: &str| run(rprof(["record", "-o"]).arg(&out).arg(command)).fails(1);
    assert!(record("/no/such/command").contains("/no/such/command: No such file"));
    assert!(record("/etc/passwd").contains("Permission denied"));
    assert_eq!(std::fs::read(&out).unwrap(), b"precious");
    assert!(!dir.path().join("perf.data.old").exists());
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
fn an_interrupt_ends_the_recording_and_keeps_the_file() {
    let _live = live();
    let dir = scratch();
    let out = dir.path().join("perf.data");
    let mut recorder = rprof(["record", "-F", "999", "-o"])
        .arg(&out)
        .args(["--", "sh", "-c", SPIN])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_line(&mut recorder);
    signal(recorder.id(), "INT");
    let ran = common::finish(recorder);
    // The command ended by our SIGTERM, as perf ends it.
    assert_eq!(ran.status.code(), Some(128 + 15), "{}", ran.stderr);
    assert!(ran.stderr.contains(" samples in "), "{}", ran.stderr);
    report(&out, &["-g", "none"]);
}

/// The command's first line on the recorder's stdout: it runs.
fn wait_for_line(recorder: &mut std::process::Child) {
    let mut byte = [0];
    let stdout = recorder.stdout.as_mut().unwrap();
    while byte != *b"\n" {
        stdout.read_exact(&mut byte).unwrap();
    }
}

#[test]
fn a_killed_recorder_leaves_a_readable_file() {
    let _live = live();
    let dir = scratch();
    let out = dir.path().join("perf.data");
    // The command itself waits until records are in the file, then kills its recorder.
    let script = "while [ $(stat -c %s \"$0\") -lt 20000 ]; do :; done; kill -9 $PPID";
    let recorder = rprof(["record", "-F", "9999", "-m", "4", "-o"])
        .arg(&out)
        .args(["--", "sh", "-c", script])
        .arg(&out)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let ran = common::finish(recorder);
    assert_eq!(ran.status.code(), None);
    let ran = run(rprof(["report", "-g", "none", "-i"]).arg(&out)).ok();
    assert!(ran.stderr.contains("not ended properly"), "{}", ran.stderr);
    assert!(number_after(&ran.stdout, "# Samples: ").unwrap() > 0);
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
fn others_that_live_on_are_said_and_waited_for_on_request() {
    let _live = live();
    let dir = scratch();
    let out = dir.path().join("perf.data");
    // The background loop outlives the shell that started it.
    let script = "(i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done) & exit 3";
    let record = |more: &[&str]| {
        let mut command = rprof(["record", "-F", "999", "-o"]);
        run(command
            .arg(&out)
            .args(more)
            .args(["--", "sh", "-c", script]))
    };
    let ran = record(&[]);
    assert!(ran.stderr.contains("live on"), "{}", ran.stderr);
    assert_eq!(ran.status.code(), Some(3));
    let ran = record(&["--wait-all"]);
    assert!(!ran.stderr.contains("live on"), "{}", ran.stderr);
    assert_eq!(ran.status.code(), Some(3));
    assert!(samples(&ran.stderr) > 50, "{}", ran.stderr);
}

#[test]
fn without_rights_user_space_is_recorded_and_the_user_told() {
    let _live = live();
    let test = "without_rights_user_space_is_recorded_and_the_user_told";
    if !is_root(test) || !has(test, "setpriv", "util-linux") {
        return;
    }
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    if paranoid.trim() != "2" {
        println!("{test}: not run, perf_event_paranoid is {paranoid}");
        return;
    }
    let dir = scratch();
    let binary = dir.path().join("rprof");
    std::fs::copy(env!("CARGO_BIN_EXE_rprof"), &binary).unwrap();
    run(Command::new("chmod").args(["-R", "777"]).arg(dir.path())).ok();
    let as_nobody = |args: &[&str]| {
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&binary);
        run(command.args(args).current_dir(dir.path()))
    };
    let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let ran = as_nobody(&["record", "-F", "999", "sh", "-c", script]).ok();
    assert!(
        ran.stderr.contains("not permitted to sample the kernel"),
        "{}",
        ran.stderr
    );
    assert!(samples(&ran.stderr) > 0, "{}", ran.stderr);
    let table = as_nobody(&["report", "-g", "none"]).ok().stdout;
    assert!(
        table.contains("cpu-clock:u") && !table.contains("[k]"),
        "{table}"
    );
    let error = as_nobody(&["record", "-a", "true"]).fails(1);
    assert!(error.contains("perf_event_paranoid"), "{error}");
    let error = as_nobody(&["record", "-p", "1", "--duration", "1"]).fails(1);
    assert!(
        error.contains("EACCES") && error.contains("sudo"),
        "{error}"
    );
}

#[test]
fn a_disk_that_is_full_ends_the_recording_but_not_the_file() {
    let _live = live();
    let dir = scratch();
    let out = dir.path().join("perf.data");
    // A limit on file sizes fails like a full disk; its signal is ignored, and that inherited.
    let limit =
        "trap '' XFSZ; ulimit -f 64; exec \"$0\" record -F 9999 -m 4 -o \"$1\" -- sh -c \"$2\"";
    let script = "i=0; while [ $i -lt 2000000 ]; do i=$((i+1)); done";
    let ran = run(Command::new("sh")
        .args(["-c", limit, env!("CARGO_BIN_EXE_rprof")])
        .arg(&out)
        .arg(script));
    let error = ran.fails(1);
    assert!(
        error.contains("File too large") && error.contains("readable"),
        "{error}"
    );
    let table = report(&out, &["-g", "none"]);
    assert!(number_after(&table, "# Samples: ").unwrap() > 0, "{table}");
}

#[test]
fn what_cannot_be_done_is_said_in_one_line() {
    let _live = live();
    let error = |args: &[&str], code| {
        let stderr = run(&mut rprof(["record", "-q"].iter().chain(args))).fails(code);
        if code == 1 {
            assert_eq!(stderr.trim_end().lines().count(), 1, "{stderr}");
        }
        stderr
    };
    assert!(error(&[], 1).contains("nothing to record"));
    assert!(error(&["-o", "/no/such/dir/x", "true"], 1).contains("cannot write /no/such/dir/x"));
    assert!(error(&["-o", "/dev/null", "true"], 1).contains("not a regular file"));
    assert!(error(&["-e", "cycels", "true"], 1).contains("did you mean"));
    assert!(error(&["-e", "instructions", "true"], 1).contains("instructions"));
    assert!(error(&["-p", "999999999", "--duration", "1"], 1).contains("no such process"));
    assert!(error(&["-F", "0", "true"], 1).contains("-F"));
    assert!(error(&["--call-graph", "lbr", "true"], 2).contains("--call-graph"));
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
