//! A public type's name is that of one type in all crates.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;

use super::Violation;
use super::modules::Modules;
use crate::files::File;

/// Names that every crate may have for its own, as modules of the standard library do.
const EACH_CRATES_OWN: &[&str] = &["Error"];

/// Checks what all crates show to others.
pub(super) fn check(files: &[File]) -> Result<Vec<Violation>> {
    let mut owners: BTreeMap<String, Vec<(PathBuf, usize)>> = BTreeMap::new();
    for folder in super::sources(files) {
        let Some(modules) = Modules::of(files, &folder) else {
            continue;
        };
        // A type may be passed on at several places of its crate.
        let mut own: BTreeMap<&str, (PathBuf, usize)> = BTreeMap::new();
        for one in modules.public_types() {
            let place = || (one.file.to_owned(), one.line);
            own.entry(one.name).or_insert_with(place);
        }
        for (name, place) in own {
            if !EACH_CRATES_OWN.contains(&name) {
                owners.entry(name.to_owned()).or_default().push(place);
            }
        }
    }
    Ok(owners
        .iter()
        .flat_map(|(name, places)| broken(name, places))
        .collect())
}

/// All crates but the first are told.
fn broken(name: &str, places: &[(PathBuf, usize)]) -> Vec<Violation> {
    let Some(((first, _), others)) = places.split_first() else {
        return Vec::new();
    };
    let report = |(path, line): &(PathBuf, usize)| {
        let what = format!(
            "{name} is a type of {}, too: call one of them otherwise",
            first.display()
        );
        Violation::new(path, *line, what)
    };
    others.iter().map(report).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_of_one_type() {
        let file = |(path, text): (&str, &str)| File {
            path: path.into(),
            len_bytes: text.len(),
            text: Some(text.to_owned()),
        };
        let files = [
            (
                "crates/a/src/lib.rs",
                "pub struct Frame;\npub struct Image;\npub enum Error {}",
            ),
            (
                "crates/b/src/lib.rs",
                "mod frame;\npub use frame::Frame;\nstruct Image;\npub enum Error {}",
            ),
            ("crates/b/src/frame.rs", "pub struct Frame;"),
            (
                "crates/c/src/lib.rs",
                "pub mod shown;\nmod hidden;\npub use shown::Own;",
            ),
            (
                "crates/c/src/shown.rs",
                "pub struct Own;\npub struct Image;",
            ),
            ("crates/c/src/hidden.rs", "pub struct Frame;"),
        ];
        let violations = check(&files.map(file)).unwrap();
        let said: Vec<String> = violations.iter().map(ToString::to_string).collect();
        let expected = [
            ("crates/b/src/lib.rs:2", "Frame"),
            ("crates/c/src/shown.rs:2", "Image"),
        ];
        let expected = expected.map(|(place, name)| {
            format!(
                "{place}: {name} is a type of crates/a/src/lib.rs, too: call one of them otherwise"
            )
        });
        assert_eq!(said, expected);
    }
}
