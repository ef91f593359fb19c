//! Tables for spreadsheets and tickets: CSV and Markdown.

use super::{EventTables, Table, TableOptions, slots};
use crate::quality::{quality_advice, quality_line};
use crate::totals;
use rprof_base::{Counted, Share};
use rprof_profile::Profile;
use rprof_profile::text::markdown_cell;
use rprof_profile::view::{EventSets, Field, FieldValue, LevelRow};
use std::borrow::Cow;
use std::io::{self, Write};

/// Writes comma-separated values as RFC 4180 has them: a line of perf's names, then the rows. Shares are percentages. If
/// there are several tables, the first column says which event a row is of, and groups are taken apart. Rows in levels
/// have a column `level`, from 1 on, and the keys of the rows that they are below.
///
/// # Errors
/// The writer's.
pub fn write_csv(
    profile: &Profile,
    options: &TableOptions,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut sets = options.events.of(profile);
    let several = sets.len() > 1;
    if several {
        // All lines have the same columns.
        let single = EventTables {
            sets: EventSets::Single,
            ..options.events
        };
        sets = single.of(profile);
    }
    for (number, set) in sets.into_iter().enumerate() {
        let name = several.then(|| csv_cell(set.leader.name.raw()).into_owned());
        let table = Table::of(profile, set, options);
        if number == 0 {
            let event = several.then(|| "event".to_owned());
            let names = cells(&table, |field, event| {
                csv_cell(&table.name(field, event)).into_owned()
            });
            let level = options.has_levels().then(|| "level".to_owned());
            let heading: Vec<String> = event.into_iter().chain(level).chain(names).collect();
            writeln!(out, "{}", heading.join(","))?;
        }
        for shown in &table.shown {
            let cells = cells(&table, |field, event| {
                csv_value(&table, field, shown, event)
            });
            let level = options.has_levels().then(|| (shown.depth + 1).to_string());
            let name = name.clone().into_iter();
            let line: Vec<String> = name.chain(level).chain(cells).collect();
            writeln!(out, "{}", line.join(","))?;
        }
    }
    Ok(())
}

/// What a column says of an event's part of a row; of rows in levels, keys further in say nothing.
fn csv_value(table: &Table<'_>, field: Field, shown: &LevelRow, event: usize) -> String {
    if table.level(field).is_some_and(|level| level > shown.depth) {
        return String::new();
    }
    match table.value(field, &shown.row, event) {
        FieldValue::Share(share) => share.to_string(),
        FieldValue::Number(number) => number.to_string(),
        FieldValue::Text(text) => csv_cell(&text).into_owned(),
        FieldValue::None => String::new(),
    }
}

/// A line's cells: of each column, of each of its events.
fn cells(table: &Table<'_>, cell: impl Fn(Field, usize) -> String) -> Vec<String> {
    let columns = table.event_columns();
    columns.map(|(field, event)| cell(field, event)).collect()
}

/// In quotes where it has to be.
fn csv_cell(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
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
    for set in options.events.of(profile) {
        let events = if set.others.is_empty() {
            "event"
        } else {
            "events"
        };
        let samples = totals::of_events(&set, options).samples;
        let samples = Counted::new(samples, "sample", "samples");
        let name = markdown_cell(&set.to_string());
        writeln!(out, "{samples} of {events} {name}\n")?;
        let table = Table::of(profile, set, options);
        let heading = |field, event| markdown_cell(&table.long_heading(field, event));
        write_line(&cells(&table, heading), out)?;
        let rule = |field: Field, _| {
            if field.is_right() {
                "---:".to_owned()
            } else {
                "---".to_owned()
            }
        };
        write_line(&cells(&table, rule), out)?;
        for shown in &table.shown {
            let cell = |field, event| {
                if table.is_of(field, shown) {
                    markdown_cell(table.cell(field, &shown.row, event).trim())
                } else {
                    String::new()
                }
            };
            write_line(&cells(&table, cell), out)?;
        }
        if table.left_out.rows > 0 {
            let rows = table.left_out.counted(options);
            let share = Share::of(table.left_out.weight, table.totals.weight);
            writeln!(out, "\n{rows}, {share}%")?;
        }
        let slots = slots::lines(&table);
        if !slots.is_empty() {
            let slots: Vec<&str> = slots.iter().map(|line| line.trim()).collect();
            writeln!(out, "\n{}", slots.join("; "))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "Quality: {}", quality_line(profile))?;
    if let Some(advice) = quality_advice(profile) {
        writeln!(out, "({advice})")?;
    }
    Ok(())
}

fn write_line(cells: &[String], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "| {} |", cells.join(" | "))
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
}
