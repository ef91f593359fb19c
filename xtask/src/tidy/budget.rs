//! Fixtures are small, and each says where it comes from.

use std::path::Path;

use anyhow::Result;

use super::Violation;
use crate::files::File;
use crate::fixtures::{BUDGET_BYTES, by_folder};

/// Checks what lies under `fixtures/`.
pub(super) fn check(files: &[File]) -> Result<Vec<Violation>> {
    let in_fixtures = |file: &&File| file.path.starts_with("fixtures");
    let files: Vec<File> = files.iter().filter(in_fixtures).cloned().collect();
    Ok(broken(&files))
}

fn broken(files: &[File]) -> Vec<Violation> {
    let fixtures = by_folder(files);
    let silent = fixtures
        .iter()
        .filter(|(_, fixture)| fixture.origin.is_none());
    let mut violations: Vec<Violation> = silent
        .map(|(folder, _)| {
            let what = "nobody knows what this is: say what it shows and how it was made";
            Violation::new(folder.join("case.md"), 1, what)
        })
        .collect();
    let total: usize = fixtures.values().map(|fixture| fixture.len_bytes).sum();
    if total > BUDGET_BYTES {
        let what = format!("{total} bytes of {BUDGET_BYTES}: `cargo xtask fixtures`, cut one");
        violations.push(Violation::new(Path::new("fixtures"), 1, what));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, len_bytes: usize) -> File {
        File {
            path: path.into(),
            len_bytes,
            text: Some(String::new()),
        }
    }

    #[test]
    fn fixtures_without_a_text_and_too_much_of_them_are_reported() {
        let good = [file("fixtures/a/case.md", 1), file("fixtures/a/x", 2)];
        assert_eq!(broken(&good), []);
        let silent = [file("fixtures/a/x", 2)];
        assert_eq!(broken(&silent).len(), 1);
        let heavy = [file("fixtures/a/README.md", BUDGET_BYTES + 1)];
        assert_eq!(broken(&heavy).len(), 1);
    }
}
