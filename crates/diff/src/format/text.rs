//! Text: perf diff's table, with what is known of the change beside.

use super::{DiffColumn, DiffLayout, mark_line, side_line, total_line};
use crate::comparison::{ComparedEvent, ComparedRow, Comparison};
use rprof_profile::text::{at_right, padded, width};
use rprof_untrusted::printable;
use std::io::{self, Write};

/// Writes a table for each event, then what a reader must know.
///
/// # Errors
/// The writer's.
pub fn write_diff(
    comparison: &Comparison,
    layout: &DiffLayout,
    out: &mut dyn Write,
) -> io::Result<()> {
    for event in &comparison.events {
        write_event(comparison, event, layout, out)?;
    }
    if layout.quiet {
        return Ok(());
    }
    for note in &comparison.notes {
        writeln!(out, "# Note: {}", printable(note))?;
    }
    for gate in &comparison.gates {
        writeln!(out, "# Condition: {}", printable(&gate.sentence()))?;
    }
    Ok(())
}

fn write_event(
    comparison: &Comparison,
    event: &ComparedEvent,
    layout: &DiffLayout,
    out: &mut dyn Write,
) -> io::Result<()> {
    let columns = layout.columns(comparison, event);
    let rows = layout.rows(event);
    let cell = |row: &ComparedRow, column: &DiffColumn| {
        let cell = printable(&column.cell(row, layout)).into_owned();
        match &layout.separator {
            Some(separator) => cell.trim_end().replace(separator.as_str(), "."),
            None => cell,
        }
    };
    let cells: Vec<Vec<String>> = rows
        .rows
        .iter()
        .map(|row| columns.iter().map(|column| cell(row, column)).collect())
        .collect();
    let headings = columns
        .iter()
        .map(|column| column.heading(comparison, layout));
    let headings: Vec<String> = headings.collect();
    let widths = widths_of(&headings, &cells);
    if !layout.quiet {
        write_heading(comparison, event, out)?;
        write_columns(&columns, &headings, &widths, layout, out)?;
    }
    for (row, cells) in rows.rows.iter().zip(&cells) {
        let line = match &layout.separator {
            Some(separator) => cells.join(separator),
            None => line_of(&columns, cells, &widths, layout),
        };
        let line = if layout.colors {
            colored(line, row)
        } else {
            line
        };
        writeln!(out, "{line}")?;
    }
    if !layout.quiet {
        for (at, line) in rows.left_out(layout).iter().enumerate() {
            let rule = if at == 0 { "#\n" } else { "" };
            writeln!(out, "{rule}# {line}")?;
        }
    }
    writeln!(out)
}

fn write_heading(
    comparison: &Comparison,
    event: &ComparedEvent,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (n_before, n_after) = comparison.n_runs;
    let (before, after) = event.all;
    writeln!(out, "# Event '{}'", printable(&event.name))?;
    writeln!(out, "#")?;
    writeln!(out, "# Before: {}", side_line(n_before, before.samples))?;
    writeln!(out, "# After: {}", side_line(n_after, after.samples))?;
    let total = total_line(comparison, event);
    writeln!(out, "# Measure: {}", printable(&total))?;
    writeln!(out, "# {}", mark_line(comparison))?;
    writeln!(out, "#")
}

fn write_columns(
    columns: &[DiffColumn],
    headings: &[String],
    widths: &[usize],
    layout: &DiffLayout,
    out: &mut dyn Write,
) -> io::Result<()> {
    if let Some(separator) = &layout.separator {
        return writeln!(out, "# {}", headings.join(separator));
    }
    let dots: Vec<String> = widths.iter().map(|&width| ".".repeat(width)).collect();
    for cells in [headings, &dots] {
        let line = line_of(columns, cells, widths, layout);
        writeln!(out, "# {}", line.get(2..).unwrap_or_default())?;
    }
    writeln!(out, "#")
}

fn widths_of(headings: &[String], cells: &[Vec<String>]) -> Vec<usize> {
    let mut widths: Vec<usize> = headings.iter().map(|heading| width(heading)).collect();
    for row in cells {
        for (most, cell) in widths.iter_mut().zip(row) {
            *most = width(cell).max(*most);
        }
    }
    widths
}

fn line_of(
    columns: &[DiffColumn],
    cells: &[String],
    widths: &[usize],
    layout: &DiffLayout,
) -> String {
    let mut line = String::from("  ");
    let all = columns.iter().zip(cells).zip(widths);
    for (at, ((column, cell), &columns_wide)) in all.enumerate() {
        if at > 0 {
            line.push_str("  ");
        }
        let is_last = at + 1 == columns.len();
        match (column.is_at_right(), layout.fit) {
            (true, _) => line.push_str(&at_right(cell, columns_wide)),
            (false, Some(fit)) if is_last => line.push_str(&fit.name(cell, width(&line))),
            (false, _) if is_last => line.push_str(cell),
            (false, _) => line.push_str(&padded(cell, columns_wide)),
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// What grew for certain is bold and yellow, what shrank blue: told apart by those who see no red or no green.
fn colored(line: String, row: &ComparedRow) -> String {
    let judged = match (row.own.is_sure, &row.children) {
        (true, _) => &row.own,
        (false, Some(children)) if children.is_sure => children,
        (false, _) => return line,
    };
    let code = if judged.estimate.change() > 0.0 {
        "1;33"
    } else {
        "34"
    };
    format!("\x1b[{code}m{line}\x1b[0m")
}
