//! Tables for spreadsheets and tickets: CSV and Markdown.

use super::{Table, TableOptions};
use crate::quality::{quality_advice, quality_line};
use rprof_base::{Counted, Share};
use rprof_profile::Profile;
use rprof_profile::view::{Field, FieldValue, LevelRow};
use std::borrow::Cow;
use std::io::{self, Write};

/// Writes comma-separated values as RFC 4180 has them: a line of perf's names, then the rows. Shares are percentages. If
/// there are several events, the first column says which. Rows in levels have a column `level`, from 1 on, and the keys
/// of the rows that they are below.
///
/// # Errors
/// The writer's.
pub fn write_csv(
    profile: &Profile,
    options: &TableOptions,
    out: &mut impl Write,
) -> io::Result<()> {
    let several = profile.events.len() > 1;
    let has_levels = options.hierarchy;
    let fields = options.columns.shown.iter();
    let names = fields.map(|&field| csv_cell(options.name(field)).into_owned());
    let event = several.then(|| "event".to_owned());
    let level = has_levels.then(|| "level".to_owned());
    let heading: Vec<String> = event.into_iter().chain(level).chain(names).collect();
    writeln!(out, "{}", heading.join(","))?;
    for event in &profile.events {
        let table = Table::of(profile, event, options);
        for shown in &table.shown {
            let name = several.then(|| csv_cell(event.name.raw()).into_owned());
            let level = has_levels.then(|| (shown.depth + 1).to_string());
            let cells = table.columns().iter();
            let cells = cells.map(|&field| csv_value(&table, field, shown));
            let line: Vec<String> = name.into_iter().chain(level).chain(cells).collect();
            writeln!(out, "{}", line.join(","))?;
        }
    }
    Ok(())
}

/// What a column says of a row; of rows in levels, keys further in say nothing.
fn csv_value(table: &Table<'_>, field: Field, shown: &LevelRow) -> String {
    if table.level(field).is_some_and(|level| level > shown.depth) {
        return String::new();
    }
    match field.value(&shown.row, table.totals.weight, table.profile) {
        FieldValue::Share(share) => share.to_string(),
        FieldValue::Number(number) => number.to_string(),
        FieldValue::Text(text) => csv_cell(&text).into_owned(),
        FieldValue::None => String::new(),
    }
}

/// In quotes where it has to be.
fn csv_cell(text: &str) -> Cow<'_, str> {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")).into(),
        false => text.into(),
    }
}

/// Writes a table of Markdown for each event, and below it what is left out and what the profile is worth. Rows in levels
/// have one key each, in its column.
///
/// # Errors
/// The writer's.
pub fn write_markdown(
    profile: &Profile,
    options: &TableOptions,
    out: &mut impl Write,
) -> io::Result<()> {
    for event in &profile.events {
        let table = Table::of(profile, event, options);
        let samples = Counted::new(table.totals.samples, "sample", "samples");
        writeln!(
            out,
            "{samples} of event {}\n",
            markdown_cell(&event.name.to_string())
        )?;
        let columns = table.columns();
        let headings = columns
            .iter()
            .map(|&field| table.heading(field).trim().to_owned());
        write_line(headings, out)?;
        let rules = columns.iter().map(|field| match field.is_right() {
            true => "---:".to_owned(),
            false => "---".to_owned(),
        });
        write_line(rules, out)?;
        let cell = |shown: &LevelRow, field| match table.is_of(field, shown) {
            true => markdown_cell(table.cell(field, &shown.row).trim()),
            false => String::new(),
        };
        for shown in &table.shown {
            write_line(columns.iter().map(|&field| cell(shown, field)), out)?;
        }
        if table.left_out.rows > 0 {
            let rows = Counted::new(table.left_out.rows as u64, "row more", "rows more");
            let share = Share::of(table.left_out.weight, table.totals.weight);
            writeln!(out, "\n{rows}, {share}%")?;
        }
        writeln!(out)?;
    }
    writeln!(out, "Quality: {}", quality_line(profile))?;
    if let Some(advice) = quality_advice(profile) {
        writeln!(out, "({advice})")?;
    }
    Ok(())
}

fn write_line(cells: impl Iterator<Item = String>, out: &mut impl Write) -> io::Result<()> {
    let cells: Vec<String> = cells.collect();
    writeln!(out, "| {} |", cells.join(" | "))
}

/// A text without anything that Markdown takes for its own.
fn markdown_cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\|`*_[]<>#~&!".contains(character) {
            cell.push('\\');
        }
        cell.push(character);
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_signs_of_csv_are_quoted() {
        assert_eq!(csv_cell("main"), "main");
        assert_eq!(csv_cell("a<b, \"c\">"), "\"a<b, \"\"c\"\">\"");
        assert_eq!(csv_cell("a\nb"), "\"a\nb\"");
    }

    #[test]
    fn signs_of_markdown_are_escaped() {
        assert_eq!(markdown_cell("[.] a|b"), "\\[.\\] a\\|b");
        assert_eq!(markdown_cell("Vec<u8>"), "Vec\\<u8\\>");
    }
}
