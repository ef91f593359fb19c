//! Without any rights: waits that last have their cause and their stack from /proc.

use super::{FUNCTIONS, Told, waits};
use crate::common::nobody::{Nobody, Sysctl};
use crate::common::{compile_c, in_path, needs, number_before, perf, rprof, run, skipped};
use serde_json::Value;
use std::path::{Path, PathBuf};

#[test]
fn without_rights_proc_says_why_threads_wait_for_long() {
    needs!(root, cc, alone);
    let Some(nobody) = Nobody::new() else { return };
    let Some(_level) = Sysctl::paranoid("2") else {
        return skipped("a perf_event_paranoid that can be set");
    };
    let (program, file) = waits(nobody.dir.path());
    let program = program.to_str().unwrap();
    let words = ["record", "--off-cpu", "-o", "perf.data", "--", program];
    let ran = run(&mut nobody.rprof(&words)).ok();
    let method = "recording when threads run, and why and where they wait";
    assert!(ran.stderr.contains(method), "{}", ran.stderr);
    let told = Told::parse(&ran.stdout);
    let dump = run(rprof([
        "script",
        "--show-switch-events",
        "--ns",
        "-F",
        "tid,time",
        "-i",
    ])
    .arg(&file));
    let outs = dump.stdout.lines().filter(|line| {
        let is_own = line.split_whitespace().next() == Some(&told.pid.to_string());
        is_own && line.contains("PERF_RECORD_SWITCH OUT")
    });
    assert!(outs.count() as u64 >= told.switches, "{}", dump.stdout);
    // How soon the recorder looks is for the machine to say: it sees some of 80 waits of 3 ms, and of these all.
    let n_read = number_before(&ran.stderr, " waits that lasted 1 ms").unwrap();
    let seen = all_waits(&file);
    assert!(n_read >= 1 && seen.len() as u64 == n_read, "{}", ran.stderr);
    // Its functions keep frame pointers, whose values nobody tells.
    let is_whole = |stack: &&Vec<String>| stack.iter().any(|name| name == "main");
    assert!(seen.iter().filter(is_whole).count() >= 1, "{seen:?}");
    for stack in &seen {
        let function = stack.iter().find(|name| FUNCTIONS.contains(&name.as_str()));
        let is_child = stack.iter().any(|name| name == "main") && function.is_none();
        let wanted = match function.map(String::as_str) {
            Some("waits_asleep") => "nanosleep",
            Some("waits_for_futex") => "futex",
            Some("waits_for_pipe") => "pipe_read",
            Some("waits_for_epoll") => "ep",
            // It reads, sleeps, and is waited for.
            _ => "",
        };
        assert!(function.is_some() || is_child, "{stack:?}");
        assert!(stack[0].contains(wanted), "{stack:?}");
    }
    let causes = run(rprof(["report", "--off-cpu", "-s", "cause", "-i"]).arg(&file)).ok();
    let is_known = |cause: &&str| causes.stdout.contains(cause);
    let known = ["sleep", "futex", "pipe", "epoll"]
        .into_iter()
        .filter(is_known);
    assert!(known.count() >= 1, "{}", causes.stdout);
    // perf names the functions of the kernel, too.
    if in_path("perf").is_some() {
        let theirs = run(perf(["script", "-f", "-F", "ip,sym", "-i"]).arg(&file)).ok();
        assert!(theirs.stdout.contains(&seen[0][0]), "{}", theirs.stdout);
    }
}

#[test]
fn each_file_of_a_rotated_recording_names_the_functions_of_the_kernel() {
    needs!(root, cc, alone);
    let Some(nobody) = Nobody::new() else { return };
    let Some(_level) = Sysctl::paranoid("2") else {
        return skipped("a perf_event_paranoid that can be set");
    };
    // Sleeps for two and a half seconds: longer than two files.
    let program = compile_c(
        nobody.dir.path(),
        "sleeper",
        r#"
        #include <time.h>
        int main(void) {
            for (int i = 0; i < 25; i++) { struct timespec t = { 0, 100000000 }; nanosleep(&t, 0); }
            return 0;
        }"#,
    );
    let program = program.to_str().unwrap();
    let output = ["--switch-output=1s", "-o", "perf.data"];
    let words = [&["record", "--off-cpu"], &output[..], &["--", program]].concat();
    run(&mut nobody.rprof(&words)).ok();
    let files = std::fs::read_dir(nobody.dir.path()).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let is_data = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("perf.data."))
    };
    let stacks: Vec<_> = files.filter(is_data).map(|file| all_waits(&file)).collect();
    assert!(
        stacks.iter().filter(|waits| !waits.is_empty()).count() >= 2,
        "{stacks:?}"
    );
    for wait in stacks.iter().flatten() {
        assert!(wait[0].contains("nanosleep"), "{wait:?}");
        assert!(wait.iter().any(|name| name == "main"), "{wait:?}");
    }
}

#[test]
fn a_place_that_an_older_call_has_left_behind_is_not_taken() {
    needs!(root, cc, alone);
    let Some(nobody) = Nobody::new() else { return };
    let Some(_level) = Sysctl::paranoid("2") else {
        return skipped("a perf_event_paranoid that can be set");
    };
    // `waits` is called by `warm` first; then through a pointer, with a frame that lies over what `warm` has left.
    let program = compile_c(
        nobody.dir.path(),
        "stale",
        r#"
        #include <alloca.h>
        #include <time.h>
        #define OWN __attribute__((noinline, noclone))
        static volatile int sink;
        OWN void waits(int n, int ms) {
            volatile char *room = alloca(n);
            room[0] = 1;
            struct timespec t = { 0, ms * 1000000L };
            if (ms) nanosleep(&t, 0);
            sink += room[0];
        }
        OWN void warm(int n) { waits(n, 0); sink++; }
        OWN void setup(int n) { warm(n); sink++; }
        OWN void handler(void (*f)(int, int)) { f(400, 30); sink++; }
        int main(void) {
            void (*volatile f)(int, int) = waits;
            for (int i = 0; i < 20; i++) { setup(16); handler(f); }
            return 0;
        }"#,
    );
    let program = program.to_str().unwrap();
    run(&mut nobody.rprof(&["record", "--off-cpu", "-o", "perf.data", "--", program])).ok();
    for wait in all_waits(&nobody.dir.path().join("perf.data")) {
        assert!(!wait.iter().any(|name| name == "warm"), "{wait:?}");
    }
}

/// The stacks of waits whose samples the recorder has made, innermost functions first.
fn all_waits(file: &Path) -> Vec<Vec<String>> {
    let script = run(rprof(["script", "--json", "-i"]).arg(file)).ok();
    let lines = script
        .stdout
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap());
    let is_wait = |line: &Value| line["event"] == "context-switches:u";
    let names = |line: Value| {
        let frames = line["frames"].as_array().unwrap().iter();
        let names = frames.map(|frame| frame["name"].as_str().unwrap_or_default().to_owned());
        names.collect()
    };
    lines.filter(is_wait).map(names).collect()
}
