//! Processes, threads and CPUs of the page, over time and as filters: a program of two processes, recorded with and
//! without its waits.

use super::check;
use crate::common::{Program, Recording, needs, run};
use serde_json::{Value, json};

fn facts(program: &Program, recording: &Recording, name: &str, flags: &[&str]) -> Value {
    let page = program.file(name);
    // The next recording of its program takes its place.
    let file = page.with_extension("data");
    std::fs::copy(&recording.file, &file).unwrap();
    let mut export = recording.command("export", flags);
    run(export.arg("-o").arg(&page)).ok();
    json!({
        "lanes": true,
        "page": page,
        "file": file,
        "rprof": env!("CARGO_BIN_EXE_rprof"),
        "flags": flags,
    })
}

fn program() -> Option<Program> {
    Program::new(include_str!("many.c"), &["-O1", "-pthread"])
}

#[test]
fn filters_by_process_thread_and_cpu_are_the_reports() {
    needs!("chromium" in "chromium", "node" in "nodejs");
    let Some(program) = program() else {
        return;
    };
    let events = ["-F", "999", "-e", "cpu-clock:u,page-faults"];
    let recording = program.record(&events, &[]);
    let mut pages = vec![facts(&program, &recording, "many.html", &[])];
    pages.push(two_runs(&program));
    let none = program.record(&["-e", "page-faults:u", "-c", "1000000000"], &[]);
    let empty = facts(&program, &none, "empty.html", &[]);
    pages.push(json!({"empty": true, "page": empty["page"]}));
    check(pages, program.dir());
}

#[test]
fn filters_and_lanes_of_waits_are_the_reports() {
    needs!("chromium" in "chromium", "node" in "nodejs");
    let Some(program) = program() else {
        return;
    };
    let waits = program.record(&["-F", "999", "-e", "cpu-clock:u", "--off-cpu"], &[]);
    let mut on_cpu = facts(&program, &waits, "on-cpu.html", &[]);
    on_cpu["pairs"] = false.into();
    // Only waits have stacks of the kernel.
    on_cpu["hasKernel"] = false.into();
    let wall = facts(&program, &waits, "wall.html", &["--wall"]);
    check(vec![on_cpu, wall], program.dir());
}

/// Two recordings of the program, and the page of each: what a page finds between two ranges is what `diff` finds.
fn two_runs(program: &Program) -> Value {
    let (mut pages, mut files) = (Vec::new(), Vec::new());
    for (number, arg) in [(1, "50"), (2, "150")] {
        let recording = program.record(&["-F", "999", "-e", "cpu-clock:u"], &[arg]);
        let facts = facts(program, &recording, &format!("run-{number}.html"), &[]);
        pages.push(facts["page"].clone());
        files.push(facts["file"].clone());
    }
    json!({"twoRuns": {"pages": pages, "files": files, "rprof": env!("CARGO_BIN_EXE_rprof")}})
}
