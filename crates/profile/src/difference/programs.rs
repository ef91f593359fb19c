//! Which images are the programs that were recorded.

use super::SideFunctions;
use crate::{About, FrameId};
use std::collections::BTreeSet;

/// The most bytes that the kernel keeps of a thread's name.
const COMM_BYTES: usize = 15;

/// The programs of a recording.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    /// What they may be called.
    names: Vec<String>,
    /// Own samples, by number of the function; of those at the end that have none, nothing.
    samples: Vec<u64>,
}

impl Programs {
    /// Called as the files that the recording's command line names, and as its threads; with the own samples of
    /// functions.
    pub fn of<'a>(
        about: &'a About,
        threads: impl Iterator<Item = &'a str>,
        samples: impl Iterator<Item = (FrameId, u64)>,
    ) -> Self {
        // The first word is the recorder.
        let words = about.command.iter().skip(1);
        let words = words.flat_map(|word| word.split_whitespace());
        let files = words.filter_map(|word| word.rsplit('/').next());
        let names: BTreeSet<&str> = files.chain(threads).collect();
        let names = names.into_iter().filter(|name| !name.is_empty());
        let mut programs = Self {
            names: names.map(str::to_owned).collect(),
            samples: Vec::new(),
        };
        for (function, samples) in samples {
            let at = function.number() as usize;
            let len = programs.samples.len().max(at + 1);
            programs.samples.resize(len, 0);
            let sum = &mut programs.samples[at];
            *sum = sum.saturating_add(samples);
        }
        programs
    }

    /// Own samples of a function, all events together.
    pub(super) fn samples_of(&self, function: FrameId) -> u64 {
        let samples = self.samples.get(function.number() as usize);
        samples.copied().unwrap_or_default()
    }
}

impl SideFunctions<'_> {
    /// Whether an image is a program that was recorded.
    pub(super) fn is_program(&self, image: &str) -> bool {
        let is_called = |name: &String| {
            name == image || (name.len() == COMM_BYTES && image.starts_with(name.as_str()))
        };
        !image.starts_with('[') && self.programs.names.iter().any(is_called)
    }
}
