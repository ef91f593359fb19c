//! A critical path as JSON. `crates/JSON.md` says what is in it.

use super::{CriticalFunction, CriticalReport, CriticalThread};
use rprof_analysis::PathOwner;
use rprof_scheduling::PathStep;
use rprof_untrusted::{JsonLayout, JsonWriter};
use std::io::{self, Write};

/// Version of the schema: raised when a field changes its name or meaning.
const VERSION: u64 = 2;

/// Writes one object; a row of its lists is a line.
pub(super) fn write_json(report: &CriticalReport, out: &mut dyn Write) -> io::Result<()> {
    let path = &report.path;
    let mut json = JsonWriter::new(out, JsonLayout::Compact);
    json.object(|json| {
        json.field("schema", "rprof-critical");
        json.field("version", VERSION);
        match &path.of {
            PathOwner::Thread(tid) => write_task(report, *tid, json),
            PathOwner::Spans { names, n_spans } => {
                json.column("spans", names, |json, name| json.text(name.raw()));
                json.field("n_spans", *n_spans);
            }
        }
        json.field("start_ns", path.range.start);
        json.field("duration_ns", path.len_ns());
        json.field("unknown_ns", report.unknown_ns());
        json.field("cpu_ns", report.cpu_ns());
        json.field("wall_ns", report.wall_ns());
        json.field("samples", report.n_samples());
        rows("threads", report.threads(), json, |json, row| {
            write_thread(report, &row, json);
        });
        rows("functions", report.functions(), json, |json, one| {
            write_function(one, json);
        });
        rows("steps", &path.steps, json, |json, step| {
            write_step(step, json);
        });
        json.column("warnings", &report.profile.warnings, |json, warning| {
            json.text(warning);
        });
    });
    json.end_line();
    json.finish()
}

fn rows<T>(
    name: &str,
    all: impl IntoIterator<Item = T>,
    json: &mut JsonWriter<'_>,
    write: impl Fn(&mut JsonWriter<'_>, T),
) {
    json.key(name).list(|json| {
        for one in all {
            json.begin_line();
            json.object(|json| write(json, one));
        }
        json.end_line();
    });
}

fn write_task(report: &CriticalReport, tid: i32, json: &mut JsonWriter<'_>) {
    json.key("tid").signed(tid.into());
    let Some(thread) = report.path.thread(tid) else {
        return;
    };
    if thread.pid > 0 {
        json.key("pid").signed(thread.pid.into());
    }
    json.field("comm", thread.name.raw());
}

fn write_thread(report: &CriticalReport, row: &CriticalThread, json: &mut JsonWriter<'_>) {
    write_task(report, row.tid, json);
    json.field("doing", row.activity.words());
    json.field("path_ns", row.ns);
    json.field("steps", row.n_steps);
}

fn write_function(function: &CriticalFunction, json: &mut JsonWriter<'_>) {
    json.field("symbol", function.symbol.as_str());
    match &function.cause {
        Some(cause) => json.field("cause", cause.as_str()),
        None => json.field("dso", function.image.as_str()),
    }
    json.field("cpu_ns", function.cpu_ns);
    json.field("wall_ns", function.wall_ns);
    json.field("path_ns", function.path_ns);
    json.field("path_cpu_ns", function.path_cpu_ns);
    json.field("path_self_ns", function.path_self_ns);
    json.field("saves_ns", function.saves_ns());
}

fn write_step(step: &PathStep, json: &mut JsonWriter<'_>) {
    json.key("tid").signed(step.tid.into());
    json.field("start_ns", step.start_ns);
    json.field("duration_ns", step.len_ns());
    json.field("doing", step.activity.words());
}
