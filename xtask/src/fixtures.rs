//! `cargo xtask fixtures`: what lies in `fixtures/`, how large it is, and how it was made.
//!
//! A fixture is a folder with a `case.md` (then its subfolders belong to it) or a `README.md`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::args::no_arguments;
use crate::command::root;
use crate::files::{File, read_below};

/// The most that all fixtures may weigh together.
pub(crate) const BUDGET_BYTES: usize = 2_000_000;

/// A folder of test data.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fixture {
    /// What its files weigh together.
    pub(crate) len_bytes: usize,
    /// How it was made: the first line after the title of its text. `None` without a text.
    pub(crate) origin: Option<String>,
}

/// Prints the fixtures and the rest of the budget.
pub(crate) fn run(args: &[String]) -> Result<()> {
    no_arguments(args)?;
    let fixtures = by_folder(&read_below(root(), Path::new("fixtures"))?);
    for (folder, fixture) in &fixtures {
        let origin = fixture
            .origin
            .as_deref()
            .unwrap_or("(no README.md or case.md)");
        println!("{:>9}  {}: {origin}", fixture.len_bytes, folder.display());
    }
    let total: usize = fixtures.values().map(|fixture| fixture.len_bytes).sum();
    println!(
        "{total:>9}  bytes in {} fixtures, of {BUDGET_BYTES}",
        fixtures.len()
    );
    Ok(())
}

/// Gives every file to its fixture.
pub(crate) fn by_folder(files: &[File]) -> BTreeMap<PathBuf, Fixture> {
    let mut fixtures: BTreeMap<PathBuf, Fixture> = BTreeMap::new();
    for file in files {
        let fixture = fixtures.entry(owner(&file.path, files)).or_default();
        fixture.len_bytes += file.len_bytes;
        let is_about = file.path.ends_with("case.md") || file.path.ends_with("README.md");
        if is_about && fixture.origin.is_none() {
            fixture.origin = Some(origin(file.text.as_deref().unwrap_or_default()));
        }
    }
    fixtures
}

/// The nearest folder above with a `case.md`, else the file's own.
fn owner(path: &Path, files: &[File]) -> PathBuf {
    let has_case = |folder: &&Path| files.iter().any(|file| file.path == folder.join("case.md"));
    let folder = path.ancestors().skip(1).find(has_case);
    folder.or(path.parent()).unwrap_or(path).to_path_buf()
}

fn origin(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    line.unwrap_or("(says nothing)").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File {
            path: path.into(),
            len_bytes: text.len(),
            text: Some(text.into()),
        }
    }

    #[test]
    fn a_case_owns_its_subfolders_and_a_readme_does_not() {
        let fixtures = by_folder(&[
            file("fixtures/a/case.md", "# A\n\nMade by hand.\nMore.\n"),
            file("fixtures/a/deep/er/x", "123"),
            file("fixtures/b/README.md", "# B\n"),
            file("fixtures/b/c/x", "12"),
        ]);
        let origins: Vec<_> = fixtures
            .iter()
            .map(|(folder, fixture)| (folder.to_str().unwrap(), fixture.origin.as_deref()))
            .collect();
        assert_eq!(
            origins,
            [
                ("fixtures/a", Some("Made by hand.")),
                ("fixtures/b", Some("(says nothing)")),
                ("fixtures/b/c", None),
            ]
        );
        assert_eq!(fixtures[Path::new("fixtures/b/c")].len_bytes, 2);
    }
}
