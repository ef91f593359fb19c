//! What threads wait for, in the page of a program whose threads wait for one thing each.

use super::check;
use crate::common::{Program, needs, run};
use serde_json::{Value, json};

#[test]
fn waits_have_boxes_colors_and_lanes() {
    needs!("chromium" in "chromium", "node" in "nodejs");
    let source = include_str!("../sched/waits.c");
    let Some(program) = Program::new(source, &["-O1", "-pthread"]) else {
        return;
    };
    let recording = program.record(&["--off-cpu"], &[]);
    let page = program.file("waits.html");
    let mut export = recording.command("export", &["--wall"]);
    run(export.arg("-o").arg(&page)).ok();
    let args = ["--wall", "-s", "cause", "-g", "none", "--format", "json"];
    let report: Value = serde_json::from_str(&recording.read("report", &args)).unwrap();
    let event = &report["events"][0];
    let total = event["weight"].as_f64().unwrap();
    let rows = event["rows"].as_array().unwrap().iter();
    // Others may have no stack; these are known by theirs.
    let known = [
        "pipe", "socket", "futex", "epoll", "poll", "select", "eventfd",
    ];
    let rows = rows.filter(|row| known.iter().any(|one| row["cause"] == *one));
    let waits = rows.map(|row| {
        let ns = (row["overhead"].as_f64().unwrap() * total / 100.0).round();
        (row["cause"].as_str().unwrap().to_owned(), json!(ns))
    });
    let waits: serde_json::Map<String, Value> = waits.collect();
    if waits.is_empty() {
        println!("skipped: causes of waits need the right to record the kernel's stacks");
        return;
    }
    check(vec![json!({ "page": page, "waits": waits })], program.dir());
}

#[test]
fn numbers_of_waits_are_of_all_where_only_the_longest_are_drawn() {
    needs!(kernel, all_cpus, "chromium" in "chromium", "node" in "nodejs");
    let Some(program) = Program::new(include_str!("ping.c"), &["-O1", "-pthread"]) else {
        return;
    };
    let recording = program.record(&["--off-cpu", "-F", "99", "-m", "8M"], &[]);
    let page = program.file("ping.html");
    run(recording.command("export", &[]).arg("-o").arg(&page)).ok();
    let args = [
        "--off-cpu",
        "-s",
        "tid,cause",
        "-n",
        "-g",
        "none",
        "--no-children",
        "--format",
        "json",
    ];
    let report: Value = serde_json::from_str(&recording.read("report", &args)).unwrap();
    let event = &report["events"][0];
    let facts = json!({ "page": page, "manyWaits": event["rows"], "total": event["weight"] });
    check(vec![facts], program.dir());
}
