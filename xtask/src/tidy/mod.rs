//! `cargo xtask tidy`: the rules of the house that no compiler checks.
//!
//! Each file under `tidy/` checks one kind of rule and returns what breaks it. All of them always
//! run, so that one look shows everything.

mod budget;
mod code;
mod cycles;
mod layers;
mod map;
mod markdown;
mod modules;
mod packages;
mod public_names;
mod shape;
mod source;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::args::no_arguments;
use crate::command::root;
use crate::files::{File, read_below};

/// The map of the project.
const MAP: &str = "crates/README.md";

/// A check: from all files of the workspace to what is wrong with them.
type Check = (&'static str, fn(&[File]) -> Result<Vec<Violation>>);

const CHECKS: &[Check] = &[
    ("layers", layers::check),
    ("code", code::check),
    ("shape", shape::check),
    ("fixtures", budget::check),
    ("map", map::check),
    ("cycles", cycles::check),
    ("names", public_names::check),
    ("packages", packages::check),
    ("pages", markdown::check),
];

/// Something that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
struct Violation {
    path: PathBuf,
    /// Counted from 1.
    line: usize,
    /// What is wrong, and what to do.
    what: String,
}

impl Violation {
    fn new(path: impl Into<PathBuf>, line: usize, what: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            line,
            what: what.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.what)
    }
}

/// Prints every violation, and fails if there is one.
pub(crate) fn run(args: &[String]) -> Result<()> {
    no_arguments(args)?;
    let files = read_below(root(), Path::new(""))?;
    let mut n_found = 0;
    for (name, check) in CHECKS {
        let violations = check(&files).unwrap_or_else(|error| {
            let what = format!("{name} could not be checked: {error:#}");
            vec![Violation::new("Cargo.toml", 1, what)]
        });
        n_found += violations.len();
        for violation in violations {
            println!("{violation}");
        }
    }
    ensure!(n_found == 0, "tidy: {n_found} violations");
    println!("tidy: {} files follow the rules", files.len());
    Ok(())
}

/// The text of the file at `path`.
fn text_of<'a>(files: &'a [File], path: &str) -> Option<&'a str> {
    let file = files.iter().find(|file| file.path == Path::new(path))?;
    file.text.as_deref()
}

/// The folders of source of all crates.
fn sources(files: &[File]) -> BTreeSet<PathBuf> {
    let is_ours = |path: &Path| path.starts_with("crates") || path.starts_with("xtask");
    let is_root = |path: &Path| path.ends_with("src/lib.rs") || path.ends_with("src/main.rs");
    let roots = files.iter().map(|file| &*file.path);
    let roots = roots.filter(|path| is_ours(path) && is_root(path));
    roots.filter_map(Path::parent).map(Path::to_owned).collect()
}

/// The number of the first line of `text` that contains `needle`, else 1.
fn line_of(text: &str, needle: &str) -> usize {
    let line = text.lines().position(|line| line.contains(needle));
    line.map_or(1, |idx| idx + 1)
}

/// Whether `needle` stands in `line` and is not a part of a longer name.
fn has_word(line: &str, needle: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(needle).any(|(at, _)| {
        let before = line[..at].ends_with(is_name);
        let after = line[at + needle.len()..].starts_with(is_name);
        let starts_as_name = needle.starts_with(is_name);
        let ends_as_name = needle.ends_with(is_name);
        !(before && starts_as_name || after && ends_as_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_not_found_inside_longer_names() {
        assert!(has_word("unsafe { x }", "unsafe"));
        assert!(!has_word("unsafe_code", "unsafe"));
        assert!(!has_word("eprint!(x)", "print!"));
        assert!(has_word("let x = dbg!(y)", "dbg!"));
        assert!(has_word("eprint!(print!(x))", "print!"));
    }
}
