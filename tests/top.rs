//! `rprof top`: tables of a recording that goes on.

use crate::common;
use crate::common::nobody::{Nobody, Sysctl};
use crate::common::work::burn;
use crate::common::{
    NO_FRAME_POINTERS, Program, Ran, Running, closed_pipe, compile, needs, number_after,
    number_before, report, rprof, run, scratch, signal, signals, skipped, test_name, tool,
};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Nearly all of its time is in `hot`.
const PROGRAM: &str = r#"
    volatile unsigned long sum;
    __attribute__((noinline)) static void cold(void) { WORK(20, sum += i) }
    __attribute__((noinline)) static void hot(void) { WORK(500, sum += i) }
    __attribute__((noinline)) static void work(void) { hot(); cold(); sum++; }
    int main(void) { work(); return 3; }
"#;

/// Refreshes come once in an hour: the only one is at the end.
const AT_END: &[&str] = &["-d", "3600"];

fn top(args: &[&str]) -> std::process::Command {
    let usual = ["top", "-e", "cpu-clock", "-F", "999"];
    rprof(usual.iter().chain(args))
}

/// Its tables, each with the line above it.
fn tables(stdout: &str) -> Vec<&str> {
    stdout.split("rprof top: ").skip(1).collect()
}

/// Rows of a table, in words.
fn rows(table: &str) -> Vec<Vec<&str>> {
    let lines = table.lines().skip(1);
    let rows = lines.filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    rows.map(|line| line.split_whitespace().collect()).collect()
}

fn percent(word: &str) -> f64 {
    word.trim_end_matches('%').parse().unwrap()
}

#[test]
fn the_hottest_function_is_the_first_row_and_sums_are_all_samples() {
    let Some(program) = Program::new(PROGRAM, NO_FRAME_POINTERS) else {
        return;
    };
    needs!(alone);
    let args = [AT_END, &["--once", "--no-children", "-n", "-E", "1000"]].concat();
    let ran = run(top(&args).arg("--").arg(program.path()));
    // The command's own.
    assert_eq!(ran.status.code(), Some(3), "{}", ran.stderr);
    let [table] = tables(&ran.stdout)[..] else {
        panic!("{}", ran.stdout)
    };
    let samples = number_before(table, " samples in").unwrap();
    assert_eq!(number_after(table, "# Samples: "), Some(samples), "{table}");
    assert!(
        ran.stderr.contains(&format!("{samples} samples, 0 lost")),
        "{}",
        ran.stderr
    );
    let rows = rows(table);
    assert_eq!(rows[0].last(), Some(&"hot"), "{table}");
    assert!(percent(rows[0][0]) > 80.0, "{table}");
    // Overhead, samples, command, image, [.], function.
    let counted: u64 = rows.iter().map(|row| row[1].parse::<u64>().unwrap()).sum();
    assert_eq!(counted, samples, "{table}");
}

#[test]
fn callers_have_the_samples_of_what_they_called() {
    let Some(program) = Program::new(PROGRAM, NO_FRAME_POINTERS) else {
        return;
    };
    needs!(live);
    let ran = run(top(AT_END).args(["--stdio", "--"]).arg(program.path()));
    let tables = tables(&ran.stdout);
    assert_eq!(tables.len(), 1, "{}", ran.stdout);
    let rows = rows(tables[0]);
    let of = |name: &str| rows.iter().find(|row| row.last() == Some(&name)).unwrap();
    assert!(
        percent(of("work")[0]) >= percent(of("hot")[0]),
        "{}",
        ran.stdout
    );
    assert!(
        percent(of("work")[1]) < percent(of("hot")[1]),
        "{}",
        ran.stdout
    );
}

#[test]
fn tables_come_while_the_command_runs() {
    needs!(live);
    let script = burn(6000);
    let mut running =
        Running::start(top(&["--stdio", "-d", "0.1"]).args(["--", "sh", "-c", &script]));
    let mut n_heads = 0;
    while n_heads < 3 {
        n_heads += u32::from(running.line().starts_with("rprof top: "));
    }
    signal(running.pid(), "TERM");
    let ran = running.finish();
    // As record: the command ended by our SIGTERM.
    assert_eq!(ran.status.code(), Some(128 + 15), "{}", ran.stderr);
}

#[test]
fn the_signal_that_ends_it_is_its_status_and_ctrl_c_is_success() {
    needs!(alone);
    for (name, code) in [("INT", 0), ("TERM", 128 + 15), ("HUP", 128 + 1)] {
        let work = Running::start(Command::new("sh").args(["-c", &burn(600_000)]));
        let pid = work.pid().to_string();
        let mut running = Running::start(&mut top(&["--stdio", "-d", "0.1", "-p", &pid]));
        let has_samples = |line: &str| number_before(line, " samples in").is_some_and(|n| n > 0);
        while !has_samples(&running.line()) {}
        signal(running.pid(), name);
        let ran = running.finish();
        assert_eq!(ran.status.code(), Some(code), "{name}: {}", ran.stderr);
        // All was shown, and is summed up.
        assert!(ran.stderr.contains(" lost"), "{name}: {}", ran.stderr);
    }
}

#[test]
fn a_command_that_is_ended_says_how_and_one_that_ends_in_its_own_way_too() {
    needs!(live);
    for (trap, code) in [("", 128 + 15), ("trap 'exit 9' TERM; ", 9)] {
        for name in ["TERM", "HUP"] {
            let script = format!("{trap}kill -s {name} $PPID; {}", burn(600_000));
            let ran = run(top(&["--stdio", "-d", "0.1", "--", "sh", "-c"]).arg(&script));
            assert_eq!(ran.status.code(), Some(code), "{name}: {}", ran.stderr);
        }
    }
}

/// Sends SIGINT to the program that opens its first file: when that is, nothing has been waited for yet.
const EARLY: &str = r#"
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <fcntl.h>
    #include <signal.h>
    #include <stdarg.h>
    #include <unistd.h>
    static int opened(const char *name, const char *path, int flags, int mode) {
        static int is_sent;
        if (!__atomic_exchange_n(&is_sent, 1, __ATOMIC_SEQ_CST)) kill(getpid(), SIGINT);
        int (*open_it)(const char *, int, ...) = dlsym(RTLD_NEXT, name);
        return open_it(path, flags, mode);
    }
    #define OPEN(name) int name(const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); int mode = va_arg(rest, int); va_end(rest); \
        return opened(#name, path, flags, mode); }
    OPEN(open) OPEN(open64)
"#;

#[test]
fn a_signal_that_comes_before_all_else_is_heard_also_where_a_shell_has_it_ignored() {
    needs!(cc);
    if !signals::knows("--ignore-signal=INT") {
        return skipped("an env with --ignore-signal (coreutils 8.31)");
    }
    let program = std::fs::read(env!("CARGO_BIN_EXE_rprof")).unwrap();
    if !program
        .windows(9)
        .any(|bytes| bytes == b"ld-linux-" || bytes == b"/ld-linux")
    {
        return skipped("an rprof that is linked dynamically");
    }
    needs!(alone);
    let dir = scratch();
    let library = dir.path().join("early.so");
    compile(&library, EARLY, &["-shared", "-fPIC", "-ldl"]);
    for words in [
        &["top", "--stdio", "-e", "cpu-clock", "-d", "0.1"][..],
        &["record", "-e", "cpu-clock", "-o", "early.data"],
        &["stat", "-e", "cpu-clock"],
    ] {
        let mut early = tool("env");
        early.arg("--ignore-signal=INT");
        early.arg(format!("LD_PRELOAD={}", library.display()));
        early.arg(env!("CARGO_BIN_EXE_rprof")).args(words);
        early.args(["-p", &std::process::id().to_string()]);
        // Whatever it says: it ends, and nobody else ends it.
        let ran = run(early.current_dir(dir.path()));
        assert!(ran.status.code().is_some(), "{words:?}: {ran:?}");
    }
}

#[test]
fn programs_of_tests_have_default_signals_whatever_runs_the_tests() {
    let option = "--ignore-signal=HUP,INT,QUIT,TERM";
    if !signals::knows(option) {
        return skipped("an env with --ignore-signal (coreutils 8.31)");
    }
    const INSIDE: &str = "RPROF_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        let own = std::fs::read_to_string("/proc/self/status").unwrap();
        assert_eq!(signals::ignored_in(&own).len(), 4, "{own}");
        let status = run(tool("cat").arg("/proc/self/status")).ok().stdout;
        assert_eq!(signals::ignored_in(&status), [""; 0], "{status}");
        return;
    }
    let mut again = Command::new("env");
    again.arg(option).arg(std::env::current_exe().unwrap());
    let own_name = format!("top::{}", test_name());
    again.args(["--exact", &own_name]).env(INSIDE, "1");
    assert!(run(&mut again).ok().stdout.contains("1 passed"));
}

#[test]
fn lost_samples_are_said() {
    needs!(alone);
    // Nobody drains the rings while the recorder is stopped.
    let script = format!("kill -STOP $PPID; {}; kill -CONT $PPID", burn(100));
    let args = [AT_END, &["--stdio", "-m", "1"]].concat();
    let ran = run(top(&args).args(["--", "sh", "-c", &script])).ok();
    let table = tables(&ran.stdout)[0];
    let head = table.lines().next().unwrap();
    let lost = number_before(head, " lost").unwrap();
    assert!(lost > 0, "{table}");
    assert!(
        ran.stderr.contains(&format!("{lost} lost")),
        "{}",
        ran.stderr
    );
}

/// What is seen is saved; returns what was said, and the samples of the file.
fn save(program: &Path, file: &Path) -> (Ran, u64) {
    let args = ["--stdio", "-d", "0.1", "--window", "all", "--save"];
    let ran = run(top(&args).arg(file).arg("--").arg(program));
    let saved = number_before(&ran.stderr, " samples saved").expect(&ran.stderr);
    (ran, saved)
}

#[test]
fn what_was_seen_can_be_saved() {
    let Some(program) = Program::new(PROGRAM, NO_FRAME_POINTERS) else {
        return;
    };
    needs!(live);
    let file = program.file("saved.data");
    let (ran, saved) = save(&program.path(), &file);
    let last = *tables(&ran.stdout).last().unwrap();
    assert_eq!(
        number_after(last, "# Samples: "),
        Some(saved),
        "{}",
        ran.stdout
    );
    let table = report(&file, &["-g", "none"]);
    assert_eq!(number_after(&table, "# Samples: "), Some(saved), "{table}");
    // The same rows, in the same order, where they are not tied.
    let below = format!("\n{table}");
    let (shown, again) = (rows(last), rows(&below));
    assert_eq!(shown[0], again[0], "{table}");
    assert!(table.contains("100.0 % complete"), "{table}");
    if common::in_path("perf").is_some() {
        let perf = run(common::perf(["report", "--stdio", "-g", "none", "-i"]).arg(&file)).ok();
        assert_eq!(
            number_after(&perf.stdout, "# Samples: "),
            Some(saved),
            "{}",
            perf.stdout
        );
        assert!(perf.stdout.contains("hot"), "{}", perf.stdout);
    }
}

#[test]
fn nothing_is_left_behind() {
    needs!(live);
    let dir = scratch();
    let mut command = top(&["--once", "-d", "0.1"]);
    command.env("TMPDIR", dir.path()).current_dir(dir.path());
    let ran = run(command.args(["--", "sh", "-c", &burn(6000)]));
    assert!(ran.status.success(), "{}", ran.stderr);
    assert_eq!(tables(&ran.stdout).len(), 1, "{}", ran.stdout);
    assert_eq!(dir.path().read_dir().unwrap().count(), 0);
    let shared = Path::new("/dev/shm").read_dir();
    let mut names = shared
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name());
    assert!(!names.any(|name| name.to_string_lossy().contains("rprof")));
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    needs!(live);
    let mut command = top(&["--stdio", "-d", "0.1", "--", "sh", "-c", &burn(6000)]);
    command
        .stdout(closed_pipe())
        .stderr(std::process::Stdio::piped());
    let ran = common::finish(command.spawn().unwrap());
    assert!(ran.status.success(), "{}", ran.stderr);
    assert!(!ran.stderr.contains("error"), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_watched_is_told_as_by_record() {
    let ran = run(&mut rprof(["top", "-p", "999999999"]));
    let stderr = ran.fails(1);
    let dir = scratch();
    let file = dir.path().join("perf.data");
    let mut record = rprof(["record", "-p", "999999999", "-o"]);
    let record = run(record.arg(file)).fails(1);
    assert_eq!(stderr, record);
    run(&mut rprof(["top", "-d", "0"])).fails(2);
    run(&mut rprof(["top", "--unknown"])).fails(2);
}

#[test]
fn idle_cpus_are_left_out_where_that_is_asked_for() {
    needs!(alone);
    let dir = scratch();
    let file = dir.path().join("saved.data");
    let mut command = top(&[
        "-a",
        "--once",
        "-d",
        "0.3",
        "--no-idle",
        "--no-children",
        "-n",
    ]);
    command.args(["-E", "10000", "--save"]).arg(&file);
    let ran = run(&mut command).ok();
    let [table] = tables(&ran.stdout)[..] else {
        panic!("{}", ran.stdout)
    };
    // What is saved has all.
    let saved = report(&file, &["--no-idle", "-g", "none"]);
    assert_eq!(
        number_after(table, "# Samples: "),
        number_after(&saved, "# Samples: "),
        "{table}\n{saved}"
    );
    assert!(!table.contains("swapper"), "{table}");
}

/// Waits in `deep_nap`, and says how many nanoseconds it ran on a CPU.
const NAPPER: &str = r#"
    #include <stdio.h>
    #include <sys/resource.h>
    #include <time.h>
    __attribute__((noinline, noipa)) static void deep_nap(void) {
        struct timespec nap = {2, 0};
        nanosleep(&nap, 0);
        __asm__ volatile("");
    }
    int main(int argc, char **argv) {
        deep_nap();
        struct rusage used;
        getrusage(RUSAGE_SELF, &used);
        long us = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000L + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
        FILE *file = fopen(argv[1], "w");
        fprintf(file, "%ld", us * 1000);
        return fclose(file);
    }
"#;

/// What the last table counts, nanoseconds.
#[track_caller]
fn waited_ns(ran: &Ran) -> u64 {
    let tables = tables(&ran.stdout);
    number_after(tables.last().unwrap(), "# Event count (approx.): ").unwrap()
}

#[test]
fn a_wait_is_in_each_refresh_of_its_time_and_counts_once() {
    let Some(program) = Program::new(NAPPER, NO_FRAME_POINTERS) else {
        return;
    };
    needs!(root, live);
    let ran_ns = program.file("ran");
    for (account, name) in [("--off-cpu", "offcpu-time"), ("--wall", "wall-time")] {
        let mut command = top(&["--stdio", "-d", "0.5", "--window", "all", account, "--"]);
        let began = Instant::now();
        let ran = run(command.arg(program.path()).arg(&ran_ns)).ok();
        let waited_ns = waited_ns(&ran);
        let elapsed_ns = u64::try_from(began.elapsed().as_nanos()).unwrap();
        let ran_ns: u64 = std::fs::read_to_string(&ran_ns).unwrap().parse().unwrap();
        // A nap takes two seconds at least, of which it may have run some.
        assert!(waited_ns + ran_ns >= 2_000_000_000, "{}", ran.stdout);
        assert!(waited_ns <= elapsed_ns, "{}", ran.stdout);
        let tables = tables(&ran.stdout);
        assert!(tables[0].starts_with(name), "{}", ran.stdout);
        let naps = tables.iter().filter(|table| table.contains(" deep_nap"));
        assert!(naps.count() >= 2, "{}", ran.stdout);
    }
    // Each of them shows its own time.
    let mut command = top(&["--stdio", "-d", "0.5", "-z", "--off-cpu", "--"]);
    let ran = run(command.arg(program.path()).arg(&ran_ns)).ok();
    let tables = tables(&ran.stdout);
    let naps = tables.iter().filter(|table| table.contains(" deep_nap"));
    assert!(naps.count() >= 2, "{}", ran.stdout);
}

#[test]
fn waits_are_shown_without_rights_too() {
    needs!(root, alone);
    let Some(nobody) = Nobody::new() else { return };
    let Some(_level) = Sysctl::paranoid("2") else {
        return skipped("a perf_event_paranoid that can be set");
    };
    let args = [
        "top",
        "--stdio",
        "-d",
        "0.5",
        "--window",
        "all",
        "--off-cpu",
    ];
    let mut command = nobody.rprof(&[&args[..], &["--", "sleep", "1"]].concat());
    let ran = run(&mut command).ok();
    assert!(waited_ns(&ran) > 0, "{}", ran.stdout);
    assert!(ran.stdout.contains(" sleep "), "{}", ran.stdout);
    assert!(ran.stderr.contains("off-CPU time: "), "{}", ran.stderr);
}
