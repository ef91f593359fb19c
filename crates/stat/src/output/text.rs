//! Lines for people.

use super::{Line, Printer, key_text, seconds};
use crate::Aggregation;
use crate::derived::Metric;
use rprof_untrusted::printable;
use std::io::{self, Write};
use std::time::Duration;

const COUNT: usize = 18;
const NAME: usize = 32;
const CGROUP: usize = 16;
const METRIC: usize = 38;
/// From the start of a count to that of its metric, without the width of units.
const BEFORE_METRIC: usize = COUNT + 1 + 1 + NAME;

/// Writes one line, and one more for each further metric.
pub(super) fn write(
    printer: &Printer<'_>,
    line: &Line<'_>,
    at: Option<Duration>,
    unit_width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let start = at
        .map(|at| format!("{:>16} ", seconds(at)))
        .unwrap_or_default();
    let start = start + &label(printer, line);
    let mut text = start.clone();
    let count = match line.value() {
        Some(value) => number(value, line.event.unit.has_decimals(), printer),
        None => line.not_counted().to_owned(),
    };
    text.push_str(&format!("{count:>COUNT$} "));
    text.push_str(&format!(
        "{:<unit_width$} ",
        printable(&line.event.unit.name)
    ));
    text.push_str(&format!("{:<NAME$}", printable(&line.event.name)));
    if let Some(cgroup) = &line.event.cgroup {
        text.push_str(&format!(" {:<CGROUP$}", printable(cgroup)));
    }
    let mut metrics = line.metrics.iter();
    text.push_str(&column(metrics.next()));
    if line.row.noise_percent > 0.0 {
        text.push_str(&format!("  ( +-{:6.2}% )", line.row.noise_percent));
    }
    if let Some(percent) = line
        .row
        .running_percent()
        .filter(|_| line.value().is_some())
    {
        text.push_str(&format!("  ({percent:.2}%)"));
    }
    writeln!(out, "{}", text.trim_end())?;
    for metric in metrics {
        let indent = BEFORE_METRIC + unit_width;
        let line = format!("{start}{:indent$}{}", "", column(Some(metric)));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn label(printer: &Printer<'_>, line: &Line<'_>) -> String {
    match printer.aggregation {
        Aggregation::Cpu if line.label.is_empty() => String::new(),
        aggregation => key_text(aggregation, &line.label, line.row.n),
    }
}

/// A metric with its sign, padded; blank if there is none.
pub(super) fn column(metric: Option<&Metric>) -> String {
    let Some(metric) = metric else {
        return " ".repeat(METRIC);
    };
    if metric.value.is_none() && metric.why_none.is_none() {
        return " ".repeat(METRIC);
    }
    let value = format!(" # {:>8} ", metric.text());
    let width = METRIC.saturating_sub(value.chars().count());
    format!("{value}{:<width$}", metric.unit)
}

/// A number, with commas if they are wanted.
pub(super) fn number(value: f64, has_decimals: bool, printer: &Printer<'_>) -> String {
    let text = if has_decimals {
        format!("{value:.2}")
    } else {
        format!("{value:.0}")
    };
    if printer.style.big_numbers {
        with_commas(&text)
    } else {
        text
    }
}

fn with_commas(text: &str) -> String {
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::new();
    for (at, digit) in whole.char_indices() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_have_commas() {
        for (text, expected) in [
            ("0", "0"),
            ("999", "999"),
            ("1000", "1,000"),
            ("1234567.89", "1,234,567.89"),
            ("100000", "100,000"),
        ] {
            assert_eq!(with_commas(text), expected);
        }
    }
}
