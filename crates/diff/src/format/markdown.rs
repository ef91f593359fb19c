//! Markdown: a table for tickets, and for summaries of jobs.

use super::verdict::verdict;
use super::{DiffColumn, DiffLayout, mark_line, side_line, total_line, unit_of};
use crate::comparison::{ComparedEvent, Comparison};
use crate::gate::GateOutcome;
use rprof_profile::text::markdown_cell;
use rprof_untrusted::printable;
use std::io::{self, Write};

/// Rows where nobody says how many.
const ROWS: usize = 20;

/// Writes what conditions said, a table for each event, and what a reader must know.
///
/// # Errors
/// The writer's.
pub fn write_diff_markdown(
    comparison: &Comparison,
    layout: &DiffLayout,
    out: &mut dyn Write,
) -> io::Result<()> {
    for gate in &comparison.gates {
        let word = match gate.outcome {
            GateOutcome::Fired => "**Failed**",
            GateOutcome::Undecided => "Undecided",
            GateOutcome::Held => "Passed",
            GateOutcome::NoSamples => "Not checked",
        };
        writeln!(out, "- {word}: {}", cell(&gate.sentence()))?;
    }
    if !comparison.gates.is_empty() {
        writeln!(out)?;
    }
    for event in &comparison.events {
        write_event(comparison, event, layout, out)?;
    }
    for note in &comparison.notes {
        writeln!(out, "- {}", cell(note))?;
    }
    Ok(())
}

fn write_event(
    comparison: &Comparison,
    event: &ComparedEvent,
    layout: &DiffLayout,
    out: &mut dyn Write,
) -> io::Result<()> {
    let layout = DiffLayout {
        limit: layout.limit.or(Some(ROWS)),
        ..layout.clone()
    };
    let columns = layout.columns(comparison, event);
    let (n_before, n_after) = comparison.n_runs;
    writeln!(
        out,
        "**{}**: {}",
        cell(&event.name),
        cell(&verdict(comparison, event))
    )?;
    writeln!(out)?;
    writeln!(out, "{}", cell(&total_line(comparison, event)))?;
    writeln!(out)?;
    writeln!(
        out,
        "Before: {}; after: {}. {}.",
        side_line(n_before, event.all.0.samples),
        side_line(n_after, event.all.1.samples),
        cell(&mark_line(comparison))
    )?;
    writeln!(out)?;
    let line = |cells: &mut dyn Iterator<Item = String>| {
        let cells: Vec<String> = cells.collect();
        format!("| {} |", cells.join(" | "))
    };
    let headings = &mut columns
        .iter()
        .map(|one| cell(&one.heading(comparison, &layout)));
    writeln!(out, "{}", line(headings))?;
    let rules = &mut columns.iter().map(|column| {
        if column.is_at_right() {
            "---:".to_owned()
        } else {
            "---".to_owned()
        }
    });
    writeln!(out, "{}", line(rules))?;
    let rows = layout.rows(event);
    let unit = unit_of(&rows.rows, event);
    for row in &rows.rows {
        let cells = &mut columns.iter().map(|column: &DiffColumn| {
            let text = column.cell(row, unit, &layout);
            cell(text.trim())
        });
        writeln!(out, "{}", line(cells))?;
    }
    writeln!(out)?;
    let mut left_out = rows.left_out(&layout).into_iter();
    left_out.try_for_each(|line| writeln!(out, "{}\n", cell(&line)))
}

fn cell(text: &str) -> String {
    markdown_cell(&printable(text))
}
