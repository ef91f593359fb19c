//! Debug registers: deep stacks are proved by one of them, and everybody else comes first.

use crate::common::{
    Running, alone, attaches, has, not_run, number_before, record_while, rprof, run, tool,
};
use crate::stacks::samples::program;

/// Goes deeper than any dump, works a while, and changes four words there, six times each. With an argument, it
/// waits for a line first, says when it has worked, and goes on until a debugger lets it begin.
const CHANGES: &str = r#"
    #include <stdio.h>
    volatile long one, two, three, four, may_begin;
    NOINLINE void change(void) {
        for (int i = 0; i < 6; i++) {
            spin(20); one++; spin(20); two++; spin(20); three++; spin(20); four++;
        }
    }
    NOINLINE void down(int left, int waits) {
        volatile char room[1000];
        room[0] = left;
        if (left) down(left - 1, waits);
        else {
            if (waits) getchar();
            spin(300);
            if (waits) { puts("done"); fflush(stdout); }
            while (waits && !may_begin) spin(5);
            change();
        }
        sink += room[0];
    }
    int main(int argc, char **argv) { down(200, argc > 1); return 0; }"#;

/// Opens a breakpoint of its own thread, for one of four words.
const WATCH: &str = r"
    #define _GNU_SOURCE
    #include <linux/hw_breakpoint.h>
    #include <linux/perf_event.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    static long words[4];
    NOINLINE int watch(long *word) {
        struct perf_event_attr attr;
        memset(&attr, 0, sizeof attr);
        attr.size = sizeof attr;
        attr.type = PERF_TYPE_BREAKPOINT;
        attr.bp_type = HW_BREAKPOINT_W;
        attr.bp_addr = (unsigned long)word;
        attr.bp_len = 8;
        attr.exclude_kernel = attr.exclude_hv = 1;
        return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    }
";

/// Whether a program gets that many of the CPU's breakpoints while nobody records it: without them gdb steps
/// through all code.
#[track_caller]
fn has_breakpoints(wanted: u64) -> bool {
    let main = r#"
    int main(void) {
        int n = 0;
        while (n < 4 && watch(&words[n]) >= 0) n++;
        printf("%d breakpoints\n", n);
        return 0;
    }"#;
    let Some(program) = program(&format!("{WATCH}{main}")) else {
        return false;
    };
    let said = run(&mut tool(program.path())).ok().stdout;
    let has_all = number_before(&said, " breakpoints") >= Some(wanted);
    if !has_all {
        not_run(&format!(
            "it takes {wanted} of the CPU's breakpoints: {}",
            said.trim_end()
        ));
    }
    has_all
}

/// gdb's commands to see all changes of some words, from where it is.
fn watching(words: &[&str]) -> Vec<String> {
    let watches = words.iter().map(|word| format!("watch {word}"));
    let mut commands: Vec<String> = watches.collect();
    commands.extend(vec!["continue".to_owned(); words.len() * 6]);
    let on = |command| ["-ex".to_owned(), command];
    commands.into_iter().flat_map(on).collect()
}

fn n_changes(gdb: &str) -> usize {
    let lines = gdb.lines();
    lines
        .filter(|line| line.starts_with("New value = "))
        .count()
}

#[test]
fn a_debugger_has_all_registers_of_what_it_runs() {
    if !has("gdb", "gdb") || !has_breakpoints(4) {
        return;
    }
    let Some(program) = program(CHANGES) else {
        return;
    };
    let mut recorder = rprof(["record", "-e", "cpu-clock", "-F", "999", "-o"]);
    recorder
        .arg(program.file("perf.data"))
        .args(["--", "gdb", "-nx", "-batch"]);
    recorder.args(["-ex", "break change", "-ex", "run"]);
    recorder
        .args(watching(&["one", "two", "three", "four"]))
        .arg(program.path());
    let live = alone();
    let ran = run(&mut recorder);
    drop(live);
    assert_eq!(n_changes(&ran.stdout), 24, "{ran:?}");
}

#[test]
fn a_debugger_that_attaches_to_a_deep_program_gets_its_register_back() {
    if !has("gdb", "gdb") || !attaches() || !has_breakpoints(3) {
        return;
    }
    let Some(program) = program(CHANGES) else {
        return;
    };
    let live = alone();
    let mut running = Running::start(tool(program.path()).arg("waits"));
    let pid = running.pid().to_string();
    let mut recorder = rprof(["record", "-v", "-e", "cpu-clock", "-F", "999", "-o"]);
    recorder.arg(program.file("perf.data")).args(["-p", &pid]);
    let mut gdb = tool("gdb");
    gdb.args(["-nx", "-batch", "-p", &pid, "-ex", "set var may_begin = 1"]);
    gdb.args(watching(&["one", "two", "three"]));
    let mut said = None;
    let ran = record_while(&mut recorder, || {
        running.work();
        said = Some(run(&mut gdb));
    });
    drop(live);
    let said = said.unwrap();
    assert_eq!(n_changes(&said.stdout), 18, "{said:?}\n{ran:?}");
    // It had one while nobody else wanted it.
    let taken_back = number_before(&ran.stderr, " removed and");
    assert!(taken_back >= Some(1), "{ran:?}");
}

#[test]
fn a_deep_program_gets_all_breakpoints_that_it_opens() {
    // It tries again until it has four, for at most 20 seconds: registers come back in milliseconds.
    let source = r#"
        NOINLINE void down(int left) {
            volatile char room[1000];
            room[0] = left;
            if (left) down(left - 1);
            else {
                spin(300);
                int n = 0;
                for (int tries = 0; n < 4 && tries < 20000; tries++) {
                    if (watch(&words[n]) >= 0) n++; else usleep(1000);
                }
                printf("%d breakpoints\n", n);
                spin(50);
            }
            sink += room[0];
        }
        int main(void) { down(200); return 0; }"#;
    if !has_breakpoints(4) {
        return;
    }
    let Some(program) = program(&format!("{WATCH}{source}")) else {
        return;
    };
    let live = alone();
    let ran = run(&mut program.recorder(&["-F", "999"], &[])).ok();
    drop(live);
    assert_eq!(ran.stdout, "4 breakpoints\n", "{ran:?}");
}

#[test]
fn nobody_lends_a_register_who_does_not_want_to() {
    let source = r"
        NOINLINE void down(int left) {
            volatile char room[1000];
            room[0] = left;
            if (left) down(left - 1); else spin(300);
            sink += room[0];
        }
        int main(void) { down(200); return 0; }";
    let Some(program) = program(source) else {
        return;
    };
    let recording = program.record(&["-F", "999", "-v", "--no-watchpoints"], &[]);
    assert_eq!(recording.ends().completed, 0);
    assert!(!recording.stderr.contains("watchpoint"), "{recording:?}");
    for sample in recording.samples_in("spin") {
        assert!(sample.is_shortened(), "{sample:#?}");
    }
    // Else it is said what deep stacks took.
    let recording = program.record(&["-F", "999", "-v"], &[]);
    let said = &recording.stderr;
    assert!(
        said.contains("deep stacks: ") && said.contains("watchpoint"),
        "{recording:?}"
    );
}
