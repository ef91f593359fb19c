//! Text: perf diff's table, with what is known of the change beside.

use super::fitting::shown_columns;
use super::verdict::verdict;
use super::{DiffColumn, DiffLayout, mark_line, order_line, side_line, total_line, unit_of};
use crate::comparison::{ComparedEvent, ComparedRow, Comparison};
use rprof_profile::text::{at_right, comment_lines, padded, width};
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
        write_folded("Note: ", note, layout, out)?;
    }
    for gate in &comparison.gates {
        write_folded("Condition: ", &gate.sentence(), layout, out)?;
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
    let unit = unit_of(&rows.rows, event);
    let cell = |row: &ComparedRow, column: &DiffColumn| {
        let cell = printable(&column.cell(row, unit, layout)).into_owned();
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
    let (all, all_cells) = ((columns, headings, widths), cells);
    let kept = match layout.fit {
        Some(fit) if layout.separator.is_none() => shown_columns(&all.0, &all.2, fit),
        _ => (0..all.0.len()).collect(),
    };
    let columns: Vec<DiffColumn> = kept.iter().map(|&at| all.0[at]).collect();
    let headings = kept_of(&kept, &all.1);
    let widths: Vec<usize> = kept.iter().map(|&at| all.2[at]).collect();
    let cells = all_cells.iter().map(|row| kept_of(&kept, row));
    let cells: Vec<Vec<String>> = cells.collect();
    if !layout.quiet {
        write_heading(comparison, event, layout, out)?;
        let hidden = all.1.iter().enumerate();
        let hidden = hidden.filter(|(at, _)| !kept.contains(at));
        let hidden: Vec<&str> = hidden.map(|(_, heading)| heading.as_str()).collect();
        if !hidden.is_empty() {
            let hidden = hidden.join(", ");
            let all = if layout.is_interactive {
                ""
            } else {
                " (--full-names shows all)"
            };
            let hidden = format!("{hidden}{all}");
            write_folded("No room for: ", &hidden, layout, out)?;
            writeln!(out, "#")?;
        }
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
            if at == 0 {
                writeln!(out, "#")?;
            }
            write_folded("", line, layout, out)?;
        }
    }
    writeln!(out)
}

/// Writes a sentence, in as many lines as the terminal needs for it.
fn write_folded(
    what: &str,
    text: &str,
    layout: &DiffLayout,
    out: &mut dyn Write,
) -> io::Result<()> {
    let text = format!("{what}{}", printable(text));
    let mut lines = comment_lines(&text, layout.fit).into_iter();
    lines.try_for_each(|line| writeln!(out, "{line}"))
}

/// Some of a row's cells.
fn kept_of(kept: &[usize], row: &[String]) -> Vec<String> {
    let cells = kept.iter().filter_map(|&at| row.get(at).cloned());
    cells.collect()
}

fn write_heading(
    comparison: &Comparison,
    event: &ComparedEvent,
    layout: &DiffLayout,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (n_before, n_after) = comparison.n_runs;
    let (before, after) = event.all;
    let verdict = verdict(comparison, event);
    write_folded("Verdict: ", &verdict, layout, out)?;
    writeln!(out, "# Event '{}'", printable(&event.name))?;
    writeln!(out, "#")?;
    writeln!(out, "# Before: {}", side_line(n_before, before.samples))?;
    writeln!(out, "# After: {}", side_line(n_after, after.samples))?;
    let total = total_line(comparison, event);
    write_folded("Measure: ", &total, layout, out)?;
    write_folded("", &mark_line(comparison), layout, out)?;
    write_folded("", &order_line(comparison, layout), layout, out)?;
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
    let mut widths = widths.to_vec();
    if let (Some(fit), Some((last, others))) = (layout.fit, widths.split_last_mut()) {
        // A rule that is cut would have an ellipsis.
        let column = others.iter().fold(2, |sum, width| sum + width + 2);
        *last = (*last).min(fit.room(column));
    }
    let dots: Vec<String> = widths.iter().map(|&width| ".".repeat(width)).collect();
    for cells in [headings, &dots] {
        let line = line_of(columns, cells, &widths, layout);
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
