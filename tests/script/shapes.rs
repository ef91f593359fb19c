//! Recordings of every shape that perf makes print as perf prints them.

use crate::common::{self, Tracefs, alone, needs, records_all, run, tracefs};
use crate::script::lines::{assert_same, our_script, perf_script};
use crate::script::program;
use std::path::Path;

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
    let _live = alone();
    run(&mut perf).ok();
}

/// Compares what both print of recordings of these shapes.
#[track_caller]
fn compare(is_among: impl Fn(&Shape) -> bool) {
    needs!(root);
    let Some(program) = program() else {
        return;
    };
    let (true, tracefs) = (records_all(), tracefs()) else {
        return;
    };
    for shape in SHAPES.iter().filter(|shape| is_among(shape)) {
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

#[test]
fn every_shape_of_recording_of_a_command_prints_as_perf_prints_it() {
    compare(|shape| !shape.record.contains(&"-a"));
}

#[test]
fn every_shape_of_recording_of_all_cpus_prints_as_perf_prints_it() {
    compare(|shape| shape.record.contains(&"-a"));
}
