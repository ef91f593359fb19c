//! Filters of tracepoints and probes, against perf's.

use super::{common, perf_record, record, sums};
use common::{
    FRAME_POINTERS, Program, Running, Tracefs, has, needs, not_run, rprof, run, scratch, tracefs,
};
use std::path::Path;

/// A shell that writes three times a byte, twice two and once three.
const WRITES: &[&str] = &[
    "sh",
    "-c",
    "printf a; printf b; printf cc; printf dd; printf eee; printf f",
];

const WRITE: &str = "syscalls:sys_enter_write";
const WRITTEN: &str = "syscalls:sys_exit_write";

#[track_caller]
fn is_mounted() -> bool {
    match tracefs() {
        Some(Tracefs::Mounted) => true,
        Some(Tracefs::Private) => {
            not_run("tracefs is not mounted");
            false
        }
        None => false,
    }
}

/// Samples of each event.
#[track_caller]
fn counts(file: &Path) -> Vec<(String, u64)> {
    let sums = sums(file).into_iter();
    sums.map(|(event, n, _)| (event, n)).collect()
}

#[test]
fn only_hits_that_fit_are_sampled() {
    if !is_mounted() || !has("perf", "perf") {
        return;
    }
    needs!(alone);
    let dir = scratch();
    let (ours, theirs) = (dir.path().join("ours"), dir.path().join("theirs"));
    let two = format!("{WRITE},syscalls:sys_enter_writev");
    for (args, expected) in [
        (
            &["-e", WRITE, "--filter", "count == 1"][..],
            &[(WRITE, 3)][..],
        ),
        (
            &["-e", WRITE, "--filter", "count > 1 && count < 3"],
            &[(WRITE, 2)],
        ),
        (
            &[
                "-e",
                WRITE,
                "--filter",
                "count > 1",
                "--filter",
                "!(count == 2)",
            ],
            &[(WRITE, 1)],
        ),
        (
            &[
                "-e",
                WRITE,
                "--filter",
                "count == 2",
                "-e",
                WRITTEN,
                "--filter",
                "ret != 1",
            ],
            &[(WRITE, 2), (WRITTEN, 3)],
        ),
        (&["-e", &two, "--filter", "fd > 1000"], &[]),
        (
            &["-e", WRITE, "--exclude-perf", "--filter", "count == 0x3"],
            &[(WRITE, 1)],
        ),
        (
            &[
                "-a",
                "-e",
                WRITE,
                "--filter",
                "count == 3 && COMM == \"sh\"",
            ],
            &[(WRITE, 1)],
        ),
    ] {
        let expected: Vec<_> = expected
            .iter()
            .map(|(event, n)| ((*event).to_owned(), *n))
            .collect();
        record(&ours, args, WRITES);
        perf_record(&theirs, args, WRITES);
        assert_eq!(counts(&ours), expected, "{args:?}");
        assert_eq!(counts(&theirs), expected, "perf {args:?}");
    }
    let said = record(&ours, &["-e", WRITE, "--filter", "count == 9"], WRITES);
    let why = format!("no samples: no hit of '{WRITE}' matches its filter\n");
    assert!(said.ends_with(&why), "{said}");
    // A tracepoint with another name has its filter and its fields, too.
    let named = format!("{WRITE}/name=w/");
    record(&ours, &["-e", &named, "--filter", "count == 3"], WRITES);
    assert_eq!(counts(&ours), [("w".to_owned(), 1)]);
}

#[test]
fn the_recorders_own_hits_are_left_out_by_the_kernel() {
    if !is_mounted() {
        return;
    }
    needs!(alone);
    let dir = scratch();
    let out = dir.path().join("out");
    // The recorder waits so; that its samples are left out later is counted.
    let waits = "syscalls:sys_enter_poll,syscalls:sys_enter_ppoll";
    for (args, has_own) in [
        (&["-a", "-e", waits][..], true),
        (&["-a", "-e", waits, "--exclude-perf"], false),
    ] {
        record(&out, args, WRITES);
        let info = run(rprof(["info", "-i"]).arg(&out)).ok().stdout;
        let own = common::number_after(&info, "\n    own: ");
        assert_eq!(own.is_some_and(|n| n > 0), has_own, "{info}");
    }
}

/// Calls `hit` twice in each of three processes.
const SOURCE: &str = r#"
    #include <stdio.h>
    #include <sys/wait.h>
    #include <unistd.h>
    __attribute__((noinline)) int hit(int x) { return x + 1; }
    static volatile int sum;
    int main(void) {
        getchar();
        for (int i = 0; i < 2; i++) {
            if (fork() == 0) { sum += hit(1); sum += hit(2); _exit(0); }
            wait(0);
        }
        sum += hit(1); sum += hit(2);
        puts("done");
        return 0;
    }"#;

#[test]
fn probes_have_the_fields_of_all_tracepoints() {
    needs!(root, "perf" in "perf");
    if !Path::new("/sys/bus/event_source/devices/uprobe").exists() {
        return common::skipped("a kernel with CONFIG_UPROBE_EVENTS");
    }
    let Some(program) = Program::new(SOURCE, FRAME_POINTERS) else {
        return;
    };
    needs!(alone);
    let (out, path) = (program.file("perf.data"), program.path());
    let probe = format!("uprobe:{}:hit", path.display());
    for (filter, hits) in [
        ("common_pid == PID", 2),
        ("common_pid != PID && cpu >= 0", 4),
    ] {
        let mut waiting = Running::start(common::tool(&path).args::<_, &str>([]));
        let pid = waiting.pid().to_string();
        let filter = filter.replace("PID", &pid);
        let mut recorder = rprof([
            "record", "-e", &probe, "--filter", &filter, "-p", &pid, "-o",
        ]);
        common::record_while(recorder.arg(&out), || waiting.work()).ok();
        assert_eq!(counts(&out), [(probe.clone(), hits)], "{filter}");
    }
    let args = ["record", "-e", &probe, "--filter", "pid == 1", "true"];
    let error = run(&mut rprof(args)).fails(2);
    let why = "has no field 'pid' (it has common_type, ";
    assert!(error.contains(why), "{error}");
}

#[test]
fn wrong_filters_are_told_before_anything_is_recorded() {
    if !is_mounted() {
        return;
    }
    for (args, message) in [
        (
            &["-e", "sched:sched_switch", "--filter", "prev_pidd > 0"][..],
            "column 1 of the filter 'prev_pidd > 0': sched:sched_switch has no field 'prev_pidd': \
             did you mean 'prev_pid' or 'prev_prio'? (it has prev_comm, prev_pid, ",
        ),
        (
            &["-e", "sched:sched_switch", "--filter", "prev_pid >> 0"],
            "column 11 of the filter 'prev_pid >> 0': expected a number",
        ),
        (
            &["-e", "cs", "--filter", "pid > 0"],
            "'cs' has no fields: --filter applies to the tracepoints and probes",
        ),
        (
            &["--filter", "pid > 0", "-e", "cs"],
            "--filter must follow the -e",
        ),
    ] {
        let error = run(rprof(["record"]).args(args).arg("true")).fails(2);
        assert!(
            error.starts_with(&format!("rprof: error: {message}")),
            "{error}"
        );
    }
}
