//! Lines of pages are short enough to be read side by side.

use std::ffi::OsStr;

use anyhow::Result;

use super::Violation;
use crate::files::File;

/// The most columns of a line.
const MAX_COLUMNS: usize = 120;

/// Checks every page.
pub(super) fn check(files: &[File]) -> Result<Vec<Violation>> {
    let is_page = |file: &&File| file.path.extension() == Some(OsStr::new("md"));
    let pages = files.iter().filter(is_page);
    let violations = pages.flat_map(|page| {
        let lines = broken(page.text.as_deref().unwrap_or_default()).into_iter();
        lines.map(|(line, what)| Violation::new(&page.path, line, what))
    });
    Ok(violations.collect())
}

/// Lines that are too long, counted from 1; those that cannot be wrapped are not: tables, code, addresses.
fn broken(text: &str) -> Vec<(usize, String)> {
    let mut broken = Vec::new();
    let mut fence = None;
    for (number, line) in (1..).zip(text.lines()) {
        let start = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(_), Some(_)) if fence == mark => fence = None,
            _ => {}
        }
        let n_columns = line.chars().count();
        let is_whole = fence.is_some() || start.starts_with('|') || line.contains("://");
        if n_columns > MAX_COLUMNS && !is_whole {
            broken.push((
                number,
                format!("{n_columns} columns, at most {MAX_COLUMNS}: wrap the line"),
            ));
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        broken(text).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn what_can_be_wrapped_is() {
        let long = "word ".repeat(30);
        assert_eq!(lines(&format!("a\n{long}\nb\n")), [2]);
        assert_eq!(lines(&"é".repeat(120)), Vec::<usize>::new());
        assert_eq!(lines(&format!("  - {long}")), [1]);
    }

    #[test]
    fn tables_code_and_addresses_are_as_long_as_they_are() {
        let long = "word ".repeat(30);
        let none = Vec::<usize>::new();
        assert_eq!(lines(&format!("| {long} |")), none);
        assert_eq!(lines(&format!("see <https://example.org/{long}>")), none);
        assert_eq!(
            lines(&format!("```sh\n{long}\n~~~\n{long}\n```\n{long}")),
            [6]
        );
    }
}
