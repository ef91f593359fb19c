//! What stands in for events where a filter forbids them: sampling by ptrace.

use crate::common::{Ran, compile_c, has, run, samples, tool};
use crate::permissions::cells::{Who, start};
use std::process::Command;

/// Works in its first thread, in another one, and in a process of its own that executes itself; sends itself
/// signals, has a process stopped and continued; says what came of it, and exits with 7.
const PROGRAM: &str = r#"
    #include <pthread.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/wait.h>
    #include <time.h>
    #include <unistd.h>
    static volatile int got;
    static volatile long sum;
    static void handler(int signal) { got++; }
    __attribute__((noinline)) void hot(void) {
        struct timespec now, end;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
        do {
            for (int n = 0; n < 3000000; n++) sum += n;
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        } while ((now.tv_sec - end.tv_sec) * 1000 + (now.tv_nsec - end.tv_nsec) / 1000000 < 300);
    }
    __attribute__((noinline)) void in_first(void) { hot(); sum++; }
    __attribute__((noinline)) void in_process(void) { hot(); sum++; }
    __attribute__((noinline)) void *in_thread(void *none) { hot(); sum++; return none; }
    int main(int argc, char **argv) {
        if (argc > 1) { in_process(); return 3; }
        pthread_t thread;
        pthread_create(&thread, 0, in_thread, 0);
        pid_t other = fork();
        if (!other) { execl(argv[0], argv[0], "again", (char *)0); return 99; }
        signal(SIGUSR1, handler);
        for (int n = 0; n < 1000; n++) kill(getpid(), SIGUSR1);
        in_first();
        pthread_join(thread, 0);
        int status, stopped;
        waitpid(other, &status, 0);
        printf("signals %d, process %d\n", got, WEXITSTATUS(status));
        pid_t stops = fork();
        if (!stops) { raise(SIGSTOP); _exit(5); }
        waitpid(stops, &stopped, WUNTRACED);
        kill(stops, SIGCONT);
        waitpid(stops, &status, 0);
        printf("stopped %d by %d, then %d\n", WIFSTOPPED(stopped), WSTOPSIG(stopped), WEXITSTATUS(status));
        return 7;
    }"#;

const BY_PTRACE: &str = "sampling by ptrace";

#[test]
fn a_command_is_sampled_where_no_event_can_be_opened() {
    let Some((_live, cells)) = start() else {
        return;
    };
    let dir = cells.nobody.dir.path();
    let program = compile_c(dir, "program", PROGRAM);
    let args = ["record", "-F", "500", program.to_str().unwrap()];
    let ran = run(&mut cells.rprof(Who::Nobody, &[cells.filter(), "1"], &args));
    assert_eq!(ran.status.code(), Some(7), "{ran:?}");
    // Signals and stops are as without a recorder.
    let said = "signals 1000, process 3\nstopped 1 by 19, then 5\n";
    assert_eq!(ran.stdout, said, "{ran:?}");
    assert!(
        ran.stderr.contains(BY_PTRACE) && ran.stderr.contains("500 Hz"),
        "{ran:?}"
    );
    // A loaded machine may shorten dumps, which is said.
    let is_whole = ran.stderr.contains("all stacks complete");
    assert!(is_whole || ran.stderr.contains("stack dumps of"), "{ran:?}");
    let report = |args: &[&str]| {
        let mut rprof = tool(env!("CARGO_BIN_EXE_rprof"));
        run(rprof.args(args).current_dir(dir)).ok().stdout
    };
    let folded = report(&["flame", "--folded"]);
    for caller in ["main;in_first;hot", "in_thread;hot", "main;in_process;hot"] {
        assert!(folded.contains(caller), "{caller}: {folded}");
    }
    let rows = report(&["report", "--no-children", "--sort", "sym", "-g", "none"]);
    let first = rows
        .lines()
        .find(|line| !line.starts_with('#') && !line.is_empty());
    assert!(first.unwrap().ends_with(" hot"), "{rows}");
    // The program's first thread, the other one, and the process that it has made.
    let script = report(&["script", "-F", "comm,tid"]);
    let mut tasks: Vec<&str> = script.split_terminator('\n').map(str::trim).collect();
    tasks.retain(|task| task.starts_with("program "));
    tasks.sort_unstable();
    tasks.dedup();
    assert!(tasks.len() >= 3, "{script}");
    assert!(report(&["info"]).contains("cpu-clock:u"));
    if has("perf", "perf") {
        let perf = run(tool("perf")
            .args(["script", "--force", "-F", "ip"])
            .current_dir(dir))
        .ok();
        let heads = perf
            .stdout
            .split("\n\n")
            .filter(|one| !one.trim().is_empty());
        assert_eq!(
            heads.count() as u64,
            samples(&ran.stderr),
            "{}",
            perf.stderr
        );
    }
}

#[test]
fn where_threads_wait_for_a_cpu_counts_no_more_than_it_takes() {
    let Some((_live, cells)) = start() else {
        return;
    };
    // Four threads on one CPU: three of them wait for it, and nearly always at the end of `sched_yield`.
    let source = r#"
        #define _GNU_SOURCE
        #include <pthread.h>
        #include <sched.h>
        #include <time.h>
        static __thread volatile long sum;
        __attribute__((noinline)) void hot(void) { for (int n = 0; n < 1000000; n++) sum += n; }
        static void *work(void *none) {
            struct timespec now;
            do { hot(); sched_yield(); clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); }
            while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < 300);
            return none;
        }
        int main(void) {
            cpu_set_t all, one;
            sched_getaffinity(0, sizeof all, &all);
            CPU_ZERO(&one);
            int cpu = 0;
            while (!CPU_ISSET(cpu, &all)) cpu++;
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            pthread_t threads[4];
            for (int n = 0; n < 4; n++) pthread_create(&threads[n], 0, work, 0);
            for (int n = 0; n < 4; n++) pthread_join(threads[n], 0);
            return 0;
        }"#;
    let dir = cells.nobody.dir.path();
    let program = compile_c(dir, "program", source);
    let args = ["record", "-F", "99", program.to_str().unwrap()];
    let ran = run(&mut cells.rprof(Who::Nobody, &[cells.filter(), "1"], &args)).ok();
    let report = |args: &[&str]| {
        let mut rprof = tool(env!("CARGO_BIN_EXE_rprof"));
        run(rprof.args(args).current_dir(dir)).ok().stdout
    };
    let rows = report(&["report", "--no-children", "--sort", "sym", "-g", "none"]);
    let mut rows = rows
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    assert!(rows.next().unwrap().ends_with(" hot"), "{rows:?} {ran:?}");
    // The same in stacks that other tools read.
    let folded = report(&["flame", "--folded"]);
    let count = |line: &str| -> u64 { line.rsplit_once(' ').unwrap().1.parse().unwrap() };
    let all: u64 = folded.lines().map(count).sum();
    let is_hot = |line: &&str| line.contains(";hot ");
    let hot: u64 = folded.lines().filter(is_hot).map(count).sum();
    assert!(hot > all / 2, "{folded}");
}

#[test]
fn ends_and_deaths_are_passed_on() {
    let Some((_live, cells)) = start() else {
        return;
    };
    let around = [cells.filter(), "38"];
    let ran = |command: &[&str]| -> Ran {
        let args = [&["record"], command].concat();
        run(&mut cells.rprof(Who::Nobody, &around, &args))
    };
    assert_eq!(ran(&["sh", "-c", "exit 3"]).status.code(), Some(3));
    assert_eq!(ran(&["sh", "-c", "kill -9 $$"]).status.code(), Some(137));
    let missing = ran(&["/no/such/command"]).fails(1);
    assert!(missing.contains("/no/such/command"), "{missing}");
}

#[test]
fn own_processes_are_sampled_and_go_on() {
    let Some((_live, cells)) = start() else {
        return;
    };
    // It works until its input ends.
    let mut shell: Command = cells.nobody.command("sh");
    shell.args([
        "-c",
        "(while :; do :; done) & read -r x; kill $!; wait; exit 4",
    ]);
    let mut shell = shell.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let pid = shell.id().to_string();
    let args = ["record", "--children", "-p", &pid, "--duration", "0.5"];
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let ran = run(&mut cells.rprof(Who::Nobody, &[cells.filter(), "1"], &args));
    drop(shell.stdin.take());
    assert_eq!(shell.wait().unwrap().code(), Some(4), "{ran:?}");
    if matches!(scope.trim(), "" | "0") {
        assert!(
            samples(&ran.stderr) > 0 && ran.stderr.contains(BY_PTRACE),
            "{ran:?}"
        );
    } else {
        assert!(ran.stderr.contains("ptrace_scope"), "{ran:?}");
    }
}

#[test]
fn what_ptrace_cannot_do_or_may_not_is_a_sentence() {
    let Some((_live, cells)) = start() else {
        return;
    };
    let filtered = [cells.filter(), "1"];
    for (args, what) in [
        (&["-a"][..], "without -a"),
        (&["-e", "page-faults"], "without -e"),
        (&["-D", "10"], "without -D"),
        (&["--overwrite"], "without --overwrite"),
        (&["-d"], "without flags that add sample fields"),
        (&["--tail-synthesize"], "without --tail-synthesize"),
    ] {
        let words = [what, "sampled by ptrace", "a seccomp filter forbids"];
        cells.refuses(Who::Nobody, &filtered, args, &words);
    }
    let both = [cells.filter(), "-1"];
    let words = [
        "a seccomp filter forbids",
        "the ptrace fallback is forbidden, too",
    ];
    cells.refuses(Who::Nobody, &both, &[], &words);
    assert_eq!(cells.doctor(Who::Nobody, &both)["profile"], "none");
}
