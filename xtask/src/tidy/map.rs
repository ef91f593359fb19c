//! `crates/README.md` is the map of the project: every crate is on it.

use std::collections::BTreeSet;

use anyhow::Result;

use super::{Violation, text_of};
use crate::files::File;

const MAP: &str = "crates/README.md";

/// Checks that the map names every folder of `crates/`.
pub(super) fn check(files: &[File]) -> Result<Vec<Violation>> {
    let Some(map) = text_of(files, MAP) else {
        return Ok(vec![Violation::new(
            MAP,
            1,
            "the map of the project is missing: write it",
        )]);
    };
    let folders: BTreeSet<&str> = files
        .iter()
        .filter_map(|file| file.path.strip_prefix("crates").ok())
        .filter(|below| below.components().count() > 1)
        .filter_map(|below| below.iter().next()?.to_str())
        .collect();
    let missing = folders.into_iter().filter(|folder| !names(map, folder));
    let report = |folder| Violation::new(MAP, 1, format!("crate {folder} is missing: add it"));
    Ok(missing.map(report).collect())
}

/// Whether `folder` is among the first words of a line, as in a list, a table or a drawing (in
/// running text `record` and `report` say nothing), or stands in quotes as code.
fn names(map: &str, folder: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let heads_line = |line: &str| {
        let mut words = line.split(|c| !is_name(c)).filter(|word| !word.is_empty());
        words.by_ref().take(3).any(|word| word == folder)
    };
    map.contains(&format!("`{folder}`")) || map.lines().any(heads_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_named_in_lists_tables_and_code() {
        for map in [
            "| `abi` | words |",
            "- abi: words",
            "    1 words      abi        the kernel's types",
            "it all begins with `abi`",
        ] {
            assert!(names(map, "abi"), "{map}");
        }
        assert!(!names("this is how we talk about abi", "abi"));
        assert!(!names("- rprof-abi2", "abi"));
    }
}
