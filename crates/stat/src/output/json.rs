//! An object a line, with perf's keys; unlike perf's, always valid JSON.

use super::{Line, Printer, is_of_several, seconds};
use crate::Aggregation;
use std::io::{self, Write};
use std::time::Duration;

/// Writes one object, and one more for each further metric.
pub(super) fn write(
    printer: &Printer<'_>,
    line: &Line<'_>,
    at: Option<Duration>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let start = start(printer, line, at);
    let mut fields = start.clone();
    let count = match line.value() {
        Some(value) => format!("{value:.6}"),
        None => line.not_counted().to_owned(),
    };
    fields.push(field("counter-value", &string(&count)));
    fields.push(field("unit", &string(&line.event.unit.name)));
    fields.extend(
        line.event
            .cgroup
            .iter()
            .map(|name| field("cgroup", &string(name))),
    );
    fields.push(field("event", &string(&line.event.name)));
    if printer.is_repeated {
        fields.push(field("variance", &format!("{:.2}", line.row.noise_percent)));
    }
    fields.push(field(
        "event-runtime",
        &format!("{:.0}", line.row.running_ns),
    ));
    let percent = line.row.running_percent().unwrap_or(100.0);
    fields.push(field("pcnt-running", &format!("{percent:.2}")));
    let value_and_unit = |metric: &crate::derived::Metric| {
        let (value, unit) = match (metric.value, metric.why_none) {
            (Some(value), _) => (format!("{value:.6}"), metric.unit.as_str()),
            (None, Some(_)) => ("null".to_owned(), metric.unit.as_str()),
            (None, None) => ("0.000000".to_owned(), ""),
        };
        [
            field("metric-value", &value),
            field("metric-unit", &string(unit)),
        ]
    };
    let mut metrics = line.metrics.iter().map(value_and_unit);
    let none = || {
        [
            field("metric-value", "0.000000"),
            field("metric-unit", "\"\""),
        ]
    };
    fields.extend(metrics.next().unwrap_or_else(none));
    writeln!(out, "{{{}}}", fields.join(", "))?;
    for metric in metrics {
        let fields = [start.clone(), metric.to_vec()].concat();
        writeln!(out, "{{{}}}", fields.join(", "))?;
    }
    Ok(())
}

fn start(printer: &Printer<'_>, line: &Line<'_>, at: Option<Duration>) -> Vec<String> {
    let mut fields = Vec::new();
    fields.extend(at.map(|at| field("interval", &seconds(at))));
    let key = match printer.aggregation {
        Aggregation::Global => return fields,
        Aggregation::Cpu => "cpu",
        Aggregation::Core => "core",
        Aggregation::Die => "die",
        Aggregation::Socket => "socket",
        Aggregation::Node => "node",
        Aggregation::Thread => "thread",
    };
    let label = match printer.aggregation {
        Aggregation::Cpu => line.label.trim_start_matches("CPU"),
        _ => &line.label,
    };
    if !label.is_empty() {
        fields.push(field(key, &string(label)));
    }
    if is_of_several(printer.aggregation) {
        fields.push(field("aggregate-number", &line.row.n.to_string()));
    }
    fields
}

fn field(key: &str, value: &str) -> String {
    format!("\"{key}\" : {value}")
}

fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
