//! Tables for spreadsheets and tickets: CSV and Markdown.

use super::{EventTables, Table, TableOptions};
use crate::quality::{quality_advice, quality_line};
use crate::totals::Totals;
use rprof_base::{Counted, Share};
use rprof_profile::Profile;
use rprof_profile::view::{EventSets, Field, FieldValue};
use std::borrow::Cow;
use std::io::{self, Write};

/// Writes comma-separated values as RFC 4180 has them: a line of perf's names, then the rows. Shares are percentages. If
/// there are several tables, the first column says which event a row is of, and groups are taken apart.
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
            let heading: Vec<String> = event.into_iter().chain(names).collect();
            writeln!(out, "{}", heading.join(","))?;
        }
        for row in &table.shown {
            let cells = cells(&table, |field, event| {
                match table.value(field, row, event) {
                    FieldValue::Share(share) => share.to_string(),
                    FieldValue::Number(number) => number.to_string(),
                    FieldValue::Text(text) => csv_cell(&text).into_owned(),
                    FieldValue::None => String::new(),
                }
            });
            let line: Vec<String> = name.clone().into_iter().chain(cells).collect();
            writeln!(out, "{}", line.join(","))?;
        }
    }
    Ok(())
}

/// A line's cells: of each column, of each of its events.
fn cells(table: &Table<'_>, cell: impl Fn(Field, usize) -> String) -> Vec<String> {
    let columns = table.event_columns();
    columns.map(|(field, event)| cell(field, event)).collect()
}

/// In quotes where it has to be.
fn csv_cell(text: &str) -> Cow<'_, str> {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")).into(),
        false => text.into(),
    }
}

/// Writes a table of Markdown for each event, and below it what is left out and what the profile is worth.
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
        let samples = Totals::all_of(&set, options).samples;
        let samples = Counted::new(samples, "sample", "samples");
        let name = markdown_cell(&set.to_string());
        writeln!(out, "{samples} of {events} {name}\n")?;
        let table = Table::of(profile, set, options);
        let heading = |field, event| markdown_cell(&table.long_heading(field, event));
        write_line(&cells(&table, heading), out)?;
        let rule = |field: Field, _| match field.is_right() {
            true => "---:".to_owned(),
            false => "---".to_owned(),
        };
        write_line(&cells(&table, rule), out)?;
        for row in &table.shown {
            let cell = |field, event| markdown_cell(table.cell(field, row, event).trim());
            write_line(&cells(&table, cell), out)?;
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

fn write_line(cells: &[String], out: &mut impl Write) -> io::Result<()> {
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
