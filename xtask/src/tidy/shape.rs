//! How files look: heads, length, white space.

use std::ffi::OsStr;

use anyhow::Result;

use super::Violation;
use crate::files::File;

/// The most lines that a Rust file may have.
const MAX_LINES: usize = 500;

/// Checks every text file.
pub(super) fn check(files: &[File]) -> Result<Vec<Violation>> {
    let violations = files.iter().flat_map(|file| {
        let broken = file.text.as_deref().map(|text| broken(file, text));
        let found = broken.unwrap_or_default().into_iter();
        found.map(|(line, what)| Violation::new(&file.path, line, what))
    });
    Ok(violations.collect())
}

/// The lines that break a rule, counted from 1.
fn broken(file: &File, text: &str) -> Vec<(usize, String)> {
    let mut broken = Vec::new();
    let n_lines = text.lines().count();
    if !text.is_empty() && !text.ends_with('\n') {
        broken.push((n_lines, "the last line does not end: add a newline".into()));
    }
    if file.is_ours() && !text.starts_with("//!") {
        let what = "no head: begin with `//!` and what the file is, takes and gives";
        broken.push((1, what.into()));
    }
    if file.is_rust() && n_lines > MAX_LINES {
        let what = format!("{n_lines} lines, at most {MAX_LINES}: split the file by thought");
        broken.push((MAX_LINES + 1, what));
    }
    for (idx, line) in text.lines().enumerate() {
        if is_trimmed(file) && line.trim_end() != line {
            broken.push((
                idx + 1,
                "white space at the end of the line: remove it".into(),
            ));
        }
        if file.is_rust() && line.contains('\t') {
            broken.push((idx + 1, "a tab: use spaces, or \\t in a string".into()));
        }
    }
    broken
}

/// Golden output is what it is; what people write has no white space at the end of a line.
fn is_trimmed(file: &File) -> bool {
    let extension = file.path.extension().and_then(OsStr::to_str);
    matches!(extension, Some("rs" | "toml" | "md"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [usize; 0] = [];

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let file = File {
            path: path.into(),
            len_bytes: text.len(),
            text: None,
        };
        let found = broken(&file, text);
        found.into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn our_rust_files_have_a_head() {
        assert_eq!(lines("crates/abi/src/lib.rs", "use a;\n"), [1]);
        assert_eq!(lines("tests/report.rs", "use a;\n"), [1]);
        assert_eq!(lines("crates/abi/src/lib.rs", "//! What.\n"), NONE);
        assert_eq!(lines("fixtures/workloads/go.rs", "use a;\n"), NONE);
    }

    #[test]
    fn files_end_with_a_newline_or_are_empty() {
        assert_eq!(lines("fixtures/a/report.txt", "a\nb"), [2]);
        assert_eq!(lines("fixtures/a/report.txt", "a\n"), NONE);
        assert_eq!(lines("fixtures/a/report.txt", ""), NONE);
    }

    #[test]
    fn long_files_are_reported_once() {
        assert_eq!(lines("xtask/src/a.rs", &"//! a\n".repeat(500)), NONE);
        assert_eq!(lines("xtask/src/a.rs", &"//! a\n".repeat(501)), [501]);
    }

    #[test]
    fn white_space_counts_where_people_write() {
        assert_eq!(lines("README.md", "a \nb\n"), [1]);
        assert_eq!(lines("xtask/src/a.rs", "//! a\n\tb\n"), [2]);
        assert_eq!(lines("fixtures/a/report.txt", "a \n\tb\n"), NONE);
    }
}
