//! Tables as text: what perf users know, trees below its rows.

use super::{Table, TableOptions};
use crate::quality::{quality_advice, quality_line};
use crate::text::{padded, width};
use crate::tree::write_tree;
use crate::unnamed::unnamed_lines;
use rprof_base::{Counted, Share};
use rprof_profile::view::{Field, FieldValue, Row};
use rprof_profile::{EventProfile, Profile};
use rprof_untrusted::printable;
use std::io::{self, Write};

/// Writes a table for each event, then how stacks ended that were unwound, and what could not be
/// named or used.
///
/// # Errors
/// The writer's.
pub fn write_table(
    profile: &Profile,
    options: &TableOptions,
    out: &mut impl Write,
) -> io::Result<()> {
    for event in &profile.events {
        write_event(profile, event, options, out)?;
    }
    write_footer(profile, out)
}

/// What a profile is worth.
fn write_footer(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "# Quality: {}", quality_line(profile))?;
    if let Some(advice) = quality_advice(profile) {
        writeln!(out, "#   {advice}")?;
    }
    if let Some(summary) = profile.unwound.summary() {
        writeln!(out, "# Stacks: {}", printable(&summary))?;
    }
    if let Some(coverage) = &profile.about.coverage {
        writeln!(out, "# Coverage: {}", printable(&coverage.to_string()))?;
    }
    let unnamed = unnamed_lines(profile);
    if !unnamed.is_empty() {
        writeln!(out, "# Without names:")?;
    }
    for line in unnamed {
        writeln!(out, "#   {line}")?;
    }
    Ok(())
}

/// What the recorder left out, if anything.
pub(crate) fn left_out(profile: &Profile) -> Option<String> {
    let samples = |n| Counted::new(n, "sample", "samples");
    let own = samples(profile.about.own_samples);
    let others = profile.about.others_samples;
    match (profile.about.own_samples, others) {
        (0, 0) => None,
        (0, _) => Some(format!("{} of others", samples(others))),
        (_, 0) => Some(format!(
            "{own} of rprof itself (rprof record --include-self keeps them)"
        )),
        _ => Some(format!("{own} of rprof itself, {others} of others")),
    }
}

fn write_event(
    profile: &Profile,
    event: &EventProfile,
    options: &TableOptions,
    out: &mut impl Write,
) -> io::Result<()> {
    let bound = match (event.loss.at_least, left_out(profile)) {
        (true, _) => "at least ",
        // What was lost may be of those that were left out.
        (false, Some(_)) if event.loss.samples > 0 => "at most ",
        (false, _) => "",
    };
    writeln!(out, "# Total Lost Samples: {bound}{}", event.loss.samples)?;
    if let Some(left_out) = left_out(profile) {
        writeln!(out, "# Left out: {left_out}")?;
    }
    writeln!(out, "#")?;
    let table = Table::of(profile, event, options);
    table.totals.write_heading(table.event, options, out)?;
    writeln!(out, "#")?;
    let widths = write_heading(&table, out)?;
    for row in &table.shown {
        write_row(&table, row, &widths, out)?;
        if let Some(graph) = options.graph {
            let weight = options.weight(row);
            write_tree(&table, row, graph, weight, out)?;
        }
    }
    writeln!(out)?;
    writeln!(out)
}

/// The last column is not padded, and names may have thousands of characters: its dots end here.
const LAST_COLUMN: usize = 60;

/// Headings and dots; returns the columns' widths.
fn write_heading(table: &Table<'_>, out: &mut impl Write) -> io::Result<Vec<usize>> {
    let columns = table.columns();
    let widths = columns.iter().enumerate().map(|(at, &field)| {
        let is_last = at + 1 == columns.len();
        let widest = match field {
            Field::Sum(_) => field.min_width(),
            Field::Key(_) if is_last => LAST_COLUMN,
            Field::Key(_) => {
                let cells = table.shown.iter().map(|row| width(&table.cell(field, row)));
                cells.max().unwrap_or(0)
            }
        };
        widest.max(width(table.heading(field)))
    });
    let widths: Vec<usize> = widths.collect();
    let headings = columns.iter().zip(&widths);
    let titles = headings.map(|(&field, &columns)| placed(table.heading(field), columns, field));
    let titles: Vec<String> = titles.collect();
    let dots: Vec<String> = widths.iter().map(|&columns| ".".repeat(columns)).collect();
    writeln!(out, "# {}", titles.join("  ").trim_end())?;
    writeln!(out, "# {}", dots.join("  "))?;
    writeln!(out, "#")?;
    Ok(widths)
}

fn write_row(
    table: &Table<'_>,
    row: &Row,
    widths: &[usize],
    out: &mut impl Write,
) -> io::Result<()> {
    let columns = table.columns();
    let mut line = String::new();
    for (at, (&field, &columns_of)) in columns.iter().zip(widths).enumerate() {
        let is_last = at + 1 == columns.len();
        let columns = match field {
            Field::Key(_) if is_last => 0,
            _ => columns_of,
        };
        let cell = placed(&table.cell(field, row), columns, field);
        line += "  ";
        match field.value(row, table.totals.weight, table.profile) {
            FieldValue::Share(share) if table.options.colors => line += &colored(&cell, share),
            _ => line += &cell,
        }
    }
    line.push('\n');
    out.write_all(line.as_bytes())
}

/// A text in its column, at the side where its field's cells stand.
fn placed(text: &str, columns: usize, field: Field) -> String {
    match field.is_right() {
        true => format!("{text:>columns$}"),
        false => padded(text, columns),
    }
}

/// A percentage: from 5 % on red, from 0.5 % on green.
fn colored(cell: &str, share: Share) -> String {
    match share.percent() {
        5.0.. => format!("\x1b[31m{cell}\x1b[0m"),
        0.5.. => format!("\x1b[32m{cell}\x1b[0m"),
        _ => cell.to_owned(),
    }
}
