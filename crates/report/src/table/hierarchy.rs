//! Tables in levels as text: rows further in stand further right, and one column has the keys of all levels.

use super::text::{others_width, placed, push_sums};
use super::{LAST_COLUMN, Table};
use rprof_profile::text::{start, width};
use rprof_profile::view::{Field, LevelRow};
use std::io::{self, Write};

/// How much further right each level stands.
const INDENT: usize = 3;

/// The sums of a table, and how many levels it has.
pub(super) struct Levels<'t, 'p> {
    table: &'t Table<'p>,
    /// Each with its width.
    sums: Vec<(Field, usize)>,
    keys: Vec<Field>,
}

impl<'t, 'p> Levels<'t, 'p> {
    pub(super) fn of(table: &'t Table<'p>) -> Self {
        let (sums, keys): (Vec<Field>, Vec<Field>) = table
            .columns()
            .iter()
            .partition(|field| matches!(field, Field::Sum(_)));
        let with_width = |field: Field| {
            let columns = field.min_width() + others_width(table, field);
            let columns = columns.max(width(table.heading(field)));
            (field, columns)
        };
        Self {
            table,
            sums: sums.into_iter().map(with_width).collect(),
            keys,
        }
    }

    /// How much further right the keys stand than in a table of one level.
    fn deepest(&self) -> usize {
        self.keys.len().saturating_sub(1) * INDENT
    }

    /// The columns of sums, and the blanks between them.
    fn sums_width(&self) -> usize {
        let widths: usize = self.sums.iter().map(|(_, columns)| columns + 2).sum();
        widths.saturating_sub(2)
    }

    /// Headings and dots.
    pub(super) fn write_heading(&self, out: &mut impl Write) -> io::Result<()> {
        let heading = |field: Field| self.table.heading(field);
        let sums = self.sums.iter();
        let sums = sums.map(|&(field, columns)| placed(heading(field), columns, field));
        let sums: Vec<String> = sums.collect();
        let keys = self.keys.iter().map(|&key| heading(key).trim().to_owned());
        let keys = keys.collect::<Vec<_>>().join(" / ");
        let indent = self.deepest();
        let room = self.table.options.layout.fit;
        let room = room.map_or(usize::MAX, |fit| fit.room(indent + self.sums_width() + 4));
        let keys = start(&keys, room);
        let blanks = " ".repeat(indent);
        writeln!(out, "# {blanks}{}  {keys}", sums.join("  "))?;
        let cells = self.table.shown.iter();
        let widest = cells.map(|shown| shown.depth * INDENT + width(&self.cell(shown)));
        let widest = widest.max().unwrap_or(0).min(LAST_COLUMN);
        let widest = widest.max(width(&keys)).min(room);
        let dots = |columns: usize| ".".repeat(columns);
        writeln!(
            out,
            "# {}  {}",
            dots(indent + self.sums_width()),
            dots(widest)
        )?;
        writeln!(out, "#")
    }

    /// The key of a row's level.
    fn cell(&self, shown: &LevelRow) -> String {
        let key = self.keys.get(shown.depth);
        let cell = key.map(|&key| self.table.cell(key, &shown.row, 0));
        cell.unwrap_or_default().trim_start().to_owned()
    }

    /// Writes a row; the one that comes after it is `next` rows deep.
    pub(super) fn write_row(
        &self,
        shown: &LevelRow,
        next: Option<usize>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let (table, row) = (self.table, &shown.row);
        let mut line = " ".repeat(2 + shown.depth * INDENT);
        for (at, &(field, columns)) in self.sums.iter().enumerate() {
            if at > 0 {
                line += "  ";
            }
            push_sums(table, field, row, columns, &mut line);
        }
        line += &" ".repeat(self.deepest() + 2);
        let before = shown.depth * INDENT + self.sums_width() + self.deepest() + 4;
        let cell = self.cell(shown);
        match table.options.layout.fit {
            Some(fit) => line += &fit.name(&cell, before),
            None => line += &cell,
        }
        writeln!(out, "{line}")?;
        let has_inner = next.is_some_and(|next| next > shown.depth);
        if shown.is_innermost || has_inner || table.options.percent_limit <= 0.0 {
            return Ok(());
        }
        let indent = (self.keys.len() + shown.depth) * INDENT + self.sums_width() + 4;
        let limit = table.options.percent_limit;
        writeln!(out, "{}no entry >= {limit:.2}%", " ".repeat(indent))
    }
}
