//! Fields with a separator between them: value, unit, event, the group, the deviation, time and
//! share that it ran, and a metric with its unit.

use super::{Line, Printer, is_of_several, seconds};
use crate::Aggregation;
use crate::derived::Metric;
use rprof_untrusted::printable;
use std::io::{self, Write};
use std::time::Duration;

/// Writes one line, and one more for each further metric.
pub(super) fn write(
    printer: &Printer<'_>,
    line: &Line<'_>,
    at: Option<Duration>,
    separator: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut start: Vec<String> = Vec::new();
    // Padded, as perf's is.
    start.extend(at.map(|at| format!("{:>16}", seconds(at))));
    if printer.aggregation != Aggregation::Global && !line.label.is_empty() {
        start.push(line.label.clone());
    }
    if is_of_several(printer.aggregation) {
        start.push(line.row.n.to_string());
    }
    let mut fields = start.clone();
    fields.push(match line.value() {
        Some(value) if line.event.unit.has_decimals() => format!("{value:.2}"),
        Some(value) => format!("{value:.0}"),
        None => line.not_counted().to_owned(),
    });
    fields.push(printable(&line.event.unit.name).into_owned());
    fields.push(printable(&line.event.name).into_owned());
    fields.extend(line.event.cgroup.clone());
    if printer.is_repeated {
        fields.push(format!("{:.2}%", line.row.noise_percent));
    }
    fields.push(format!("{:.0}", line.row.running_ns));
    let percent = line.row.running_percent().unwrap_or(100.0);
    fields.push(format!("{percent:.2}"));
    let number_and_unit = |metric: &Metric| match (metric.value, metric.why_none) {
        (None, None) => [String::new(), String::new()],
        _ => [metric.bare_text(), metric.unit.clone()],
    };
    let mut metrics = line.metrics.iter().map(number_and_unit);
    fields.extend(metrics.next().unwrap_or_default());
    writeln!(out, "{}", fields.join(separator))?;
    for metric in metrics {
        let mut fields = start.clone();
        // Value, unit and event; perf leaves as many empty.
        let n_empty = 3 + start.len() + usize::from(line.event.cgroup.is_some());
        fields.extend(std::iter::repeat_n(String::new(), n_empty + 1));
        fields.extend(metric);
        writeln!(out, "{}", fields.join(separator))?;
    }
    Ok(())
}
