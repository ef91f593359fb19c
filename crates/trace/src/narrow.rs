//! Columns of numbers on a screen that is too narrow for all.

use rprof_profile::text::{Fit, at_right, comment_lines};
use std::io::{self, Write};

/// A column of numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberColumn {
    heading: &'static str,
    width: usize,
    /// Those of lower ranks are shown first.
    rank: usize,
}

impl NumberColumn {
    pub(crate) const fn new(heading: &'static str, width: usize, rank: usize) -> Self {
        Self {
            heading,
            width,
            rank,
        }
    }
}

/// Which columns of a table are shown.
#[derive(Clone, Debug)]
pub(crate) struct ShownColumns {
    all: &'static [NumberColumn],
    is_shown: Vec<bool>,
}

impl ShownColumns {
    /// Those for which there is room beside `others` columns of the screen; at least one.
    pub(crate) fn beside(others: usize, all: &'static [NumberColumn], fit: Option<Fit>) -> Self {
        let room = fit.map_or(usize::MAX, |fit| fit.columns.saturating_sub(others));
        let taken_up_to = |rank: usize| -> usize {
            let first = all.iter().filter(|column| column.rank <= rank);
            first.map(|column| column.width + 1).sum()
        };
        let is_shown = all.iter();
        let is_shown = is_shown.map(|column| column.rank == 0 || taken_up_to(column.rank) <= room);
        Self {
            all,
            is_shown: is_shown.collect(),
        }
    }

    /// Cells of the columns that are shown, each after a blank.
    pub(crate) fn cells<'c>(
        &self,
        cells: impl IntoIterator<Item = impl AsRef<str> + 'c>,
    ) -> String {
        let columns = self.all.iter().zip(&self.is_shown).zip(cells);
        let shown = columns.filter(|((_, is_shown), _)| **is_shown);
        let shown =
            shown.map(|((column, _), cell)| format!(" {}", at_right(cell.as_ref(), column.width)));
        shown.collect()
    }

    /// The headings of the columns that are shown.
    pub(crate) fn headings(&self) -> String {
        self.cells(self.all.iter().map(|column| column.heading))
    }

    /// Lines below the headings.
    pub(crate) fn rules(&self) -> String {
        self.cells(self.all.iter().map(|column| "-".repeat(column.width)))
    }

    /// Writes which columns have no room.
    pub(crate) fn write_hidden(&self, fit: Option<Fit>, out: &mut dyn Write) -> io::Result<()> {
        let columns = self.all.iter().zip(&self.is_shown);
        let hidden = columns.filter(|(_, is_shown)| !**is_shown);
        let hidden: Vec<&str> = hidden.map(|(column, _)| column.heading).collect();
        if hidden.is_empty() {
            return Ok(());
        }
        let text = format!(
            "No room for: {} (a wider terminal shows all)",
            hidden.join(", ")
        );
        let mut lines = comment_lines(&text, fit).into_iter();
        lines.try_for_each(|line| writeln!(out, "{line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[NumberColumn] = &[
        NumberColumn::new("calls", 9, 1),
        NumberColumn::new("errors", 8, 2),
        NumberColumn::new("total", 12, 0),
    ];

    #[test]
    fn columns_of_low_ranks_have_room_first() {
        let headings = |columns: Option<usize>| {
            let fit = columns.map(|columns| Fit {
                columns,
                ellipsis: "..",
            });
            let shown = ShownColumns::beside(20, COLUMNS, fit);
            let mut said = Vec::new();
            shown.write_hidden(fit, &mut said).unwrap();
            let line = shown.headings();
            let widest = columns.unwrap_or(usize::MAX).max(20 + 13);
            assert!(20 + line.len() <= widest && shown.rules().len() == line.len());
            (
                line.trim_start().to_owned(),
                String::from_utf8(said).unwrap(),
            )
        };
        assert_eq!(
            headings(None),
            ("calls   errors        total".into(), String::new())
        );
        assert_eq!(headings(Some(80)).1, "");
        let (line, said) = headings(Some(50));
        assert_eq!(line, "calls        total");
        assert_eq!(said, "# No room for: errors (a wider terminal shows all)\n");
        assert_eq!(headings(Some(1)).0, "total");
    }
}
