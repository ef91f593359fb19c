//! Counts as text, CSV and JSON, in perf's forms.
//!
//! Source: `tools/perf/util/stat-display.c` (v6.1).

mod csv;
mod footer;
mod json;
mod metric_only;
mod text;

use crate::derived::{Counted, Metric};
use crate::opening::{EventState, StatEvent};
use crate::rows::Row;
use crate::targets::Thread;
use crate::topology::Key;
use crate::{Aggregation, CountForm, Style};
pub(crate) use footer::Footer;
use rprof_untrusted::printable;
use std::io::{self, Write};
use std::time::Duration;

/// What is written the same way all the time.
#[derive(Debug)]
pub(crate) struct Printer<'p> {
    pub(crate) style: &'p Style,
    pub(crate) aggregation: Aggregation,
    /// Whom it is about, as perf says it.
    pub(crate) title: String,
    pub(crate) is_interval: bool,
    /// More than one run.
    pub(crate) is_repeated: bool,
    /// Lines with column heads that were written.
    pub(crate) n_headed: u32,
}

/// Counts of one span.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span<'s> {
    pub(crate) counted: Counted<'s>,
    pub(crate) threads: &'s [Thread],
    /// Of an interval: its end, since the start.
    pub(crate) at: Option<Duration>,
}

/// One event of one key, ready to be written.
#[derive(Debug)]
struct Line<'l> {
    event: &'l StatEvent,
    row: &'l Row,
    /// Its first column: CPU, core, thread.
    label: String,
    metrics: Vec<Metric>,
}

impl Line<'_> {
    /// The count in its unit; `None` if it was not counted.
    fn value(&self) -> Option<f64> {
        let is_counted = self.event.is_counted() && self.row.is_counted();
        is_counted.then_some(self.row.count * self.event.unit.scale)
    }

    /// What stands in place of a count.
    fn not_counted(&self) -> &'static str {
        match self.event.state {
            EventState::Counted => "<not counted>",
            EventState::NotSupported => "<not supported>",
            EventState::NotPermitted => "<not permitted>",
        }
    }
}

/// Heads of columns are repeated after this number of intervals.
const HEAD_EVERY: u32 = 26;

impl Printer<'_> {
    /// Writes what stands before the counts: once, or before some of the intervals.
    pub(crate) fn head(&mut self, span: &Span<'_>, out: &mut dyn Write) -> io::Result<()> {
        let is_due = !self.is_interval || self.n_headed.is_multiple_of(HEAD_EVERY);
        self.n_headed = self.n_headed.wrapping_add(1);
        if !is_due {
            return Ok(());
        }
        match (&self.style.form, self.is_interval) {
            (CountForm::Text, true) => self.interval_head(span, out)?,
            (CountForm::Text, false) => {
                write!(out, "\n Performance counter stats for ")?;
                writeln!(out, "{}:\n", printable(&self.title))?;
            }
            _ => {}
        }
        if self.style.metric_only {
            metric_only::head(self, span, out)
        } else {
            Ok(())
        }
    }

    /// Writes the counts, with what stands before them.
    pub(crate) fn span(&mut self, span: &Span<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.head(span, out)?;
        self.counts(span, out)
    }

    /// Writes the counts.
    pub(crate) fn counts(&self, span: &Span<'_>, out: &mut dyn Write) -> io::Result<()> {
        if self.style.metric_only {
            return metric_only::rows(self, span, out);
        }
        let width = unit_width(span.counted.events);
        for (nth, row) in self.order(span) {
            let Some(event) = span.counted.events.get(nth) else {
                continue;
            };
            let line = Line {
                event,
                row: &row,
                label: self.label(span, &row),
                metrics: if event.is_counted() && row.is_counted() {
                    shown(span.counted.metrics(nth, &row))
                } else {
                    Vec::new()
                },
            };
            match &self.style.form {
                CountForm::Text => text::write(self, &line, span.at, width, out)?,
                CountForm::Csv(separator) => csv::write(self, &line, span.at, separator, out)?,
                CountForm::Json => json::write(self, &line, span.at, out)?,
            }
        }
        Ok(())
    }

    fn interval_head(&self, span: &Span<'_>, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "#{:>15}", "time")?;
        if let Some((head, width)) = key_column(self.aggregation) {
            write!(out, " {head:<width$}")?;
        }
        if is_of_several(self.aggregation) {
            write!(out, " cpus")?;
        }
        if self.style.metric_only {
            return Ok(());
        }
        let unit = unit_width(span.counted.events);
        writeln!(out, " {:>18} {:>unit$} events", "counts", "unit")
    }

    /// Events and rows in the order of perf: by CPU or thread within an event, but by event within what
    /// several CPUs belong to.
    fn order(&self, span: &Span<'_>) -> Vec<(usize, Row)> {
        let rows = span.counted.rows.iter().enumerate();
        let mut all: Vec<(usize, Row)> = rows
            .flat_map(|(nth, rows)| rows.iter().map(move |row| (nth, *row)))
            .collect();
        // What this machine does not count has no rows, nor has what it counts on other CPUs only.
        for nth in 0..span.counted.events.len() {
            let rows = span.counted.rows.get(nth);
            if rows.is_none_or(Vec::is_empty) {
                all.extend(self.missing(span, nth));
            }
        }
        all.sort_by_key(|(nth, _)| *nth);
        if is_of_several(self.aggregation) {
            all.sort_by_key(|(_, row)| row.key);
        }
        all
    }

    fn missing(&self, span: &Span<'_>, nth: usize) -> Vec<(usize, Row)> {
        let others = span.counted.rows.iter().find(|rows| !rows.is_empty());
        match others {
            Some(rows) => (rows.iter().map(|row| (nth, Row::empty(row.key, 0)))).collect(),
            None => vec![(nth, Row::empty(Key::Global, 0))],
        }
    }

    /// A thread is named; everything else is as it is.
    fn label(&self, span: &Span<'_>, row: &Row) -> String {
        let Key::Thread(nth) = row.key else {
            return row.key.to_string();
        };
        let Some(thread) = span.threads.get(nth) else {
            return String::new();
        };
        let comm = rprof_untrusted::Untrusted::of_bytes(&thread.comm);
        match self.style.form {
            CountForm::Text => format!("{:>16}-{:<7}", comm.to_string(), thread.tid),
            _ => format!("{comm}-{}", thread.tid),
        }
    }
}

/// A line each but the first's, which is the event's own: of what has no value there is none.
fn shown(mut metrics: Vec<Metric>) -> Vec<Metric> {
    let mut nth = 0;
    metrics.retain(|metric| {
        nth += 1;
        nth == 1 || metric.value.is_some() || metric.why_none.is_some()
    });
    metrics
}

/// The column of keys in text: its head and width.
fn key_column(aggregation: Aggregation) -> Option<(&'static str, usize)> {
    match aggregation {
        Aggregation::Global => None,
        Aggregation::Cpu => Some(("CPU", 10)),
        Aggregation::Core => Some(("core", 15)),
        Aggregation::Die => Some(("die", 12)),
        Aggregation::Socket => Some(("socket", 6)),
        Aggregation::Node => Some(("node", 6)),
        Aggregation::Thread => Some(("            comm-pid", 25)),
    }
}

/// A key in text, padded, and of how many CPUs it is.
fn key_text(aggregation: Aggregation, label: &str, n: u64) -> String {
    let Some((_, width)) = key_column(aggregation) else {
        return String::new();
    };
    if is_of_several(aggregation) {
        format!("{label:<width$} {n:>4} ")
    } else {
        format!("{label:<width$} ")
    }
}

/// What keys are called in CSV and JSON.
fn key_name(aggregation: Aggregation) -> Option<&'static str> {
    match aggregation {
        Aggregation::Cpu => Some("cpu"),
        other => key_column(other).map(|(head, _)| head.trim_start()),
    }
}

/// Whether it says of how many CPUs it is.
fn is_of_several(aggregation: Aggregation) -> bool {
    matches!(
        aggregation,
        Aggregation::Core | Aggregation::Die | Aggregation::Socket | Aggregation::Node
    )
}

fn unit_width(events: &[StatEvent]) -> usize {
    let widths = events.iter().map(|event| event.unit.name.len());
    // The head of the column.
    widths.max().unwrap_or(0).max("unit".len())
}

/// Seconds with nine decimals.
fn seconds(at: Duration) -> String {
    format!("{}.{:09}", at.as_secs(), at.subsec_nanos())
}

#[cfg(test)]
mod tests;
