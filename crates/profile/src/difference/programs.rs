//! Which images are the programs that were recorded.

use super::SideFunctions;
use crate::About;
use std::collections::BTreeSet;

/// The most bytes that the kernel keeps of a thread's name.
const COMM_BYTES: usize = 15;

/// What the programs of a recording may be called: the files that its command line names, and its threads.
pub fn program_names<'a>(about: &'a About, threads: impl Iterator<Item = &'a str>) -> Vec<String> {
    // The first word is the recorder.
    let words = about.command.iter().skip(1);
    let words = words.flat_map(|word| word.split_whitespace());
    let files = words.filter_map(|word| word.rsplit('/').next());
    let names: BTreeSet<&str> = files.chain(threads).collect();
    let names = names.into_iter().filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

impl SideFunctions<'_> {
    /// Whether an image is a program that was recorded.
    pub(super) fn is_program(&self, image: &str) -> bool {
        let is_called = |name: &String| {
            name == image || (name.len() == COMM_BYTES && image.starts_with(name.as_str()))
        };
        !image.starts_with('[') && self.programs.iter().any(is_called)
    }
}
