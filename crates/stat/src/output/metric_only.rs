//! A line for each key, with what is computed and without counts.

use super::{Printer, Span, is_of_several, key_name, key_text, seconds};
use crate::CountForm;
use crate::derived::Metric;
use crate::rows::Row;
use crate::topology::Key;
use rprof_untrusted::{JsonLayout, JsonScalar, JsonWriter};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Width of a column.
const WIDTH: usize = 20;

/// Names of the columns.
pub(super) fn head(printer: &Printer<'_>, span: &Span<'_>, out: &mut dyn Write) -> io::Result<()> {
    let units: Vec<String> = columns(span, first_key(span))
        .into_iter()
        .map(|(unit, _)| unit)
        .collect();
    match &printer.style.form {
        // Each line has the names.
        CountForm::Json => Ok(()),
        CountForm::Csv(separator) => {
            let mut names: Vec<&str> = Vec::new();
            if printer.is_interval {
                names.push("time");
            }
            names.extend(key_name(printer.aggregation));
            if is_of_several(printer.aggregation) {
                names.push("cpus");
            }
            names.extend(units.iter().map(String::as_str));
            writeln!(out, "{}", names.join(separator))
        }
        CountForm::Text => {
            let mut line = String::new();
            if !printer.is_interval {
                line = " ".repeat(key_text(printer.aggregation, "", 0).len());
            }
            for unit in units {
                line.push_str(&format!("{unit:>WIDTH$} "));
            }
            writeln!(out, "{}", line.trim_end())
        }
    }
}

/// The lines.
pub(super) fn rows(printer: &Printer<'_>, span: &Span<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (key, n) in keys(span) {
        let row = Row::empty(key, n);
        let label = printer.label(span, &row);
        let columns = columns(span, key);
        match &printer.style.form {
            CountForm::Json => {
                let mut fields: BTreeMap<String, JsonScalar<'_>> = BTreeMap::new();
                if let Some(at) = span.at {
                    fields.insert("interval".to_owned(), at.as_secs_f64().into());
                }
                if !label.is_empty() {
                    let name = key_name(printer.aggregation);
                    fields.insert(name.unwrap_or_default().to_owned(), label.into());
                }
                for (unit, metric) in columns {
                    let value = metric.and_then(|metric| metric.value);
                    fields.insert(unit, value.into());
                }
                let mut json = JsonWriter::in_memory(JsonLayout::Compact);
                json.object(|json| {
                    for (name, value) in fields {
                        json.field(&name, value);
                    }
                });
                json.end_line();
                out.write_all(&json.into_text())?;
            }
            CountForm::Csv(separator) => {
                let mut fields: Vec<String> = Vec::new();
                fields.extend(span.at.map(|at| format!("{:>16}", seconds(at))));
                if !label.is_empty() {
                    fields.push(label);
                }
                if is_of_several(printer.aggregation) {
                    fields.push(n.to_string());
                }
                fields.extend(
                    columns.iter().map(|(_, metric)| {
                        metric.as_ref().map(Metric::bare_text).unwrap_or_default()
                    }),
                );
                writeln!(out, "{}", fields.join(separator))?;
            }
            CountForm::Text => {
                let mut line = String::new();
                if let Some(at) = span.at {
                    line.push_str(&format!("{:>16} ", seconds(at)));
                }
                line.push_str(&key_text(printer.aggregation, &label, n));
                for (unit, metric) in &columns {
                    let width = WIDTH.max(unit.len());
                    let value = metric.as_ref().map(Metric::text).unwrap_or_default();
                    line.push_str(&format!("{value:>width$} "));
                }
                writeln!(out, "{}", line.trim_end())?;
            }
        }
    }
    Ok(())
}

fn first_key(span: &Span<'_>) -> Key {
    keys(span).first().map_or(Key::Global, |(key, _)| *key)
}

/// Keys that any event has, with the number of their counters.
fn keys(span: &Span<'_>) -> Vec<(Key, u64)> {
    let mut keys = BTreeMap::new();
    for row in span.counted.rows.iter().flatten() {
        keys.entry(row.key).or_insert(row.n);
    }
    if keys.is_empty() {
        keys.insert(Key::Global, 0);
    }
    keys.into_iter().collect()
}

/// Metrics of all events, without those that say nothing without their counts, as in perf.
fn columns(span: &Span<'_>, key: Key) -> Vec<(String, Option<Metric>)> {
    let mut columns = Vec::new();
    for (nth, event) in span.counted.events.iter().enumerate() {
        let rows = span.counted.rows.get(nth);
        let Some(rows) = rows.filter(|rows| !rows.is_empty()) else {
            continue;
        };
        // Of what is counted elsewhere only, the columns are there, and empty.
        let row = rows.iter().find(|row| row.key == key);
        let row = row.copied().unwrap_or_else(|| Row::empty(key, 0));
        for metric in span.counted.metrics(nth, &row) {
            let unit = metric.unit.trim();
            if unit.is_empty() || unit.contains("/sec") || unit.contains("CPUs utilized") {
                continue;
            }
            let unit = if unit.starts_with("of all") {
                format!("{} {unit}", event.name)
            } else {
                unit.to_owned()
            };
            columns.push((unit, row.is_counted().then_some(metric)));
        }
    }
    columns
}
