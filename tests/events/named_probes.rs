//! Probes by names as they are shown, their arguments, and their counts without samples.

use super::{common, record, sums};
use common::{FRAME_POINTERS, Program, Running, needs, rprof, run, skipped, tool};
use std::path::Path;

/// Functions with names that C++ compilers make; each is called a known number of times.
const SOURCE: &str = r#"
    #include <stdlib.h>
    #include <sys/wait.h>
    #include <unistd.h>
    __attribute__((noinline)) long of_int(int x) __asm__("_ZN4shop6workerEi");
    __attribute__((noinline)) long of_text(const char *x) __asm__("_ZN4shop6workerEPKc");
    __attribute__((noinline)) long total(long of) __asm__("_ZN4shop5Order5totalEl");
    long of_int(int x) { __asm__ volatile(""); return x; }
    long of_text(const char *x) { __asm__ volatile(""); return *x; }
    long total(long of) { __asm__ volatile(""); return of; }
    __attribute__((noinline)) long plain(long n, unsigned len) { __asm__ volatile(""); return n + len; }
    static volatile long sum;
    int main(void) {
        for (int i = 0; i < 3; i++) sum += of_int(i);
        for (int i = 0; i < 5; i++) sum += of_text("a");
        for (int i = 0; i < 7; i++) sum += total(i);
        for (int i = 0; i < 10; i++) sum += plain(i, 100 + i);
        if (fork() == 0) { for (int i = 0; i < 4; i++) sum += plain(i, 7); _exit(0); }
        wait(NULL);
        return 0;
    }"#;

fn program() -> Option<Program> {
    needs!(root);
    if !Path::new("/sys/bus/event_source/devices/uprobe").exists() {
        skipped("a kernel with CONFIG_UPROBE_EVENTS");
        return None;
    }
    Program::new(SOURCE, FRAME_POINTERS)
}

#[test]
fn functions_have_the_names_that_are_shown() {
    let Some(program) = program() else { return };
    needs!("perf" in "perf", alone);
    let (out, path) = (program.file("perf.data"), program.path());
    let at = path.display();
    let of = |name: &str, hits: u64| (format!("uprobe:{at}:{name}"), hits, hits);
    for (name, expected) in [
        ("shop::Order::total", vec![of("shop::Order::total", 7)]),
        ("_ZN4shop6workerEi", vec![of("shop::worker", 3)]),
        ("shop::worker(int)", vec![of("shop::worker", 3)]),
        (
            "shop::worker",
            vec![
                of("shop::worker(char const*)", 5),
                of("shop::worker(int)", 3),
            ],
        ),
        ("*Order*", vec![of("shop::Order::total", 7)]),
    ] {
        record(&out, &["-e", &format!("uprobe:{at}:{name}")], &[&path]);
        assert_eq!(sums(&out), expected, "{name}");
    }
    let event = format!("uprobe:{at}:worker");
    let error = run(rprof(["record", "-e", &event, "-o"]).arg(&out).arg(&path)).fails(1);
    assert!(error.contains("did you mean 'shop::worker'?"), "{error}");
    let mut list = rprof(["list", "uprobe", "total", "--path"]);
    let listed = run(list.arg(&path)).ok().stdout;
    let line = listed
        .lines()
        .find(|line| line.contains("shop::Order::total"));
    assert!(
        line.is_some_and(|line| line.contains("_ZN4shop5Order5totalEl")),
        "{listed}"
    );
}

#[test]
fn libraries_are_found_by_their_names() {
    let Some(program) = program() else { return };
    needs!(alone);
    let (out, path) = (program.file("perf.data"), program.path());
    let libc = common::libc();
    let name = libc.rsplit('/').next().unwrap();
    let event = format!("uprobe:{name}:fork");
    let said = record(&out, &["-e", &event], &[&path]);
    assert!(said.contains("1 sample in"), "{said}");
    // In what a process has mapped.
    let mut waiting = Running::start(&mut tool("cat"));
    let pid = waiting.pid().to_string();
    let event = format!("uprobe:{name}:read");
    let mut recorder = rprof(["record", "-e", &event, "-p", &pid, "-o"]);
    let recording = common::record_while(recorder.arg(&out), || {
        // It may wait in its first call since before.
        for _ in 0..2 {
            waiting.type_in(b"x\n");
            assert_eq!(waiting.line(), "x");
        }
    });
    assert!(common::samples(&recording.ok().stderr) > 0);
}

#[test]
fn arguments_are_in_samples_and_filters_compare_them() {
    let Some(program) = program() else { return };
    needs!(x86_64, alone);
    let (out, path) = (program.file("perf.data"), program.path());
    let event = format!("uprobe:{}:plain(%di:s64,len=%si:u32)", path.display());
    let script = |filter: &[&str]| -> Vec<String> {
        record(&out, &[&["-e", &event], filter].concat(), &[&path]);
        let mut script = rprof(["script", "-G", "-F", "trace", "-i"]);
        let text = run(script.arg(&out)).ok().stdout;
        let after = |line: &str| {
            line.split_once(") ")
                .map(|(_, values)| values.trim().to_owned())
        };
        text.lines().filter_map(after).collect()
    };
    let parent = (0..10).map(|n| format!("arg1={n} len={}", 100 + n));
    let all: Vec<String> = parent
        .chain((0..4).map(|n| format!("arg1={n} len=7")))
        .collect();
    assert_eq!(script(&[]), all);
    let some = ["arg1=8 len=108", "arg1=9 len=109"];
    assert_eq!(script(&["--filter", "arg1 > 7 && len > 100"]), some);
    let record = |event: &str, filter: &[&str]| {
        let args = [&["record", "-e", event], filter, &["true"]].concat();
        run(&mut rprof(args))
    };
    let error = record(&event, &["--filter", "lenn > 1"]).fails(2);
    assert!(error.contains("did you mean 'len'?"), "{error}");
    let event = format!("uprobe:{}:plain(%nothing)", path.display());
    let error = record(&event, &[]).fails(1);
    assert!(error.contains("the kernel rejects the probe"), "{error}");
}

#[test]
fn hits_are_counted_without_samples() {
    let Some(program) = program() else { return };
    needs!(alone);
    let path = program.path();
    let at = path.display();
    let count = |event: &str, more: &[&str]| {
        let event = format!("uprobe:{at}:{event}");
        let mut stat = rprof([&["stat", "-x,", "-e", &event], more].concat());
        run(stat.arg(&path)).ok().stderr
    };
    // The child, too.
    assert!(count("plain", &[]).starts_with("14,"));
    assert!(count("plain", &["-i"]).starts_with("10,"));
    let both = count("shop::worker", &[]);
    let counts: Vec<&str> = both
        .lines()
        .filter_map(|line| line.split(',').next())
        .collect();
    assert_eq!(counts, ["3", "5"], "{both}");
}
