//! Tables whose columns have a sign between them: perf's `-t`, blanks and all.

use super::Table;
use super::text::placed;
use rprof_profile::text::padded;
use rprof_profile::view::{Field, JoinedRow, SortKey};
use std::io::{self, Write};

/// Writes the headings.
pub(super) fn write_heading(
    table: &Table<'_>,
    separator: &str,
    widths: &[usize],
    out: &mut impl Write,
) -> io::Result<()> {
    let columns = table.columns().iter().zip(widths);
    let titles = columns.map(|(&field, &columns)| placed(table.heading(field), columns, field));
    let titles: Vec<String> = titles.collect();
    writeln!(out, "# {}", titles.join(separator))
}

/// Writes a row. Within a cell, a dot stands for the separator.
pub(super) fn write_row(
    table: &Table<'_>,
    row: &JoinedRow,
    separator: &str,
    widths: &[usize],
    out: &mut impl Write,
) -> io::Result<()> {
    let columns = table.columns();
    let cells = columns
        .iter()
        .zip(widths)
        .enumerate()
        .map(|(at, (&field, &width))| {
            let cells = table
                .events_of(field)
                .map(|event| table.cell(field, row, event));
            let cell = cells.collect::<Vec<_>>().join(" ");
            let is_last = at + 1 == columns.len();
            match field {
                Field::Sum(_) => padded(&format!(" {cell}"), width),
                Field::Key(SortKey::Symbol) if is_last => cell.replace(separator, "."),
                Field::Key(_) => padded(&cell.replace(separator, "."), width),
            }
        });
    let cells: Vec<String> = cells.collect();
    writeln!(out, "{}", cells.join(separator))
}
