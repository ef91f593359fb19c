//! What is said of source files.

use super::SourcePath;
use rprof_untrusted::printable;
use std::io;

/// Files that are named where several cannot be read.
const MAX_NAMED: usize = 3;

/// Files of which something is to be said, by their paths in DWARF.
#[derive(Default)]
pub(super) struct Notes<'s> {
    /// Changed after the code was built.
    pub(super) newer: Vec<&'s str>,
    /// Nowhere.
    pub(super) absent: Vec<&'s str>,
    /// Not to be read: where they were looked for, and why not.
    pub(super) broken: Vec<(&'s str, &'s [SourcePath], &'s io::Error)>,
}

impl Notes<'_> {
    pub(super) fn sentences(&self) -> Vec<String> {
        let mut all = Vec::new();
        let newer = named(&self.newer);
        match self.newer.len() {
            0 => {}
            1 => all.push(format!(
                "{newer} is newer than the file with the code: its lines may not match"
            )),
            _ => all.push(format!(
                "{newer} are newer than the file with the code: their lines may not match"
            )),
        }
        for (path, places, error) in self.broken.iter().take(MAX_NAMED) {
            let places = places.iter().map(|place| place.path.display().to_string());
            let places = places.collect::<Vec<_>>().join(", ");
            let (path, places) = (printable(path), printable(&places));
            all.push(format!(
                "no source for {path} (searched at {places}): {error}"
            ));
        }
        if let Some(more @ 1..) = self.broken.len().checked_sub(MAX_NAMED) {
            all.push(format!(
                "no source for {more} more files, which cannot be read"
            ));
        }
        if !self.absent.is_empty() {
            all.push(format!(
                "no source for {}: say where it is with --source-prefix FROM=TO or --symfs DIR",
                named(&self.absent)
            ));
        }
        all
    }
}

/// The first of some files, and how many more there are.
fn named(files: &[&str]) -> String {
    let first = printable(files.first().copied().unwrap_or_default());
    match files.len().saturating_sub(1) {
        0 => first.into_owned(),
        1 => format!("{first} and 1 more file"),
        more => format!("{first} and {more} more files"),
    }
}
