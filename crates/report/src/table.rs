//! The table that perf users know, trees below its rows.

use super::text::{padded, width};
use super::tree::{Graph, write_tree};
use super::unnamed::unnamed_lines;
use rprof_base::{Counted, Share};
use rprof_profile::view::{Row, Rows, SortKey, Weighing};
use rprof_profile::{EventProfile, Profile};
use rprof_untrusted::printable;
use std::io::{self, Write};

/// How a table looks.
#[derive(Clone, Debug, PartialEq)]
pub struct TableOptions {
    /// Columns that make rows differ.
    pub keys: Vec<SortKey>,
    /// Count for a row also what it called, in a column of its own.
    pub children: bool,
    /// Trees; `None` for the table alone.
    pub graph: Option<Graph>,
    /// Rows below this percentage are left out.
    pub percent_limit: f64,
    /// Count in the heading what a filter lets through; percentages are of all.
    pub is_filtered: bool,
    /// A column with the number of samples.
    pub show_samples: bool,
    /// Colour heavy rows, as perf does, by terminal sequences.
    pub colors: bool,
}

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
pub(super) fn left_out(profile: &Profile) -> Option<String> {
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

/// Samples and their weight, as far as the filter lets them through.
fn shown_sums(event: &EventProfile) -> (u64, u64) {
    let nodes = event.tree.nodes().iter();
    nodes.fold((0, 0), |(samples, weight): (u64, u64), node| {
        (
            samples.saturating_add(node.self_samples),
            weight.saturating_add(node.self_weight),
        )
    })
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
    let (samples, weight) = match options.is_filtered {
        true => shown_sums(event),
        false => (event.samples, event.weight),
    };
    writeln!(out, "# Samples: {samples} of event '{}'", event.name)?;
    writeln!(out, "# Event count (approx.): {weight}")?;
    if samples != event.samples {
        writeln!(
            out,
            "# Of all {}, event count {}: percentages are of these",
            Counted::new(event.samples, "sample", "samples"),
            event.weight
        )?;
    }
    writeln!(out, "#")?;
    let rows = match options.children {
        true => Rows::new(profile, event, &options.keys, Weighing::WithChildren),
        false => Rows::new(profile, event, &options.keys, Weighing::Own),
    };
    let shown: Vec<&Row> = rows
        .iter()
        .take_while(|row| {
            let weight = if options.children {
                row.total_weight
            } else {
                row.self_weight
            };
            Share::of(weight, event.weight).percent() >= options.percent_limit
        })
        .collect();
    let widths = write_heading(profile, &shown, options, out)?;
    for row in shown {
        write_row(profile, row, &widths, event, options, out)?;
        if let Some(graph) = options.graph {
            write_tree(
                &rows,
                row,
                graph,
                options.children,
                event.weight,
                profile,
                out,
            )?;
        }
    }
    writeln!(out)?;
    writeln!(out)
}

/// The last column is not padded, and names may have thousands of characters: its dots end here.
const LAST_COLUMN: usize = 60;

/// Headings and dots; returns the columns' widths.
fn write_heading(
    profile: &Profile,
    shown: &[&Row],
    options: &TableOptions,
    out: &mut impl Write,
) -> io::Result<Vec<usize>> {
    let mut headings: Vec<(&str, usize)> = match options.children {
        true => vec![("Children", 8), ("    Self", 8)],
        false => vec![("Overhead", 8)],
    };
    if options.show_samples {
        headings.push(("     Samples", 12));
    }
    let mut widths = Vec::new();
    for (column, key) in options.keys.iter().enumerate() {
        let is_last = column + 1 == options.keys.len();
        let widest = match is_last {
            true => LAST_COLUMN,
            false => shown
                .iter()
                .map(|row| width(&key.cell(&row.key, profile)))
                .max()
                .unwrap_or(0),
        };
        let columns = widest.max(width(key.heading()));
        widths.push(if is_last { 0 } else { columns });
        headings.push((key.heading(), columns));
    }
    let titles: Vec<String> = headings
        .iter()
        .map(|(title, columns)| padded(title, *columns))
        .collect();
    let dots: Vec<String> = headings
        .iter()
        .map(|(_, columns)| ".".repeat(*columns))
        .collect();
    writeln!(out, "# {}", titles.join("  ").trim_end())?;
    writeln!(out, "# {}", dots.join("  "))?;
    writeln!(out, "#")?;
    Ok(widths)
}

fn write_row(
    profile: &Profile,
    row: &Row,
    widths: &[usize],
    event: &EventProfile,
    options: &TableOptions,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut line = String::new();
    if options.children {
        line += &share(row.total_weight, event, options);
    }
    line += &share(row.self_weight, event, options);
    if options.show_samples {
        line += &format!("  {:>12}", row.self_samples);
    }
    for (key, columns) in options.keys.iter().zip(widths) {
        line += "  ";
        line += &padded(&key.cell(&row.key, profile), *columns);
    }
    line.push('\n');
    out.write_all(line.as_bytes())
}

/// A percentage; from 5 % on red, from 0.5 % on green.
fn share(weight: u64, event: &EventProfile, options: &TableOptions) -> String {
    let share = Share::of(weight, event.weight);
    match share.percent() {
        _ if !options.colors => format!("  {share:>7.2}%"),
        5.0.. => format!("  \x1b[31m{share:>7.2}%\x1b[0m"),
        0.5.. => format!("  \x1b[32m{share:>7.2}%\x1b[0m"),
        _ => format!("  {share:>7.2}%"),
    }
}
