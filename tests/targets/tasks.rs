//! Which tasks are sampled: what is started later (`-i`, `--per-thread`), users (`-u`).

use super::{info, sampled, sampled_processes};
use crate::common::nobody::as_user;
use crate::common::{
    FRAME_POINTERS, Program, Running, am_root, has, needs, record_while, rprof, run, scratch,
    skipped, tool, work::worker,
};

/// A thread and a child process, beside the main thread.
const TASKS: &str = r#"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
volatile unsigned long sink;
__attribute__((noinline)) void of_main(void) { WORK(80, sink += i) }
__attribute__((noinline)) void of_thread(void) { WORK(80, sink += i) }
__attribute__((noinline)) void of_child(void) { WORK(80, sink += i) }
static void *thread(void *unused) { of_thread(); return unused; }
int main(void) {
    pthread_t other;
    pthread_create(&other, 0, thread, 0);
    of_main();
    pthread_join(other, 0);
    int child = fork();
    if (child == 0) { of_child(); _exit(0); }
    waitpid(child, 0, 0);
    return 0;
}
"#;
const NAMES: &[&str] = &["of_main", "of_thread", "of_child"];

#[test]
fn what_is_started_later_is_left_out_as_by_perf() {
    let Some(program) = Program::new(TASKS, FRAME_POINTERS) else {
        return;
    };
    let has_perf = has("perf", "linux-perf");
    let file = program.file("perf.data");
    for (flags, expected) in [
        (&[][..], NAMES),
        (&["-i"], &["of_main"]),
        (&["--no-inherit"], &["of_main"]),
        (&["--per-thread"], &["of_main"]),
    ] {
        let flags = [flags, &["-F", "999"]].concat();
        program.record(&flags, &[]);
        assert_eq!(sampled(&file, NAMES), expected, "{flags:?}");
        let attr = &info(&file)["events"][0]["attr"];
        let inherits = attr["flags"].to_string().contains("\"inherit\"");
        assert_eq!(inherits, expected == NAMES, "{attr}");
        if has_perf {
            program.record_by_perf(&[&flags[..], &["-e", "cpu-clock"]].concat(), &[]);
            assert_eq!(sampled(&file, NAMES), expected, "{flags:?} by perf");
        }
    }
}

#[test]
fn a_thread_has_one_event_whatever_its_cpu() {
    needs!(live);
    let dir = scratch();
    let mut cat = Running::start(&mut tool("cat"));
    let pid = cat.pid().to_string();
    let words = [
        "record",
        "-e",
        "cpu-clock",
        "--call-graph",
        "fp",
        "--per-thread",
        "-p",
        &pid,
    ];
    record_while(rprof(words).current_dir(dir.path()), || {
        cat.type_in(b"line\n");
        assert_eq!(cat.line(), "line");
    })
    .ok();
    // Between the header and the attrs are the ids: one of the clock, one of names and mappings.
    let header = &info(&dir.path().join("perf.data"))["header"];
    assert_eq!(header["attrs"]["offset"], 104 + 2 * 8, "{header}");
}

#[test]
fn the_processes_of_a_user_are_sampled() {
    needs!(live);
    if !am_root() {
        return skipped("root");
    }
    needs!("setpriv" in "util-linux");
    let dir = scratch();
    // Nobody else's.
    let uid = 64_321;
    let script = worker(10);
    let mut theirs = Running::start(as_user(uid, uid, "sh").args(["-c", &script]));
    // It is theirs once it works.
    theirs.work();
    let mut own = Running::start(tool("sh").args(["-c", &script]));
    let uid = uid.to_string();
    let words = ["record", "-F", "999", "-e", "cpu-clock", "-u", &uid];
    let ran = record_while(rprof(words).current_dir(dir.path()), || {
        own.work();
        theirs.work();
    });
    ran.ok();
    let pids = sampled_processes(&dir.path().join("perf.data"));
    assert_eq!(pids.into_iter().collect::<Vec<_>>(), [theirs.pid()]);
    let error = run(rprof(["record", "-u", "no-such-user"]).current_dir(dir.path())).fails(2);
    assert!(
        error.contains("no user 'no-such-user' in /etc/passwd"),
        "{error}"
    );
    let error = run(rprof(["record", "-u", "64322"]).current_dir(dir.path())).fails(1);
    assert!(
        error.contains("no matching process: processes of user 64322"),
        "{error}"
    );
}
