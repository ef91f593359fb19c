//! `crates/README.md` is the map of the project: every crate is on it, and what it names is there. `tests/README.md`
//! has every test program.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use super::{MAP, Violation, text_of};
use crate::files::File;

/// The page that says what each test program covers.
const TESTS: &str = "tests/README.md";

/// The most words of the map: it is read in ten minutes.
const MAX_WORDS: usize = 2500;

/// Checks that the map is short, names every folder of `crates/`, and names only files that are there; and that every
/// test program has its line.
pub(super) fn check(files: &[File]) -> Result<Vec<Violation>> {
    let Some(map) = text_of(files, MAP) else {
        return Ok(vec![Violation::new(
            MAP,
            1,
            "the map of the project is missing: write it",
        )]);
    };
    let mut violations = Vec::new();
    let folders: BTreeSet<&str> = files
        .iter()
        .filter_map(|file| file.path.strip_prefix("crates").ok())
        .filter(|below| below.components().count() > 1)
        .filter_map(|below| below.iter().next()?.to_str())
        .collect();
    let missing = folders.iter().filter(|folder| !names(map, folder));
    let report = |folder| Violation::new(MAP, 1, format!("crate {folder} is missing: add it"));
    violations.extend(missing.map(report));
    let n_words = map.split_whitespace().count();
    if n_words > MAX_WORDS {
        let what = format!("{n_words} words, at most {MAX_WORDS}: move details to a crate's page");
        violations.push(Violation::new(MAP, 1, what));
    }
    let paths: Vec<&Path> = files.iter().map(|file| &*file.path).collect();
    for (number, line) in (1..).zip(map.lines()) {
        let dead = places(line, &folders);
        let dead = dead.filter(|place| !exists(place, &paths));
        let report = |place| Violation::new(MAP, number, format!("{place} is not there"));
        violations.extend(dead.map(report));
    }
    let tests = text_of(files, TESTS).unwrap_or_default();
    let missing = programs(&paths).filter(|name| !tests.contains(&format!("`{name}`")));
    let report = |name| Violation::new(TESTS, 1, format!("test {name} is missing: add it"));
    violations.extend(missing.map(report));
    Ok(violations)
}

/// Whether `folder` is among the first words of a line, as in a list or a table (in running text `record` and
/// `report` say nothing), is a column of a drawing, or stands in quotes as code.
fn names(map: &str, folder: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let heads_line = |line: &str| {
        let mut words = line.split(|c| !is_name(c)).filter(|word| !word.is_empty());
        words.by_ref().take(3).any(|word| word == folder)
    };
    let has_column = |line: &str| line.split("  ").any(|column| column.trim() == folder);
    let has = |line| heads_line(line) || has_column(line);
    map.contains(&format!("`{folder}`")) || map.lines().any(has)
}

/// What a line of the map points to, by a link or in quotes as code, relative to the map's folder.
fn places<'m>(line: &'m str, folders: &BTreeSet<&str>) -> impl Iterator<Item = &'m str> {
    let links = line.split("](").skip(1).filter_map(|rest| {
        let (target, _) = rest.split_once(')')?;
        let (file, _) = target.split_once('#').unwrap_or((target, ""));
        (!file.is_empty() && !file.contains("://")).then_some(file)
    });
    let quoted = line.split('`').skip(1).step_by(2).filter(|quoted| {
        let first = quoted.split_once('/').map(|(first, _)| first);
        let is_place = !quoted.contains(char::is_whitespace);
        is_place && first.is_some_and(|first| folders.contains(first) || is_beside(first))
    });
    links.chain(quoted)
}

/// The folders beside the map's that it speaks of.
fn is_beside(folder: &str) -> bool {
    ["tests", "fixtures", "xtask"].contains(&folder)
}

/// Whether a file or folder that the map names is there.
fn exists(place: &str, paths: &[&Path]) -> bool {
    let first = place.split('/').next().unwrap_or_default();
    let path = match place.strip_prefix("../") {
        Some(beside) => Path::new(beside).to_owned(),
        None if is_beside(first) => Path::new(place).to_owned(),
        None => Path::new("crates").join(place),
    };
    paths.iter().any(|known| known.starts_with(&path))
}

/// The names of test programs: `tests/NAME.rs` and `tests/NAME/main.rs`.
fn programs<'p>(paths: &'p [&Path]) -> impl Iterator<Item = &'p str> {
    paths.iter().filter_map(|path| {
        let below = path.strip_prefix("tests").ok()?;
        match below.components().count() {
            1 if below.extension()? == "rs" => below.file_stem()?.to_str(),
            2 if below.ends_with("main.rs") => below.parent()?.to_str(),
            _ => None,
        }
    })
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
            "2 OS and file formats  abi        the kernel's types",
            "                       abi        the kernel's types",
            "it all begins with `abi`",
        ] {
            assert!(names(map, "abi"), "{map}");
        }
        assert!(!names("this is how we talk about abi", "abi"));
        assert!(!names("- rprof-abi2", "abi"));
    }

    #[test]
    fn links_and_paths_in_code_are_places() {
        let folders = BTreeSet::from(["abi", "record"]);
        let line = "[x](record/README.md#how), [y](#here), [z](https://a.org/b), `abi/src/lib.rs`, `a/b`, \
                    `cargo test abi/x`, `tests/unwind/`, `abi`";
        let found: Vec<&str> = places(line, &folders).collect();
        assert_eq!(
            found,
            ["record/README.md", "abi/src/lib.rs", "tests/unwind/"]
        );
    }

    #[test]
    fn places_are_files_or_folders_that_are_there() {
        let paths = ["crates/abi/src/lib.rs", "tests/unwind/main.rs", "README.md"];
        let paths = paths.map(Path::new);
        for there in [
            "abi/src/lib.rs",
            "abi/src/",
            "tests/unwind/",
            "../README.md",
        ] {
            assert!(exists(there, &paths), "{there}");
        }
        for missing in [
            "abi/src/li",
            "unwind/",
            "tests/lib.rs",
            "../tests/unwind.rs",
        ] {
            assert!(!exists(missing, &paths), "{missing}");
        }
    }

    #[test]
    fn test_programs_are_files_or_folders_with_a_main() {
        let paths = [
            "tests/top.rs",
            "tests/unwind/main.rs",
            "tests/unwind/gdb.rs",
            "tests/common/mod.rs",
            "tests/README.md",
            "crates/abi/main.rs",
        ];
        let paths = paths.map(Path::new);
        assert_eq!(programs(&paths).collect::<Vec<_>>(), ["top", "unwind"]);
    }
}
