//! Times of any clock that perf takes.

use crate::common::{Program, compile, needs, rprof, run, scratch};
use crate::fields::{both, info, ours};

const CLOCKS: &[(&str, u64)] = &[
    ("mono", 1),
    ("raw", 4),
    ("real", 0),
    ("boot", 7),
    ("tai", 11),
    ("CLOCK_MONOTONIC_RAW", 4),
];

/// Pages of its own are touched by a function with a caller.
const CALLER: &str = r#"
    static char pages[64 * 4096];
    __attribute__((noinline)) void touch(volatile char *page) { *page = 1; }
    int main(void) {
        for (int i = 0; i < 64; i++) touch(pages + i * 4096);
        return 0;
    }"#;

#[test]
fn times_and_what_is_looked_up_by_them_are_of_the_clock_that_was_asked_for() {
    needs!(cc);
    let Some(_live) = both() else {
        return;
    };
    let dir = scratch();
    let program = dir.path().join("program");
    compile(&program, CALLER, &["-O1", "-g", "-fomit-frame-pointer"]);
    for &(name, id) in CLOCKS {
        let flags = ["-k", name, "-e", "page-faults:u", "-c", "1"];
        let recording = ours(dir.path(), &flags, &[program.to_str().unwrap()]);
        let info = info(&recording);
        for event in info["events"].as_array().unwrap() {
            // What is zero is left out.
            assert_eq!(event["attr"]["clockid"].as_u64().unwrap_or(0), id, "{name}");
        }
        let clocks = &info["features"]["clock_data"];
        assert_eq!(clocks["clockid"], id, "{name}");
        let first = info["records"]["first_sample_ns"].as_u64().unwrap();
        assert!(
            clocks["clock_ns"].as_u64().unwrap() <= first,
            "{name}: {clocks}"
        );
        let script = recording.read("script", &["-F", "ip,sym"]);
        let callers = script.lines().filter(|line| line.ends_with(" main"));
        assert!(callers.count() >= 63, "{name}: {script}");
    }
}

#[test]
fn an_unknown_clock_is_refused_with_those_that_there_are() {
    let error = run(&mut rprof(["record", "-k", "cpu", "true"])).fails(2);
    assert!(error.contains("mono, raw, real, boot or tai"), "{error}");
}

#[test]
fn a_jitdump_needs_its_own_clock_and_that_is_said() {
    let source = r#"
        #include <fcntl.h>
        #include <stdio.h>
        #include <sys/mman.h>
        #include <unistd.h>
        int main(void) {
            char name[64];
            snprintf(name, sizeof name, "jit-%d.dump", getpid());
            int file = open(name, O_CREAT | O_RDWR, 0600);
            if (ftruncate(file, 4096)) return 1;
            return mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED;
        }"#;
    let Some(program) = Program::new(source, &["-O1"]) else {
        return;
    };
    let Some(_live) = both() else {
        return;
    };
    let said = |clock: &str| {
        let mut record = rprof(["record", "-e", "page-faults:u", "-c", "1", "-k", clock]);
        record.arg("-o").arg(program.dir().join("perf.data"));
        record.arg(program.path()).current_dir(program.dir());
        run(&mut record).ok().stderr
    };
    let is_said = |stderr: &str| stderr.contains("jitdump times are of the mono clock");
    let (boot, mono) = (said("boot"), said("mono"));
    assert!(is_said(&boot) && !is_said(&mono), "{boot}\n{mono}");
}
