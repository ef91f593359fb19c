//! Processes that end before their first sample.

use crate::common::nobody::{Nobody, Sysctl};
use crate::common::{
    Ran, Running, compile_c, fixtures, has, needs, report, rprof, run, scratch, signal, tool,
};
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

fn program(dir: &Path) -> Option<PathBuf> {
    has("cc", "gcc").then(|| compile_c(dir, "short", SHORT))
}

fn table(dir: &Path) -> String {
    let args = ["--no-children", "-g", "none", "--sort", "comm,sym"];
    report(&dir.join("perf.data"), &args)
}

#[test]
fn short_processes_are_sampled_by_cpu() {
    needs!(live);
    let dir = scratch();
    let Some(program) = program(dir.path()) else {
        return;
    };
    needs!(all_cpus);
    let mut record = rprof(RECORD);
    record.current_dir(dir.path()).arg("--").arg(program);
    let ran = run(&mut record).ok();
    let said =
        "many processes or threads end before their first sample: sampling all CPUs from now on";
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
fn by_nobody(paranoid: &str) -> Option<(Nobody, Ran)> {
    let _paranoid = Sysctl::set_or_skip("kernel/perf_event_paranoid", paranoid)?;
    let nobody = Nobody::new()?;
    let dir = nobody.dir.path();
    let program = program(dir)?;
    let mut record = nobody.rprof(&RECORD);
    record.arg("--").arg(program);
    let ran = run(&mut record).ok();
    Some((nobody, ran))
}

#[test]
fn what_samples_do_not_cover_is_said() {
    needs!(alone);
    // With the kernel, and without.
    for (paranoid, space) in [("1", ""), ("2", " in user space")] {
        let Some((nobody, ran)) = by_nobody(paranoid) else {
            return;
        };
        let said = format!("% of the CPU time{space}: many processes or threads ended before");
        assert!(ran.stderr.contains(&said), "{}", ran.stderr);
        let table = table(nobody.dir.path());
        assert!(table.contains(&said), "{table}");
        assert!(!table.contains("child_works"), "{table}");
    }
}

#[test]
fn of_longer_processes_nothing_is_missing() {
    needs!(live, cc);
    let dir = scratch();
    let source = "static volatile unsigned long sink;
        int main(void) { WORK(600, sink += i) return 0; }";
    let program = compile_c(dir.path(), "long", source);
    let mut record = rprof(RECORD);
    record.current_dir(dir.path()).arg("--").arg(program);
    let ran = run(&mut record).ok();
    for said in ["sampling all CPUs", "samples cover"] {
        assert!(!ran.stderr.contains(said), "{}", ran.stderr);
    }
    assert!(!table(dir.path()).contains("Coverage"));
}

/// A process that works, with a child that does.
const FAMILY: &str = r#"
    #include <stdio.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static volatile unsigned long sink;
    __attribute__((noinline)) static void child_works(void) { WORK(200, sink += i) }
    __attribute__((noinline)) static void parent_works(void) { WORK(200, sink += i) }
    int main(int argc, char **argv) {
        (void)argv;
        if (argc > 1) { puts("ready"); fflush(stdout); getchar(); }
        if (fork() == 0) { child_works(); _exit(0); }
        parent_works();
        wait(0);
        return 0;
    }"#;

#[test]
fn of_everybody_the_commands_descendants_alone_are_shown() {
    needs!(alone, cc, all_cpus);
    let dir = scratch();
    let program = compile_c(dir.path(), "mine", FAMILY);
    let theirs = dir.path().join("theirs");
    std::fs::copy(&program, &theirs).unwrap();
    let mut other = Running::start(tool(&theirs).arg("waits"));
    assert_eq!(other.line(), "ready");
    let pid = other.pid();
    // It works once the recording runs.
    signal(pid, "STOP");
    other.type_in(b"\n");
    let mut record = rprof(["record", "-a", "-F", "299", "-e", "cpu-clock", "-o"]);
    record.current_dir(dir.path()).args(["perf.data", "--"]);
    record.args([
        "sh",
        "-c",
        "kill -CONT $0; ./mine; ./mine",
        &pid.to_string(),
    ]);
    run(&mut record).ok();
    let path = dir.path().join("perf.data");
    let rows = |filter: &str| {
        let args = ["--no-children", "-g", "none", "--sort", "comm,sym", filter];
        let table = report(&path, &args);
        let rows = table.lines().map(str::trim);
        let rows = rows.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let rows: Vec<String> = rows.map(str::to_owned).collect();
        assert!(!rows.is_empty(), "{table}");
        rows
    };
    let has = |rows: &[String], words: [&str; 2]| {
        let mut rows = rows.iter();
        rows.any(|row| words.iter().all(|word| row.contains(word)))
    };
    let all = rows("--children");
    assert!(has(&all, ["theirs", "_works"]), "{all:#?}");
    let mine = rows("--descendants");
    for name in ["child_works", "parent_works"] {
        assert!(has(&mine, ["mine", name]), "{mine:#?}");
    }
    let is_other = |row: &String| !["%  mine ", "%  sh "].iter().any(|comm| row.contains(comm));
    assert!(!mine.iter().any(is_other), "{mine:#?}");
    let others = rows(&format!("--descendants={pid}"));
    assert!(has(&others, ["theirs", "child_works"]), "{others:#?}");
    assert!(
        !others.iter().any(|row| row.contains(" mine ")),
        "{others:#?}"
    );
    let mut none = rprof(["report", "--descendants=999999999", "-i"]);
    assert!(run(none.arg(&path)).ok().stdout.contains("Samples: 0"));
    // perf does not say which process the command was.
    let mut unknown = rprof(["report", "--descendants", "-i"]);
    let error = run(unknown.arg(fixtures().join("dwarf/perf.data"))).fails(1);
    assert!(error.contains("--descendants=PID"), "{error}");
}
