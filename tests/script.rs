//! `rprof script` prints what `perf script` prints, line for line, for recordings of every shape.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

mod common;
#[path = "script/rare.rs"]
mod rare;

use common::{
    FRAME_POINTERS, Program, Tracefs, has, is_root, records_all, rprof, run, tool, tracefs,
};
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

/// A recording by perf, and the fields that its samples have: a list for each `-F`.
struct Shape {
    name: &'static str,
    record: &'static [&'static str],
    fields: &'static str,
}

const TASK: &str = "comm,pid,tid,time,period,event,ip,dso";
const ALL: &str = "comm,pid,tid,cpu,time,period,event,ip,dso";

const SHAPES: &[Shape] = &[
    Shape {
        name: "chains",
        record: &["-g"],
        fields: TASK,
    },
    Shape {
        name: "all CPUs",
        record: &["-a", "-g"],
        fields: ALL,
    },
    Shape {
        name: "compressed",
        record: &["-z", "-a", "-g"],
        fields: ALL,
    },
    Shape {
        name: "directory",
        record: &["--threads", "-a", "-g"],
        fields: ALL,
    },
    Shape {
        name: "compressed directory",
        record: &["--threads", "-z", "-a", "-g"],
        fields: ALL,
    },
    Shape {
        name: "addresses",
        record: &["-d"],
        fields: "comm,pid,tid,time,period,event,ip,dso",
    },
    Shape {
        name: "physical",
        record: &["-a", "-d", "--phys-data"],
        fields: "comm,tid,cpu,time,event,ip,dso,phys_addr",
    },
    Shape {
        name: "page sizes",
        record: &["-d", "--data-page-size", "--code-page-size"],
        fields: "comm,tid,time,event,ip,dso,data_page_size,code_page_size",
    },
    Shape {
        name: "control groups",
        record: &["-a", "--all-cgroups"],
        fields: ALL,
    },
    Shape {
        name: "namespaces",
        record: &["-a", "--namespaces"],
        fields: ALL,
    },
    Shape {
        name: "without times",
        record: &["--per-thread"],
        fields: "comm,pid,tid,period,event,ip,dso",
    },
    Shape {
        name: "group",
        record: &["-a", "-e", "{cpu-clock,page-faults}:S"],
        fields: ALL,
    },
    Shape {
        name: "group with chains",
        record: &["-a", "-g", "-e", "{cpu-clock,page-faults}:S"],
        fields: ALL,
    },
    Shape {
        name: "two events",
        record: &["-g", "-e", "cpu-clock,page-faults"],
        fields: TASK,
    },
    Shape {
        name: "tracepoints",
        record: &[
            "-a",
            "-R",
            "-e",
            "sched:sched_switch,syscalls:sys_enter_getppid",
        ],
        fields: "comm,pid,tid,cpu,time,event,trace",
    },
    Shape {
        name: "monotonic clock",
        record: &["-a", "-g", "-k", "mono"],
        fields: ALL,
    },
    Shape {
        name: "switches",
        record: &["-a", "--switch-events"],
        fields: ALL,
    },
    Shape {
        name: "registers",
        record: &["--intr-regs", "--user-regs"],
        fields: "comm,tid,time,event,ip,iregs,uregs",
    },
    Shape {
        name: "registers and chains",
        record: &["-g", "--user-regs=ip,sp,bp,r12"],
        fields: "comm,tid,time,event,ip,dso,uregs",
    },
    Shape {
        name: "memory",
        record: &["-d", "-W"],
        fields: "comm,tid,time,event,addr,data_src,weight,ins_lat,ip",
    },
    Shape {
        name: "addresses with names",
        record: &["-d", "-e", "page-faults"],
        fields: "comm,tid,time,event,addr,ip,dso",
    },
    Shape {
        name: "time of day",
        record: &["-a", "-k", "mono"],
        fields: "comm,tid,cpu,misc,tod,time,event,flags,ip,dso",
    },
    Shape {
        name: "fields by kind",
        record: &["-a", "-R", "-e", "cpu-clock,syscalls:sys_enter_getppid"],
        fields: "trace:comm,trace sw:comm,tid,ip,dso",
    },
    Shape {
        name: "one kind hidden",
        record: &["-a", "-R", "-e", "cpu-clock,syscalls:sys_enter_getppid"],
        fields: "comm,tid,event,ip trace: sw:-tid",
    },
    Shape {
        name: "source lines",
        record: &[],
        fields: "comm,tid,time,ip,dso,srcline",
    },
    Shape {
        name: "overwrite",
        record: &["-a", "--overwrite"],
        fields: ALL,
    },
];

/// Samples as blocks of lines. A line that is indented belongs to the sample above it.
fn blocks(text: &str) -> Vec<Vec<&str>> {
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        match blocks.last_mut() {
            Some(block) if line.starts_with('\t') => block.push(line),
            _ => blocks.push(vec![line]),
        }
    }
    blocks
}

/// Whether a chain went astray: with frame pointers that are none it can hold any number. perf takes
/// those above -4096 for context markers, and drops or mistakes what follows; rprof prints them.
fn is_astray(block: &[&str]) -> bool {
    let is_one = |line: &&str| line.trim_start().starts_with("fffffffffffff");
    block.get(1..).unwrap_or_default().iter().any(is_one)
}

/// Whether a sample is of what we run, or of the kernel. With `-a` there are neighbours, too: programs
/// in memory that has no file, of other file systems, killed while perf looks at them.
fn is_ours(block: &[&str]) -> bool {
    let comm = block[0].trim_start();
    let all = [
        "program",
        "perf",
        "swapper",
        "kworker",
        "ksoftirqd",
        "rcu_",
        "migration",
    ];
    all.iter().any(|name| comm.starts_with(name))
}

/// What there is to a sample whoever looks at it: command, ids and time.
fn head<'t>(block: &[&'t str]) -> &'t str {
    block[0].split(": ").next().unwrap_or_default()
}

#[track_caller]
fn assert_same(what: &str, ours: &str, theirs: &str) {
    let (ours, theirs) = (blocks(ours), blocks(theirs));
    assert!(!theirs.is_empty(), "{what}: perf printed nothing");
    for (our, their) in ours.iter().zip(&theirs) {
        // perf names a file also where no line is known.
        let no_line = |theirs: &str, ours: &str| theirs.ends_with(":0") && ours.ends_with(']');
        if their.len() == our.len() && their.iter().zip(our).any(|(t, o)| no_line(t, o)) {
            continue;
        }
        match is_astray(our) {
            _ if !is_ours(our) => assert_eq!(head(our), head(their), "{what}"),
            true => assert_eq!(our[0], their[0], "{what}"),
            false => assert_eq!(our, their, "{what}"),
        }
    }
    assert_eq!(ours.len(), theirs.len(), "{what}");
}

fn perf_script(file: &Path, fields: &str) -> String {
    let mut perf = common::perf(["script", "--no-inline", "--max-stack", "1000"]);
    perf.env("TZ", "UTC");
    run(perf.args(lists(fields)).arg("-i").arg(file))
        .ok()
        .stdout
}

fn our_script(file: &Path, fields: &str) -> String {
    let mut ours = rprof(["script", "--no-inline"]);
    run(ours.args(lists(fields)).arg("-i").arg(file))
        .ok()
        .stdout
}

/// Each list with an `-F` of its own.
fn lists(fields: &str) -> impl Iterator<Item = &str> {
    fields.split(' ').flat_map(|list| ["-F", list])
}

fn record(shape: &Shape, file: &Path, program: &Path, tracefs: Option<Tracefs>) {
    let mut perf = common::perf(["record", "-q"]);
    // Tracepoints have a period of their own.
    if shape.name != "tracepoints" {
        perf.args(["-F", "999"]);
    }
    if !shape.record.contains(&"-e") {
        perf.args(["-e", "cpu-clock"]);
    }
    perf.args(shape.record).arg("-o").arg(file).arg("--");
    perf.arg(program);
    if let Some(tracefs) = tracefs {
        perf = tracefs.within(&perf);
    }
    run(&mut perf).ok();
}

/// What most tests begin with: perf, and the program to record.
#[track_caller]
fn program(test: &str) -> Option<Program> {
    if !has(test, "perf", "linux-perf") {
        return None;
    }
    Program::new(test, PROGRAM, FRAME_POINTERS)
}

#[test]
fn every_shape_of_recording_prints_as_perf_prints_it() {
    let test = "every_shape_of_recording_prints_as_perf_prints_it";
    if !is_root(test) {
        return;
    }
    let Some(program) = program(test) else {
        return;
    };
    let (true, tracefs) = (records_all(test), tracefs(test)) else {
        return;
    };
    for shape in SHAPES {
        let needs_tracefs = shape.record.iter().any(|word| word.contains("sys_enter"));
        if needs_tracefs && tracefs.is_none() {
            continue;
        }
        let file = program.file(shape.name);
        record(shape, &file, &program.path(), tracefs);
        let (ours, theirs) = (
            our_script(&file, shape.fields),
            perf_script(&file, shape.fields),
        );
        assert_same(shape.name, &ours, &theirs);
    }
}

/// In pipe mode perf prints symbols whatever fields are asked for; without chains there are no
/// return addresses, which perf looks up without going back by one.
#[test]
fn a_recording_through_a_pipe_is_the_same_recording() {
    let test = "a_recording_through_a_pipe_is_the_same_recording";
    let Some(program) = program(test) else {
        return;
    };
    for flags in [&["-d"][..], &["-d", "-z"]] {
        let mut perf = common::perf(["record", "-q", "-e", "cpu-clock", "-F", "999"]);
        perf.args(flags).args(["-o", "-", "--"]).arg(program.path());
        let file = program.file("piped");
        run(&mut through("\"$@\" | cat > \"$0\"", &file, &perf)).ok();
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
    let test = "collapsed_stacks_are_those_of_perf";
    let Some(program) = program(test) else {
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
        assert!(unknown.fails(2).contains("known are comm"));
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
