//! `rprof script` prints what `perf script` prints, line for line, for recordings of every shape.

mod json;
mod lines;
mod rare;
mod records;
mod shapes;

use crate::common;
use crate::common::{FRAME_POINTERS, Program, alone, needs, rprof, run, tool};
use lines::{assert_same, blocks, our_script, perf_script};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Threads, page faults, system calls and a deep stack; everything has frame pointers.
const PROGRAM: &str = r#"
    #include <pthread.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    static volatile unsigned long sink;
    __attribute__((noinline)) void leaf(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i; }
    __attribute__((noinline)) void deep(int left) { if (left) deep(left - 1); else leaf(300000); sink++; }
    __attribute__((noinline)) void touch(void) { char *p = malloc(8 << 20); memset(p, 1, 8 << 20); sink += p[99]; free(p); }
    static void *work(void *unused) { for (long end = CPU_US() + 150000; CPU_US() < end;) { deep(40); touch(); getppid(); } return unused; }
    int main(void) {
        pthread_t other;
        pthread_create(&other, 0, work, 0);
        work(0);
        pthread_join(other, 0);
        return 0;
    }"#;

/// What most tests begin with: perf, and the program to record.
#[track_caller]
fn program() -> Option<Program> {
    needs!(perf);
    Program::new(PROGRAM, FRAME_POINTERS)
}

/// In pipe mode perf prints symbols whatever fields are asked for; without chains there are no
/// return addresses, which perf looks up without going back by one.
#[test]
fn a_recording_through_a_pipe_is_the_same_recording() {
    let Some(program) = program() else {
        return;
    };
    for flags in [&["-d"][..], &["-d", "-z"]] {
        let mut perf = common::perf(["record", "-q", "-e", "cpu-clock", "-F", "999"]);
        perf.args(flags).args(["-o", "-", "--"]).arg(program.path());
        let file = program.file("piped");
        let live = alone();
        run(&mut through("\"$@\" | cat > \"$0\"", &file, &perf)).ok();
        drop(live);
        let fields = "comm,pid,tid,time,period,event,ip,sym,symoff,dso";
        let ours = our_script(&file, fields);
        assert_same("pipe", &ours, &perf_script(&file, fields));

        let reader = rprof(["script", "--no-inline", "-F", fields, "-i", "-"]);
        let piped = run(&mut through("cat \"$0\" | \"$@\"", &file, &reader)).ok();
        assert!(piped.stdout == ours);
    }
}

/// A command within a shell's line: `$@` there, and a file `$0`.
fn through(line: &str, file: &Path, command: &Command) -> Command {
    let mut shell = tool("sh");
    shell.args(["-c", line]).arg(file);
    shell.arg(command.get_program()).args(command.get_args());
    shell
}

/// Stacks as FlameGraph tools count them, from a script's text.
fn collapsed(text: &str) -> BTreeMap<Vec<String>, usize> {
    let mut stacks = BTreeMap::new();
    for block in blocks(text) {
        let comm = block[0]
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned();
        let frames = block.iter().skip(1).map(|line| {
            let words = line
                .trim_start()
                .split_once(' ')
                .map_or("", |(_, rest)| rest);
            let name = words.rsplit_once(" (").map_or(words, |(name, _)| name);
            name.rsplit_once("+0x")
                .map_or(name, |(name, _)| name)
                .to_owned()
        });
        let mut stack: Vec<String> = frames.collect();
        stack.push(comm);
        *stacks.entry(stack).or_default() += 1;
    }
    stacks
}

#[test]
fn collapsed_stacks_are_those_of_perf() {
    let Some(program) = program() else {
        return;
    };
    let recorded = program.record_by_perf(&["-F", "1999", "-g", "-e", "cpu-clock:u"], &[]);
    let file = recorded.file;
    let fields = "comm,tid,time,event,ip,sym,symoff,dso";
    let ours = collapsed(&our_script(&file, fields));
    let theirs = collapsed(&perf_script(&file, fields));
    // Where the program begins, perf looks up return addresses themselves and so names the next
    // function: `_dl_start_user` for `_start`. Below main both must be the same.
    let from_main = |stacks: BTreeMap<Vec<String>, usize>| {
        let mut below = BTreeMap::new();
        for (stack, n) in stacks {
            let main = stack
                .iter()
                .position(|name| ["main", "work"].contains(&&name[..]));
            if let Some(main) = main {
                *below.entry(stack[..=main].to_vec()).or_insert(0) += n;
            }
        }
        below
    };
    let (ours, theirs) = (from_main(ours), from_main(theirs));
    assert!(!ours.is_empty());
    assert_eq!(ours, theirs);
}

#[test]
fn fields_that_nobody_recorded_are_refused_by_name() {
    let file = common::fixtures().join("spin/perf.data");
    let asked = run(rprof(["script", "-F", "comm,phys_addr", "-i"]).arg(&file));
    assert!(asked.fails(1).contains("PHYS_ADDR"));
    let unknown = run(rprof(["script", "-F", "comm,colour", "-i"]).arg(&file));
    assert!(unknown.fails(2).contains("'colour'"));
    for field in ["insn", "brstackinsn", "callindent", "synth"] {
        let unknown = run(rprof(["script", "-F", field, "-i"]).arg(&file));
        assert!(unknown.fails(2).contains("known fields: comm"));
    }
    let other_kind = run(rprof(["script", "-F", "trace:comm", "-i"]).arg(&file));
    assert!(other_kind.fails(1).contains("no tracepoint events"));
    let mixed = run(rprof(["script", "-F", "comm,+addr", "-i"]).arg(&file));
    assert!(mixed.fails(2).contains("+ or -"));
}

#[test]
fn filters_are_those_of_the_report() {
    let file = common::fixtures().join("spin/perf.data");
    let all = our_script(&file, "comm,tid,time,event,ip");
    let none = run(rprof([
        "script",
        "-F",
        "comm,tid,time,event,ip",
        "--comms",
        "nobody",
        "-i",
    ])
    .arg(&file));
    assert!(!all.is_empty());
    assert_eq!(none.ok().stdout, "");
}
