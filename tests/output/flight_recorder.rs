//! `--flight`: what is before and after a trigger.

use super::switched::{finished, recorder, samples_of, work_until_finished};
use crate::common::{
    Program, Ran, Running, attaches, both, has, needs, number_before, perf, report, rprof, run,
    samples, scratch, signal, skipped, tool, until, work::worker,
};
use serde_json::Value;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const SERVER: &str = include_str!("../spans/server.c");
const OPTIONS: &[&str] = &["-O1", "-fno-omit-frame-pointer", "-pthread"];

/// A program whose spans uprobes find.
fn program(source: &str) -> Option<Program> {
    needs!(root, cc);
    if !Path::new("/sys/bus/event_source/devices/uprobe").exists() {
        skipped("a kernel with CONFIG_UPROBE_EVENTS");
        return None;
    }
    Program::new(source, OPTIONS)
}

/// `--span NAME=..`, of a function that begins it and one that ends it.
fn span(program: &Program, name: &str) -> String {
    let at = program.path();
    let at = at.display();
    format!("--span={name}=uprobe:{at}:begin_{name}..uprobe:{at}:end_{name}")
}

/// A folder with what a flight recorder has kept of a command.
struct Flown {
    dir: tempfile::TempDir,
    ran: Ran,
}

/// Records a command with a flight recorder of a second.
#[track_caller]
fn fly(options: &[&str], command: &[&str]) -> Flown {
    let dir = scratch();
    let mut record = rprof(["record", "-e", "cpu-clock", "--flight", "1", "-o"]);
    record.arg(dir.path().join("perf.data")).args(options);
    let ran = run(record.arg("--").args(command));
    Flown { dir, ran }
}

impl Flown {
    /// The files; the one that was begun last is gone.
    #[track_caller]
    fn files(&self) -> Vec<PathBuf> {
        assert!(!self.dir.path().join("perf.data").exists());
        finished(self.dir.path())
    }

    #[track_caller]
    fn assert_nothing_kept(&self) {
        assert!(self.files().is_empty(), "{}", self.ran.stderr);
        let said = "no trigger fired, so nothing was kept: ";
        assert!(self.ran.stderr.contains(said), "{}", self.ran.stderr);
        assert!(!self.ran.stderr.contains(" -c"), "{}", self.ran.stderr);
    }

    /// Whether samples of a function were kept.
    #[track_caller]
    fn has(&self, function: &str) -> bool {
        let mut report = rprof(["report", "--no-children", "-g", "none", "-s", "sym", "-i"]);
        let table = run(report.arg(self.dir.path())).ok().stdout;
        table.lines().any(|line| line.ends_with(function))
    }
}

#[test]
fn slow_spans_are_triggers() {
    let Some(program) = program(SERVER) else {
        return;
    };
    needs!(live);
    let (path, span) = (program.path(), span(&program, "request"));
    let command = [path.to_str().unwrap(), "serve"];
    for targets in [&[][..], &["-a"]] {
        for when in ["request > 15ms", "span>15ms"] {
            let options = [targets, &[&span, "--trigger", when]].concat();
            let flown = fly(&options, &command);
            assert!(flown.has("planted_path"), "{}", flown.ran.stderr);
            assert!(!flown.files().is_empty());
        }
    }
    fly(&[&span, "--trigger", "span > 1h"], &command).assert_nothing_kept();
    let unknown = fly(&[&span, "--trigger", "query > 1s"], &command);
    let said = unknown.ran.fails(2);
    assert!(said.contains("add --span 'query=BEGIN..END'"), "{said}");
}

#[test]
fn spans_are_over_when_their_thread_or_program_is() {
    let source = r#"
        #include <pthread.h>
        #include <time.h>
        #include <unistd.h>
        __attribute__((noinline, noipa)) void begin_request(void) { __asm__ volatile(""); }
        __attribute__((noinline, noipa)) void end_request(void) { __asm__ volatile(""); }
        static void *begin(void *unused) { begin_request(); return unused; }
        int main(int argc, char **argv) {
            pthread_t thread;
            struct timespec nap = {1, 500000000};
            if (argc > 1) {
                nanosleep(&nap, 0);
                return 0;
            }
            pthread_create(&thread, 0, begin, 0);
            pthread_join(thread, 0);
            begin_request();
            execl("/proc/self/exe", argv[0], "next", (char *)0);
            return 1;
        }
    "#;
    let Some(program) = program(source) else {
        return;
    };
    needs!(live);
    let span = span(&program, "request");
    let options = [&span, "--trigger", "request > 1s"];
    fly(&options, &[program.path().to_str().unwrap()]).assert_nothing_kept();
}

#[test]
fn the_end_of_a_command_that_fails_is_a_trigger() {
    needs!(live);
    let script =
        |status: &str| format!("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; {status}");
    for status in ["exit 3", "kill -9 $$"] {
        let flown = fly(&["--trigger", "exit!=0"], &["sh", "-c", &script(status)]);
        assert_eq!(flown.files().len(), 1, "{}", flown.ran.stderr);
        assert!(samples(&flown.ran.stderr) > 0, "{}", flown.ran.stderr);
        assert!(!flown.ran.status.success());
    }
    let passed = fly(
        &["--trigger", "exit != 0"],
        &["sh", "-c", &script("exit 0")],
    );
    passed.assert_nothing_kept();
    assert!(passed.ran.status.success());
    let nobody = ["record", "-a", "--flight", "1", "--trigger", "exit!=0"];
    let said = run(&mut rprof(nobody)).fails(2);
    assert!(said.contains("needs a command"), "{said}");
}

#[test]
fn an_event_is_a_trigger() {
    let Some(program) = program(SERVER) else {
        return;
    };
    needs!(live);
    let path = program.path();
    let path = path.to_str().unwrap();
    let event = |function: &str| format!("--trigger=uprobe:{path}:{function}");
    let flown = fly(&[&event("planted_path")], &[path, "serve"]);
    assert!(flown.has("planted_path"), "{}", flown.ran.stderr);
    fly(&[&event("begin_query")], &[path, "serve"]).assert_nothing_kept();
    // Children of the command are recorded, others are not.
    let script = format!("{path} serve; true");
    let flown = fly(&[&event("planted_path")], &["sh", "-c", &script]);
    assert!(flown.has("planted_path"), "{}", flown.ran.stderr);
    let dir = scratch();
    let mut recorder = recorder(dir.path(), &["--flight", "1", &event("planted_path")]);
    recorder.work();
    run(Command::new(path).arg("serve")).ok();
    recorder.work();
    recorder.close_input();
    let ran = recorder.finish().ok();
    assert!(finished(dir.path()).is_empty(), "{}", ran.stderr);
    // One of several is enough.
    let several = [
        &*event("begin_query"),
        "--trigger=exit!=0",
        &event("planted_path"),
    ];
    assert!(!fly(&several, &[path, "serve"]).files().is_empty());
}

#[test]
fn triggers_that_fire_all_the_time_leave_few_files() {
    let source = r#"
        #include <stdio.h>
        static volatile unsigned long sink;
        __attribute__((noinline, noipa)) void begin_request(void) { __asm__ volatile(""); }
        int main(void) {
            char line[16];
            while (fgets(line, sizeof line, stdin)) {
                begin_request();
                WORK(2, sink += i);
                puts("done");
                fflush(stdout);
            }
            return 0;
        }
    "#;
    let Some(program) = program(source) else {
        return;
    };
    needs!(live);
    let path = program.path();
    let path = path.to_str().unwrap();
    let trigger = format!("--trigger=uprobe:{path}:begin_request");
    let dir = scratch();
    let mut record = rprof(["record", "-e", "cpu-clock", "--flight", "10ms", "-o"]);
    record.arg(dir.path().join("perf.data"));
    record.args([&*trigger, "--switch-max-files", "2", "--", path]);
    let mut recorder = Running::start(&mut record);
    work_until_finished(&mut recorder, dir.path(), 3);
    recorder.close_input();
    let ran = recorder.finish().ok();
    assert_eq!(finished(dir.path()).len(), 2, "{}", ran.stderr);
    let n_files = number_before(&ran.stderr, " files, ").unwrap();
    let n_removed = number_before(&ran.stderr, " removed (--switch-max-files").unwrap();
    assert_eq!(n_files, n_removed + 2, "{}", ran.stderr);
}

#[test]
fn a_signal_is_a_trigger_and_what_came_long_before_is_not_kept() {
    needs!(live);
    let dir = scratch();
    let mut recorder = recorder(dir.path(), &["--flight", "200ms"]);
    recorder.work();
    signal(recorder.pid(), "USR2");
    while finished(dir.path()).is_empty() {
        recorder.work();
    }
    recorder.close_input();
    let ran = recorder.finish().ok();
    let files = finished(dir.path());
    assert_eq!(files.len(), 1, "{}", ran.stderr);
    assert!(samples_of(&files[0]) > 0, "{}", ran.stderr);
    assert!(!dir.path().join("perf.data").exists());
    let table = report(
        &files[0],
        &["--no-children", "-g", "none", "--sort", "comm,dso"],
    );
    assert!(
        table.contains(" sh ") && !table.contains("[unknown]"),
        "{table}"
    );
}

#[test]
fn a_recording_that_is_stopped_before_a_trigger_leaves_what_was_there() {
    needs!(live);
    for name in ["INT", "TERM"] {
        let dir = scratch();
        let file = dir.path().join("perf.data");
        std::fs::write(&file, "earlier").unwrap();
        let mut recorder = recorder(dir.path(), &["--flight", "1", "--trigger", "exit!=0"]);
        recorder.work();
        signal(recorder.pid(), name);
        let ran = recorder.finish();
        assert!(
            ran.stderr.contains("send SIGUSR2 to rprof"),
            "{}",
            ran.stderr
        );
        assert!(!ran.stderr.contains("shorter limit"), "{}", ran.stderr);
        assert!(finished(dir.path()).is_empty(), "{}", ran.stderr);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "earlier");
    }
}

#[test]
fn ctrl_c_is_no_failure_of_the_command() {
    needs!(live, "script" in "bsdutils");
    let dir = scratch();
    // A terminal sends its signal to the command, too, which ends by it.
    let file = dir.path().join("perf.data");
    let line = format!(
        "{} record -e cpu-clock --flight 1 -o {} --trigger 'exit!=0' -- sh -c 'echo runs; exec sleep 300'",
        env!("CARGO_BIN_EXE_rprof"),
        file.display()
    );
    let mut terminal = Running::start(tool("script").args(["-qec", &line, "/dev/null"]));
    until(&mut terminal, "runs");
    terminal.type_in(b"\x03");
    let ran = terminal.finish();
    assert!(ran.stdout.contains("no trigger fired"), "{}", ran.stdout);
    assert!(finished(dir.path()).is_empty(), "{}", ran.stdout);
}

#[test]
fn a_signal_that_comes_with_the_last_one_is_a_trigger() {
    needs!(live);
    let dir = scratch();
    let mut recorder = recorder(dir.path(), &["--flight", "1"]);
    recorder.work();
    // Both are there when it looks.
    for name in ["STOP", "USR2", "INT", "CONT"] {
        signal(recorder.pid(), name);
    }
    let ran = recorder.finish();
    let files = finished(dir.path());
    assert_eq!(files.len(), 1, "{}", ran.stderr);
    assert!(samples_of(&files[0]) > 0, "{}", ran.stderr);
}

#[test]
fn a_window_is_kept_if_the_next_file_cannot_be_begun() {
    needs!(live);
    for returns in [false, true] {
        let dir = scratch();
        let (here, away) = (dir.path().join("here"), dir.path().join("away"));
        std::fs::create_dir(&here).unwrap();
        let mut record = rprof(["record", "-e", "cpu-clock", "--flight", "200ms", "-o"]);
        record.arg(here.join("perf.data"));
        record.args(["--", "sh", "-c", "echo runs; while :; do :; done"]);
        let mut recorder = Running::start(&mut both(&record));
        until(&mut recorder, "runs");
        std::fs::rename(&here, &away).unwrap();
        signal(recorder.pid(), "USR2");
        until(&mut recorder, "cannot rotate the output file");
        let mut dir = &away;
        if returns {
            std::fs::rename(&away, &here).unwrap();
            signal(recorder.pid(), "USR2");
            until(&mut recorder, "is complete");
            dir = &here;
        }
        signal(recorder.pid(), "INT");
        let ran = recorder.finish();
        let files = finished(dir);
        assert_eq!(files.len(), 1, "{}", ran.stdout);
        assert!(samples_of(&files[0]) > 0, "{}", ran.stdout);
        assert!(!dir.join("perf.data").exists());
    }
}

#[test]
fn running_processes_have_flight_recorders() {
    needs!(live);
    if !attaches() {
        return;
    }
    let dir = scratch();
    let worker = worker(10);
    let mut target = Running::start(Command::new("sh").args(["-c", &worker]));
    target.work();
    let mut record = rprof(["record", "-e", "cpu-clock", "--flight", "1", "-o"]);
    record.arg(dir.path().join("perf.data"));
    let pid = target.pid().to_string();
    let mut recorder = Running::start(&mut both(record.args(["-p", &pid])));
    until(&mut recorder, "Ctrl-C");
    target.work();
    signal(recorder.pid(), "USR2");
    target.work();
    signal(recorder.pid(), "INT");
    let ran = recorder.finish();
    target.close_input();
    target.finish();
    // The window was not over: its file has what there was.
    let files = finished(dir.path());
    assert_eq!(files.len(), 1, "{}", ran.stderr);
    assert!(samples_of(&files[0]) > 0, "{}", ran.stderr);
}

#[test]
fn waits_are_kept_too() {
    let Some(program) = program(SERVER) else {
        return;
    };
    needs!(live);
    let (path, span) = (program.path(), span(&program, "query"));
    let command = [path.to_str().unwrap(), "queries"];
    let options = [&span, "--trigger", "query > 4ms", "--off-cpu", "--lock"];
    let flown = fly(&options, &command);
    for file in flown.files() {
        let mut report = rprof(["report", "--off-cpu", "--format", "json", "--no-children"]);
        report.args(["--show-total-period", "-s", "sym", "-g", "caller", "-i"]);
        let json = run(report.arg(&file)).ok().stdout;
        let report: Value = serde_json::from_str(&json).unwrap();
        let rows = report["events"][0]["rows"].as_array().unwrap().iter();
        let waited: u64 = rows.map(|row| row["period"].as_u64().unwrap()).sum();
        // A nap of a query at least.
        assert!(waited >= 5_000_000, "{json}");
        // By frame pointers, which the C library may lack.
        assert!(json.contains("\"main\""), "{json}");
        if has("perf", "linux-perf") {
            let mut script = perf(["script", "--show-switch-events", "-i"]);
            let text = run(script.arg(&file)).ok().stdout;
            assert!(text.contains("PERF_RECORD_SWITCH"), "{text}");
        }
    }
    assert!(!flown.files().is_empty(), "{}", flown.ran.stderr);
}

#[test]
fn a_flight_recorder_without_a_trigger_keeps_its_file_small() {
    // Each mapping is a record with a long path.
    let source = r#"
        #include <fcntl.h>
        #include <stdio.h>
        #include <sys/mman.h>
        #include <time.h>
        static volatile unsigned long sink;
        __attribute__((noinline)) static void late(void) { WORK(50, sink += i); }
        int main(int argc, char **argv) {
            char line[16];
            int file = open(argv[1], O_RDONLY);
            // A second's records are less than the file may have.
            struct timespec nap = {0, 50000000};
            while (fgets(line, sizeof line, stdin)) {
                for (int n = 0; n < 500; n++) {
                    void *at = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
                    if (at == MAP_FAILED)
                        return 2;
                    munmap(at, 4096);
                }
                nanosleep(&nap, 0);
                puts("done");
                fflush(stdout);
            }
            late();
            return 3;
        }
    "#;
    let Some(program) = Program::new(source, &["-O1"]) else {
        return;
    };
    needs!(live);
    let dir = scratch();
    let deep = dir.path().join(vec!["d".repeat(200); 15].join("/"));
    std::fs::create_dir_all(&deep).unwrap();
    let mapped = deep.join("mapped");
    std::fs::write(&mapped, [0; 4096]).unwrap();
    let kept = dir.path().join("kept");
    std::fs::create_dir(&kept).unwrap();
    let file = kept.join("perf.data");
    let mut record = rprof(["record", "-e", "cpu-clock", "--flight", "1", "-o"]);
    record.arg(&file).args(["--trigger", "exit!=0", "--"]);
    let mut recorder = Running::start(record.arg(program.path()).arg(&mapped));
    recorder.work();
    let inode = |path: &Path| std::fs::metadata(path).map(|file| file.ino()).ok();
    let first = inode(&file);
    while inode(&file).is_none_or(|now| first == Some(now)) {
        recorder.work();
    }
    recorder.close_input();
    let ran = recorder.finish();
    let files = finished(&kept);
    assert_eq!(files.len(), 1, "{}", ran.stderr);
    assert!(files[0].metadata().unwrap().len() < 64 << 20);
    let table = report(&files[0], &["--no-children", "-g", "none", "-s", "sym"]);
    assert!(table.contains(" late"), "{table}");
}
