//! Processes that end before their first sample.

use crate::common::nobody::{Nobody, Sysctl};
use crate::common::{Ran, compile_c, has, live, records_all, report, rprof, run, scratch};
use std::path::{Path, PathBuf};

/// Processes of a fifth of a millisecond, one after the other, for a second of CPU time.
const SHORT: &str = r#"
    #include <sys/resource.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static volatile unsigned long sink;
    __attribute__((noinline)) static void child_works(void) {
        for (long end = CPU_US() + 200; CPU_US() < end;) sink++;
    }
    int main(void) {
        struct rusage used;
        do {
            if (fork() == 0) { child_works(); _exit(0); }
            wait(0);
            getrusage(RUSAGE_CHILDREN, &used);
        } while (used.ru_utime.tv_sec + used.ru_stime.tv_sec < 1);
        return 0;
    }"#;

/// Samples come every 10 ms.
const RECORD: [&str; 7] = ["record", "-F", "100", "-e", "cpu-clock", "-o", "perf.data"];

fn program(test: &str, dir: &Path) -> Option<PathBuf> {
    has(test, "cc", "gcc").then(|| compile_c(dir, "short", SHORT))
}

fn table(dir: &Path) -> String {
    let args = ["--no-children", "-g", "none", "--sort", "comm,sym"];
    report(&dir.join("perf.data"), &args)
}

#[test]
fn short_processes_are_sampled_by_cpu() {
    let test = "short_processes_are_sampled_by_cpu";
    let Some(_live) = live(test) else {
        return;
    };
    let dir = scratch();
    let Some(program) = program(test, dir.path()) else {
        return;
    };
    if !records_all(test) {
        return;
    }
    let mut record = rprof(RECORD);
    record.current_dir(dir.path()).arg("--").arg(program);
    let ran = run(&mut record).ok();
    let said = "many processes end before their first sample: sampling all CPUs from now on";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let table = table(dir.path());
    assert!(table.contains("child_works"), "{table}");
    // Of others nothing is kept.
    let is_row = |line: &&str| line.contains('%') && !line.starts_with('#');
    for row in table.lines().filter(is_row) {
        assert!(row.contains(" short "), "{table}");
    }
}

/// Records the program as somebody who may not record everybody.
fn by_nobody(test: &str, paranoid: &str) -> Option<(Nobody, Ran)> {
    let _paranoid = Sysctl::set_or_skip(test, "kernel/perf_event_paranoid", paranoid)?;
    let nobody = Nobody::new(test)?;
    let dir = nobody.dir.path();
    let program = program(test, dir)?;
    let mut record = nobody.rprof(&RECORD);
    record.arg("--").arg(program);
    let ran = run(&mut record).ok();
    Some((nobody, ran))
}

#[test]
fn what_samples_do_not_cover_is_said() {
    let test = "what_samples_do_not_cover_is_said";
    let Some(_live) = live(test) else {
        return;
    };
    // With the kernel, and without.
    for paranoid in ["1", "2"] {
        let Some((nobody, ran)) = by_nobody(test, paranoid) else {
            return;
        };
        let said = "% of the CPU time: many processes ended before their first";
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        let table = table(nobody.dir.path());
        assert!(table.contains(said), "{table}");
        assert!(!table.contains("child_works"), "{table}");
    }
}

#[test]
fn of_longer_processes_nothing_is_missing() {
    let test = "of_longer_processes_nothing_is_missing";
    let Some(_live) = live(test) else {
        return;
    };
    if !has(test, "cc", "gcc") {
        return;
    }
    let dir = scratch();
    let source = "static volatile unsigned long sink;
        int main(void) { WORK(600, sink += i) return 0; }";
    let program = compile_c(dir.path(), "long", source);
    let mut record = rprof(RECORD);
    record.current_dir(dir.path()).arg("--").arg(program);
    let ran = run(&mut record).ok();
    for said in ["processes end", "samples cover"] {
        assert!(!ran.stderr.contains(said), "{}", ran.stderr);
    }
    assert!(!table(dir.path()).contains("cover"));
}
