//! An object a line, with perf's keys; unlike perf's, always valid JSON.

use super::{Line, Printer, is_of_several, key_name, seconds};
use crate::Aggregation;
use crate::derived::Metric;
use rprof_untrusted::{JsonLayout, JsonWriter};
use std::io::{self, Write};
use std::time::Duration;

/// Writes one object, and one more for each further metric.
pub(super) fn write(
    printer: &Printer<'_>,
    line: &Line<'_>,
    at: Option<Duration>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut json = JsonWriter::in_memory(JsonLayout::Spaced);
    json.object(|json| {
        write_key(printer, line, at, json);
        write_count(printer, line, json);
        write_metric(line.metrics.first(), json);
    });
    json.end_line();
    for metric in line.metrics.iter().skip(1) {
        json.object(|json| {
            write_key(printer, line, at, json);
            write_metric(Some(metric), json);
        });
        json.end_line();
    }
    out.write_all(&json.into_text())
}

fn write_count(printer: &Printer<'_>, line: &Line<'_>, json: &mut JsonWriter<'_>) {
    match line.value() {
        Some(value) => json.field("counter-value", format!("{value:.6}")),
        None => json.field("counter-value", line.not_counted()),
    }
    json.field("unit", &line.event.unit.name);
    json.field_if("cgroup", line.event.cgroup.as_ref());
    json.field("event", &line.event.name);
    let mut number = |name: &str, digits: String| json.key(name).literal(&digits);
    if printer.is_repeated {
        number("variance", format!("{:.2}", line.row.noise_percent));
    }
    number("event-runtime", format!("{:.0}", line.row.running_ns));
    let percent = line.row.running_percent().unwrap_or(100.0);
    number("pcnt-running", format!("{percent:.2}"));
}

fn write_metric(metric: Option<&Metric>, json: &mut JsonWriter<'_>) {
    let known = metric.filter(|metric| metric.value.is_some() || metric.why_none.is_some());
    let value = match known.map(|metric| metric.value) {
        Some(Some(value)) => format!("{value:.6}"),
        Some(None) => "null".to_owned(),
        None => "0.000000".to_owned(),
    };
    json.key("metric-value").literal(&value);
    json.field(
        "metric-unit",
        known.map_or("", |metric| metric.unit.as_str()),
    );
}

/// Writes when it was counted, and on what.
fn write_key(
    printer: &Printer<'_>,
    line: &Line<'_>,
    at: Option<Duration>,
    json: &mut JsonWriter<'_>,
) {
    if let Some(at) = at {
        json.key("interval").literal(&seconds(at));
    }
    let Some(name) = key_name(printer.aggregation) else {
        return;
    };
    let (key, label) = match printer.aggregation {
        Aggregation::Cpu => (name, line.label.trim_start_matches("CPU")),
        Aggregation::Thread => ("thread", &*line.label),
        _ => (name, &*line.label),
    };
    if !label.is_empty() {
        json.field(key, label);
    }
    if is_of_several(printer.aggregation) {
        json.field("aggregate-number", line.row.n);
    }
}
