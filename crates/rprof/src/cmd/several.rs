//! Several recordings, shown as one profile.
//!
//! What is asked for is decided by the first. The others are opened one after the other, each once the one before is
//! counted: memory is that of the largest, and of what is distinct in all.

use super::reading::{open, with_progress};
use crate::args::{InputArgs, Recordings};
use crate::say;
use anyhow::{Context, Result};
use rprof_analysis::{Options, Progress, load, load_counted_stacks, load_samples};
use rprof_perfdata::Reader;
use rprof_profile::{
    CountedStacks, JoinedProfile, JoinedSamples, JoinedStacks, Profile, SampledProfile,
};
use rprof_untrusted::Seen;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Recordings of which the first is open.
pub(super) struct OpenedRecordings<'a> {
    pub(super) first: Reader,
    others: Vec<PathBuf>,
    input: &'a InputArgs,
}

impl<'a> OpenedRecordings<'a> {
    /// Opens the first one.
    pub(super) fn open(input: &'a InputArgs) -> Result<Self> {
        let mut paths = paths(&input.recordings)?.into_iter();
        let first = paths.next().unwrap_or_default();
        Ok(Self {
            first: open_any(&first, input)?,
            others: paths.collect(),
            input,
        })
    }

    /// One that is open already.
    pub(super) fn only(first: Reader, input: &'a InputArgs) -> Self {
        Self {
            first,
            others: Vec::new(),
            input,
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.others.len() + 1
    }

    /// Reads all of them; `options` are those for the first.
    pub(super) fn read<R: ReadResult>(&self, options: &Options) -> Result<R> {
        let first = with_progress(&self.first, |show| R::load(&self.first, options, show))?;
        if self.others.is_empty() {
            return Ok(first);
        }
        let mut joined = R::Joined::default();
        let mut warnings = SharedWarnings::default();
        let mut add = |path: &Path, part: R| {
            warnings.add(path, &part.profile().warnings);
            if !part.join(&mut joined) {
                let unknown =
                    "its clock cannot be compared: its samples are shown after the others";
                warnings.add(path, &[unknown.to_owned()]);
            }
        };
        add(self.first.path(), first);
        for path in &self.others {
            let reader = open_any(path, self.input)?;
            if reader.has_call_chains() && !self.first.has_call_chains() {
                let (path, first) = (path.display(), self.first.path().display());
                say::warning(format_args!(
                    "{path} has call chains, which are not shown: {first}, the first recording, has none"
                ));
            }
            let options = Options {
                locator: self.input.samples.locator(&reader),
                ..options.clone()
            };
            let read = with_progress(&reader, |show| R::load(&reader, &options, show));
            add(
                path,
                read.with_context(|| format!("reading {}", path.display()))?,
            );
        }
        let mut all = R::finish(joined);
        all.profile_mut().warnings = warnings.into_sentences();
        Ok(all)
    }
}

/// Opens a recording, or a file of another tool that becomes one.
fn open_any(path: &Path, input: &InputArgs) -> Result<Reader> {
    let opened = open(path, input.limits());
    if let Err(error) = &opened
        && let Some(rprof_perfdata::Error::NotPerfData { .. }) = error.downcast_ref()
        && let Some(reader) = rprof_import::open(path)?
    {
        return Ok(reader);
    }
    opened
}

/// What recordings are read to, and how several are one.
pub(super) trait ReadResult: Sized {
    type Joined: Default;

    fn load(
        reader: &Reader,
        options: &Options,
        progress: &mut Progress<'_>,
    ) -> Result<Self, rprof_analysis::Error>;

    fn profile(&self) -> &Profile;

    fn profile_mut(&mut self) -> &mut Profile;

    /// Adds it to others. Returns whether its times can be compared with theirs, if they matter.
    fn join(self, joined: &mut Self::Joined) -> bool;

    fn finish(joined: Self::Joined) -> Self;
}

impl ReadResult for Profile {
    type Joined = JoinedProfile;

    fn load(
        reader: &Reader,
        options: &Options,
        progress: &mut Progress<'_>,
    ) -> Result<Self, rprof_analysis::Error> {
        load(reader, options, progress)
    }

    fn profile(&self) -> &Profile {
        self
    }

    fn profile_mut(&mut self) -> &mut Profile {
        self
    }

    fn join(self, joined: &mut JoinedProfile) -> bool {
        joined.add(&self);
        true
    }

    fn finish(joined: JoinedProfile) -> Self {
        joined.finish()
    }
}

impl ReadResult for SampledProfile {
    type Joined = JoinedSamples;

    fn load(
        reader: &Reader,
        options: &Options,
        progress: &mut Progress<'_>,
    ) -> Result<Self, rprof_analysis::Error> {
        load_samples(reader, options, progress)
    }

    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn profile_mut(&mut self) -> &mut Profile {
        &mut self.profile
    }

    fn join(self, joined: &mut JoinedSamples) -> bool {
        joined.add(self)
    }

    fn finish(joined: JoinedSamples) -> Self {
        joined.finish()
    }
}

impl ReadResult for CountedStacks {
    type Joined = JoinedStacks;

    fn load(
        reader: &Reader,
        options: &Options,
        progress: &mut Progress<'_>,
    ) -> Result<Self, rprof_analysis::Error> {
        load_counted_stacks(reader, options, progress)
    }

    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn profile_mut(&mut self) -> &mut Profile {
        &mut self.profile
    }

    fn join(self, joined: &mut JoinedStacks) -> bool {
        joined.add(&self);
        true
    }

    fn finish(joined: JoinedStacks) -> Self {
        joined.finish()
    }
}

/// The recordings that are meant: of a directory that is none itself, those in it.
fn paths(recordings: &Recordings) -> Result<Vec<PathBuf>> {
    let first = recordings.first().path();
    let mut paths = Vec::new();
    for path in [first]
        .into_iter()
        .chain(recordings.others().iter().map(PathBuf::as_path))
    {
        if path.is_dir() && !path.join("data").exists() {
            paths.extend(recordings_in(path)?);
        } else {
            paths.push(path.to_owned());
        }
    }
    Ok(paths)
}

/// The recordings in a directory, by name.
fn recordings_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let shown = folder.display();
    let entries = fs::read_dir(folder).with_context(|| format!("reading {shown}"))?;
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.with_context(|| format!("reading {shown}"))?;
        let path = entry.path();
        let kind = entry
            .file_type()
            .with_context(|| format!("reading {shown}"))?;
        if kind.is_file() && is_recording(&path) || kind.is_dir() && path.join("data").is_file() {
            found.push(path);
        }
    }
    found.sort();
    if found.is_empty() {
        anyhow::bail!("{shown}: no recordings in this directory");
    }
    Ok(found)
}

/// Whether a file begins as recordings do.
fn is_recording(path: &Path) -> bool {
    let mut magic = [0; 8];
    let opened = Seen::at(path).and_then(|seen| {
        // What has the name by now may be a pipe, which would be waited for.
        seen.open_regular(File::options().read(true))
    });
    let read = opened.and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && [*b"PERFILE2", *b"2ELIFREP"].contains(&magic)
}

/// Warnings of several recordings, each once.
#[derive(Debug, Default)]
struct SharedWarnings {
    /// The first recording that has each, and how many others.
    known: BTreeMap<String, (PathBuf, usize)>,
    /// In the order in which they came.
    order: Vec<String>,
}

impl SharedWarnings {
    fn add(&mut self, path: &Path, warnings: &[String]) {
        for warning in warnings {
            match self.known.get_mut(warning) {
                Some((_, n_others)) => *n_others += 1,
                None => {
                    self.order.push(warning.clone());
                    self.known.insert(warning.clone(), (path.to_owned(), 0));
                }
            }
        }
    }

    fn into_sentences(self) -> Vec<String> {
        let sentence = |warning: &String| {
            let (path, n_others) = self.known.get(warning)?;
            let path = path.display();
            Some(match n_others {
                0 => format!("{path}: {warning}"),
                1 => format!("{path} and 1 other: {warning}"),
                _ => format!("{path} and {n_others} others: {warning}"),
            })
        };
        self.order.iter().filter_map(sentence).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_of_several_recordings_is_said_once() {
        let mut warnings = SharedWarnings::default();
        for (path, warning) in [("a", "x"), ("b", "x"), ("b", "y"), ("c", "x")] {
            warnings.add(Path::new(path), &[warning.to_owned()]);
        }
        assert_eq!(warnings.into_sentences(), ["a and 2 others: x", "b: y"]);
    }
}
