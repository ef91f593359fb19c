//! Rows by the name that a condition has for them.

use crate::rows::{CountedEvent, CountedRow, RunCounts};
use rprof_events::suggest;

/// The rows of an event that have a name.
pub(super) struct NamedRows {
    rows: Vec<(CountedRow, String)>,
    has_children: bool,
    n_runs: usize,
    /// What else the name may be, as the end of a sentence.
    alike: String,
}

impl NamedRows {
    pub(super) fn of((event, names): (CountedEvent, Vec<String>), name: &str) -> Self {
        let alike = if names.iter().any(|cell| is_called(cell, name)) {
            String::new()
        } else {
            alike(name, &names)
        };
        let rows = event.rows.into_iter().zip(names);
        Self {
            has_children: event.has_children,
            n_runs: event.total.runs.len(),
            rows: rows.filter(|(_, cell)| is_called(cell, name)).collect(),
            alike,
        }
    }

    /// What they count together; if there are none, names that are like theirs.
    pub(super) fn own(self) -> Result<RunCounts, String> {
        self.sum(|row| &row.own)
    }

    /// The same with what they called.
    pub(super) fn children(self) -> Result<RunCounts, String> {
        self.sum(|row| &row.children)
    }

    fn sum(self, counts: impl Fn(&CountedRow) -> &RunCounts) -> Result<RunCounts, String> {
        if self.rows.is_empty() {
            return Err(self.alike);
        }
        let mut sum = RunCounts::of(self.n_runs);
        for (row, _) in &self.rows {
            sum.merge(counts(row));
        }
        Ok(sum)
    }

    /// Whether sums with what was called say something; if not, why.
    pub(super) fn has_children(&self, name: &str) -> Result<(), String> {
        if !self.has_children {
            return Err(
                "the recordings have no stacks: use sym:NAME, which counts own samples".to_owned(),
            );
        }
        match self.rows.len() {
            0 | 1 => Ok(()),
            // Both may be in one stack, whose samples a sum would have twice.
            _ => {
                let cells: Vec<&str> = self.rows.iter().map(|(_, cell)| cell.as_str()).collect();
                Err(format!(
                    "'{name}' matches several functions; name one: {}",
                    cells.join(", ")
                ))
            }
        }
    }
}

/// Whether a cell is what was typed: symbols are typed without the sign of their level.
fn is_called(cell: &str, name: &str) -> bool {
    cell == name || without_sign(cell) == name
}

fn without_sign(cell: &str) -> &str {
    match cell.split_at_checked(4) {
        Some((sign, rest)) if sign.starts_with('[') && sign.ends_with("] ") => rest,
        _ => cell,
    }
}

/// Names that have one in them; else those that a slip of the finger makes of it.
fn alike(name: &str, names: &[String]) -> String {
    let names = names.iter().map(|cell| without_sign(cell));
    let mut with_part: Vec<&str> = names
        .clone()
        .filter(|cell| !cell.is_empty() && cell.contains(name))
        .collect();
    with_part.sort_by_key(|cell| (cell.len(), *cell));
    with_part.dedup();
    with_part.truncate(3);
    if with_part.is_empty() {
        suggest(name, names.map(str::to_owned)).to_string()
    } else {
        format!("; similar names: {}", with_part.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_like_one_are_said() {
        let names = ["[.] parse_line".to_owned(), "[k] clear_page".to_owned()];
        assert!(is_called(&names[0], "parse_line"));
        assert_eq!(alike("parse", &names), "; similar names: parse_line");
        assert_eq!(alike("claer_page", &names), ": did you mean 'clear_page'?");
        assert_eq!(alike("x", &names), "");
    }
}
