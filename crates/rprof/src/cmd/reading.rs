//! What all commands that read a recording do: open it, read it, say what could not be used.

use super::no_match;
use crate::args::{InputArgs, LimitArgs};
use crate::say;
use anyhow::{Context, Result};
use rprof_analysis::{Options, load};
use rprof_perfdata::Reader;
use rprof_profile::Profile;
use std::io::ErrorKind;
use std::path::Path;

/// Loads the recording, and shows how far it is.
pub(crate) fn read(reader: &Reader, options: &Options) -> Result<Profile> {
    let mut progress = say::Progress::new();
    Ok(load(reader, options, &mut |share| {
        progress.show("reading", share)
    })?)
}

/// Opens the recording, with the way out for newcomers.
pub(crate) fn open(path: &Path, limits: LimitArgs) -> Result<Reader> {
    let reader = Reader::open_allowing(path, limits.allowed());
    match &reader {
        Err(rprof_perfdata::Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
            reader.context("no recording (rprof record -- COMMAND makes one; -i - reads a pipe)")
        }
        _ => Ok(reader?),
    }
}

/// Says what could not be used, and why a result may be empty.
pub(crate) fn warn(profile: &Profile, reader: &Reader, input: &InputArgs) {
    let mut trees = profile.events.iter().map(|event| &event.tree);
    let shown = trees.any(|tree| !tree.nodes().is_empty());
    warn_of(profile, reader, input, shown);
}

/// The same of a profile of which something is shown, or nothing.
pub(crate) fn warn_of(profile: &Profile, reader: &Reader, input: &InputArgs, shown: bool) {
    profile.warnings.iter().for_each(say::warning);
    let samples: u64 = profile.events.iter().map(|event| event.samples).sum();
    if samples == 0 && input.filter().accepts_all() {
        let path = input.recording.path().display();
        say::warning(format_args!("no samples in {path}"));
    } else if !shown {
        say::warning(no_match::sentence(reader, input));
    }
}
