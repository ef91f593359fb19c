//! System calls: of a program that makes as many as it is told, and those that perf trace has.

use crate::common::{
    Tracefs, compile, is_x86_64, needs, not_run, perf, rprof, run, scratch, tool, tracefs,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Compiles the program that calls.
#[track_caller]
fn program(dir: &Path) -> PathBuf {
    let program = dir.join("calls");
    compile(
        &program,
        include_str!("calls.c"),
        &["-O1", "-g", "-pthread", "-fno-optimize-sibling-calls"],
    );
    program
}

/// Rows of a summary: by thread and call the number of returns, errors and unfinished calls.
type Rows = BTreeMap<(String, String), [u64; 3]>;

/// Reads a summary of rprof.
fn summary(text: &str) -> Rows {
    let mut rows = Rows::new();
    let mut thread = String::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split_whitespace().collect();
        if let Some((task, _)) = line
            .strip_prefix(' ')
            .and_then(|line| line.split_once("], "))
        {
            thread = format!("{task}]");
        } else if let [name, returned, errors, unfinished, _, _, _, _] = cells[..]
            && let Ok(returned) = returned.parse()
        {
            let counts = [
                returned,
                errors.parse().unwrap(),
                unfinished.parse().unwrap(),
            ];
            rows.insert((thread.clone(), name.to_owned()), counts);
        }
    }
    rows
}

/// Of the same, how long the longest call took.
fn longest(text: &str) -> BTreeMap<(String, String), String> {
    let mut longest = BTreeMap::new();
    let mut thread = String::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split_whitespace().collect();
        if let Some((task, _)) = line
            .strip_prefix(' ')
            .and_then(|line| line.split_once("], "))
        {
            thread = format!("{task}]");
        } else if let [name, .., ms] = cells[..]
            && cells.len() == 8
        {
            longest.insert((thread.clone(), name.to_owned()), ms.to_owned());
        }
    }
    longest
}

/// All threads of a name together.
fn of_thread(rows: &Rows, comm: &str, name: &str) -> [u64; 3] {
    let mut sums = [0; 3];
    for ((thread, call), counts) in rows {
        if thread.starts_with(&format!("{comm}[")) && call == name {
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum += count;
            }
        }
    }
    sums
}

/// How often a machine may be too busy for the recorder.
const TRIES: usize = 5;

/// Traces the program until nothing is lost on the way. Each time that is so, it is said.
#[track_caller]
fn traced(tracefs: Tracefs, flags: &[&str], program: &Path) -> Option<String> {
    for _ in 0..TRIES {
        let mut trace = rprof(["trace"]);
        let command = trace.args(flags).arg("--").arg(program);
        let ran = run(&mut tracefs.within(command)).ok();
        let is_lost = |what: &str| ran.stderr.contains(what);
        if !is_lost("lost") && !is_lost("dropped") {
            return Some(ran.stdout);
        }
    }
    not_run("events were lost each time, and that was said");
    None
}

/// Checks what the program did.
#[track_caller]
fn check_counts(rows: &Rows) {
    let of = |comm, name| of_thread(rows, comm, name);
    assert_eq!(of("calls", "getppid"), [1000, 0, 0], "{rows:#?}");
    assert_eq!(of("calls", "syscall_999"), [1, 1, 0]);
    assert_eq!(of("calls", "rt_sigreturn"), [3, 0, 0]);
    assert_eq!(of("calls", "exit_group"), [0, 0, 1]);
    assert_eq!(of("first", "getppid"), [300, 0, 0]);
    assert_eq!(of("second", "getppid"), [300, 0, 0]);
    assert_eq!(of("second", "exit"), [0, 0, 1]);
    let [returned, errors, _] = of("calls", "openat");
    assert!(returned > 7 && errors >= 7, "{rows:#?}");
    // It was killed in it: the kernel has it return to where the signal ends the thread.
    assert_eq!(of("killed", "read"), [1, 1, 0]);
    assert_eq!(of("killed", "write"), [1, 0, 0]);
}

#[test]
fn a_traced_program_made_the_calls_that_it_was_told_to() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let program = program(dir.path());
    let Some(text) = traced(tracefs, &["-s"], &program) else {
        return;
    };
    check_counts(&summary(&text));
    let Some(lines) = traced(tracefs, &[], &program) else {
        return;
    };
    let ends_in = |text: &str| lines.lines().filter(|line| line.ends_with(text)).count();
    let has = |text: &str| lines.lines().filter(|line| line.contains(text)).count();
    assert_eq!(has(" getppid() "), 1600, "{lines}");
    assert_eq!(has("syscall_999(0x1, 0x2, 0x3, "), 1, "{lines}");
    assert!(ends_in("= -1 ENOENT (No such file or directory)") >= 7);
    assert_eq!(has("kill(pid: "), 1);
    assert_eq!(has("sig: SIGKILL)"), 1);
    // Those of two threads, and of the process.
    assert_eq!(ends_in("= ? (the thread ended)"), 3, "{lines}");
}

#[test]
fn a_recording_has_the_same_calls_as_perf_trace() {
    needs!(perf, cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let program = program(dir.path());
    let file = dir.path().join("perf.data");
    let mut record = perf(["trace", "record", "-m", "4096", "-o"]);
    let record = record.arg(&file).arg("--").arg(&program);
    run(&mut tracefs.within(record)).ok();
    let ours = run(rprof(["trace", "-s", "-i"]).arg(&file)).ok().stdout;
    let longest = longest(&ours);
    let ours = summary(&ours);
    check_counts(&ours);
    let theirs = run(&mut tracefs.within(perf(["trace", "-s", "-i"]).arg(&file))).ok();
    let (theirs, mut by_id) = (format!("{}{}", theirs.stdout, theirs.stderr), Rows::new());
    let mut longest_by_id = BTreeMap::new();
    for ((thread, call), counts) in ours {
        let (_, ids) = thread.trim_end_matches(']').rsplit_once('[').unwrap();
        let tid = ids.split('/').next().unwrap().to_owned();
        let ms = longest[&(thread.clone(), call.clone())].clone();
        longest_by_id.insert((tid.clone(), call.clone()), ms);
        by_id.insert((tid, call), counts);
    }
    let mut n_compared = 0;
    let mut tid = String::new();
    for line in theirs.lines() {
        let cells: Vec<&str> = line.split_whitespace().collect();
        if let Some((head, _)) = line.split_once("), ") {
            tid = head.rsplit('(').next().unwrap().to_owned();
        } else if let [name, calls, errors, ..] = cells[..]
            && let (Ok(calls), Ok(errors)) = (calls.parse::<u64>(), errors.parse::<u64>())
        {
            let [returned, failed, _] = by_id[&(tid.clone(), name.to_owned())];
            assert_eq!((returned, failed), (calls, errors), "{tid} {name}");
            // Behind the total, the shortest and the mean.
            let ours = &longest_by_id[&(tid.clone(), name.to_owned())];
            assert_eq!(ours, cells[6], "{tid} {name}");
            n_compared += 1;
        }
    }
    assert!(n_compared > 30, "{theirs}");
    // They have none that did not return, no returns from signal handlers, and none without a name.
    let only_ours = by_id.iter().filter(|((_, name), [returned, ..])| {
        *returned > 0 && name != "rt_sigreturn" && !name.starts_with("syscall_")
    });
    assert_eq!(only_ours.count(), n_compared);
}

#[test]
fn only_calls_that_are_asked_for_are_shown() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let program = program(dir.path());
    let Some(text) = traced(tracefs, &["-s", "-e", "getppid,rt_sig*"], &program) else {
        return;
    };
    let rows = summary(&text);
    assert_eq!(of_thread(&rows, "calls", "getppid"), [1000, 0, 0], "{text}");
    assert_eq!(of_thread(&rows, "calls", "rt_sigreturn"), [3, 0, 0]);
    let is_asked = |name: &str| name == "getppid" || name.starts_with("rt_sig");
    assert!(rows.keys().all(|(_, name)| is_asked(name)), "{text}");
    let Some(text) = traced(tracefs, &["-s", "-e", "!getppid"], &program) else {
        return;
    };
    let rows = summary(&text);
    assert_eq!(of_thread(&rows, "calls", "getppid"), [0; 3], "{text}");
    assert_eq!(of_thread(&rows, "calls", "rt_sigreturn"), [3, 0, 0]);
    // A recording has all: what is shown of it is the same.
    let file = dir.path().join("perf.data");
    let events = "raw_syscalls:sys_enter,raw_syscalls:sys_exit";
    let mut record = rprof([
        "record",
        "-q",
        "-m",
        "1024",
        "--call-graph",
        "none",
        "-e",
        events,
        "-o",
    ]);
    run(&mut tracefs.within(record.arg(&file).arg("--").arg(&program))).ok();
    let of_file = |calls: &str| run(rprof(["trace", "-s", "-e", calls, "-i"]).arg(&file));
    let rows = summary(&of_file("getppid").ok().stdout);
    assert_eq!(of_thread(&rows, "calls", "getppid"), [1000, 0, 0]);
    assert!(rows.keys().all(|(_, name)| name == "getppid"));
    let error = of_file("getpppid").fails(2);
    assert!(
        error.contains("no system call has the name 'getpppid'"),
        "{error}"
    );
}

#[test]
fn flags_read_as_perf_trace_has_them() {
    needs!(perf, cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let program = dir.path().join("flags");
    compile(&program, include_str!("flags.c"), &["-O1", "-pthread"]);
    let file = dir.path().join("perf.data");
    let mut record = perf(["trace", "record", "-m", "4096", "-o"]);
    let record = record.arg(&file).arg("--").arg(&program).arg(dir.path());
    run(&mut tracefs.within(record)).ok();
    let ours = run(rprof(["trace", "-i"]).arg(&file)).ok().stdout;
    let theirs = run(&mut tracefs.within(perf(["trace", "-i"]).arg(&file))).ok();
    let theirs = format!("{}{}", theirs.stdout, theirs.stderr);
    // Their words of each call, in order; what they leave out is 0, and what they have no word for a number.
    let (ours, theirs) = (words(&ours), words(&theirs));
    let mut n_compared = 0;
    for (call, all) in &theirs {
        let own = &ours[call];
        if own.len() != all.len() {
            continue;
        }
        for (own, their) in own.iter().zip(all) {
            for (name, word) in their {
                let Some(ours) = own.get(name) else { continue };
                assert_eq!(ours, word, "{call} {name}");
                n_compared += 1;
            }
        }
    }
    assert!(n_compared >= 30, "{n_compared}: {theirs:?}");
}

/// By call and in order, arguments that are words: `flags: RDONLY|CLOEXEC`.
fn words(text: &str) -> BTreeMap<String, Vec<BTreeMap<String, String>>> {
    let mut calls: BTreeMap<String, Vec<BTreeMap<String, String>>> = BTreeMap::new();
    for line in text.lines().filter(|line| line.contains("flags/")) {
        let Some((call, rest)) = line
            .split_once("): ")
            .and_then(|(_, call)| call.split_once('('))
        else {
            continue;
        };
        let call = call.rsplit(' ').next().unwrap().to_owned();
        let arguments = rest
            .rsplit_once(") ")
            .map_or(rest, |(arguments, _)| arguments);
        let named = arguments
            .split(", ")
            .filter_map(|argument| argument.split_once(": "));
        // Numbers are the same in other forms, and modes are letters there; O_SYNC has bits that perf shows twice.
        let is_word = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_uppercase()) && !word.contains("|0x10")
        };
        let of_words = named.filter(|(name, word)| is_word(word) && *name != "mode");
        let of_words = of_words.map(|(name, word)| (name.to_owned(), word.to_owned()));
        calls.entry(call).or_default().push(of_words.collect());
    }
    calls
}

#[test]
fn calls_have_the_stacks_that_they_come_from() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let program = program(dir.path());
    let Some(text) = traced(tracefs, &["-s", "-g"], &program) else {
        return;
    };
    check_counts(&summary(&text));
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| line.starts_with("getppid "));
    let stack = &lines[at.unwrap() + 1..];
    assert!(stack[0].starts_with("1000 calls, "), "{text}");
    let functions: Vec<&str> = stack[1..].iter().copied().take(4).collect();
    assert_eq!(functions[1..3], ["outer", "main"], "{functions:?}");
}

#[test]
fn what_a_recording_does_not_have_is_said() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let error = run(&mut rprof(["trace"])).fails(2);
    assert!(
        error.contains("nothing to trace: give a command (rprof trace -- cmd)"),
        "{error}"
    );
    let dir = scratch();
    let file = dir.path().join("perf.data");
    let events = "raw_syscalls:sys_enter,raw_syscalls:sys_exit";
    let mut record = rprof(["record", "-q", "--call-graph", "none", "-e", events, "-o"]);
    run(&mut tracefs.within(record.arg(&file).args(["--", "true"]))).ok();
    let of = |flags: &[&str]| {
        let mut trace = rprof(["trace", "-s"]);
        run(trace.args(flags).arg("-i").arg(&file))
    };
    let error = of(&["-g"]).fails(2);
    assert!(error.contains("has no call chains"), "{error}");
    let none = of(&["-p", "1"]).ok();
    assert!(
        none.stderr
            .contains("no samples match the filter: --pid '1'"),
        "{}",
        none.stderr
    );
    for flags in [&["-a"][..], &["-C", "0"], &["-m", "4M"]] {
        of(flags).fails(2);
    }
}

#[test]
fn what_has_no_system_calls_says_how_to_record_them() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    needs!(alone);
    let dir = scratch();
    let file = dir.path().join("perf.data");
    let mut record = rprof(["record", "-q", "-e", "raw_syscalls:sys_exit", "-o"]);
    run(&mut tracefs.within(record.arg(&file).args(["--", "true"]))).ok();
    let error = run(rprof(["trace", "-s", "-i"]).arg(&file)).fails(1);
    assert!(
        error.contains("the recording has no system calls"),
        "{error}"
    );
}

/// Two calls, and the end.
const OF_32_BIT: &str = ".globl _start\n_start: mov $20, %eax\nint $0x80\nmov $64, %eax\nint $0x80\n\
    mov $1, %eax\nxor %ebx, %ebx\nint $0x80\n.section .note.GNU-stack,\"\",@progbits\n";

#[test]
fn calls_of_32_bit_programs_have_their_names() {
    needs!(cc);
    let Some(tracefs) = tracefs() else {
        return;
    };
    if !is_x86_64() {
        return;
    }
    needs!(alone);
    let dir = scratch();
    let (source, program) = (dir.path().join("calls.s"), dir.path().join("calls32"));
    std::fs::write(&source, OF_32_BIT).unwrap();
    let mut cc = tool("cc");
    let made = run(cc
        .args(["-m32", "-nostdlib", "-static", "-o"])
        .arg(&program)
        .arg(&source));
    if !made.status.success() || !run(&mut tool(&program)).status.success() {
        return not_run("no 32-bit programs here");
    }
    let shell = format!("{}; :", program.display());
    let mut trace = rprof(["trace", "-q", "-s", "--", "sh", "-c"]);
    let text = run(&mut tracefs.within(trace.arg(&shell))).ok().stdout;
    let rows = summary(&text);
    let of = |name| of_thread(&rows, "calls32", name);
    assert_eq!(of("getpid[32-bit]"), [1, 0, 0], "{text}");
    assert_eq!(of("getppid[32-bit]"), [1, 0, 0]);
    assert_eq!(of("exit[32-bit]"), [0, 0, 1]);
    assert_eq!(of("execve"), [1, 0, 0]);
    // The shell's own.
    assert!(of_thread(&rows, "sh", "exit_group") == [0, 0, 1], "{text}");
}
