//! Tracepoints with their fields in the page: those that `rprof script` prints.

use super::check;
use crate::common::{Program, needs, run, tracefs};
use serde_json::{Value, json};

#[test]
fn events_have_the_fields_that_script_prints() {
    needs!("chromium" in "chromium", "node" in "nodejs");
    let Some((program, tracefs)) = program().zip(tracefs()) else {
        return;
    };
    let events = ["-F", "999", "-e", "cpu-clock:u,sched:sched_process_fork"];
    let recorder = program.recorder(&events, &[]);
    let recording = program.recorded(&mut tracefs.within(&recorder));
    let page = program.file("events.html");
    let mut export = recording.command("export", &[]);
    run(export.arg("-o").arg(&page)).ok();
    let script = recording.read("script", &["--json"]);
    let rows = script.lines().filter_map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        let trace = row["trace"].as_str()?;
        let (_, child) = trace.split_once("child_pid=")?;
        let time_ns = row["time_ns"].to_string();
        Some(json!([time_ns, row["tid"], child.trim_end()]))
    });
    let rows: Vec<Value> = rows.collect();
    // A process and two threads.
    assert!(rows.len() >= 3, "{script}");
    check(vec![json!({"page": page, "traced": rows})], program.dir());
}

fn program() -> Option<Program> {
    Program::new(include_str!("many.c"), &["-O1", "-pthread"])
}
