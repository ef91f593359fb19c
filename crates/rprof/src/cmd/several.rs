//! Several recordings, shown as one profile.
//!
//! The first decides what can be shown. The others are opened one after the other, each once the one before is counted:
//! memory is that of the largest, and of what is distinct in all.

use super::reading::{no_code, with_progress};
use super::span_limits::SpanLimits;
use super::table_folders::TableFolders;
use crate::args::{InputArgs, LimitArgs, Recordings, SampleArgs};
use crate::say;
use anyhow::{Context, Result, bail};
use rprof_analysis::{Options, Progress, load, load_counted_stacks, load_samples};
use rprof_import::is_table_folder;
use rprof_perfdata::Reader;
use rprof_profile::{
    CountedStacks, JoinedProfile, JoinedSamples, JoinedStacks, PartClock, Profile, SampledProfile,
};
use rprof_ringbuf::sys::give_back_free_memory;
use rprof_untrusted::Seen;
use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The first recording, open, and the paths of all.
pub(super) struct OpenedRecordings<'a> {
    pub(super) first: Reader,
    /// Directories are replaced by the recordings in them.
    pub(super) paths: Recordings,
    samples: &'a SampleArgs,
    folders: TableFolders,
    /// Whether nothing is said of reading them.
    is_quiet: bool,
}

impl<'a> OpenedRecordings<'a> {
    /// Opens the first one; `samples` says what is read of each.
    pub(super) fn open(recordings: &Recordings, samples: &'a SampleArgs) -> Result<Self> {
        let mut folders = TableFolders::default();
        let paths = expanded(recordings, &mut folders, samples.limits)?;
        Ok(Self {
            first: folders.read(paths.first().path(), samples.limits)?,
            paths,
            samples,
            folders,
            is_quiet: false,
        })
    }

    /// One that is open already.
    pub(super) fn only(first: Reader, input: &'a InputArgs) -> Self {
        Self {
            first,
            paths: input.recordings.clone(),
            samples: &input.samples,
            folders: TableFolders::default(),
            is_quiet: false,
        }
    }

    /// From now on, nothing is said of reading them: something else is on the terminal.
    #[cfg(feature = "tui")]
    pub(super) fn quiet(self) -> Self {
        Self {
            is_quiet: true,
            ..self
        }
    }

    /// Reads one, with a progress line.
    fn show<T>(&self, reader: &Reader, read: impl FnOnce(&mut dyn FnMut(f64)) -> T) -> T {
        if self.is_quiet {
            return read(&mut |_| {});
        }
        with_progress(reader, read)
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.paths.others().len() + 1
    }

    /// Hands over each, one at a time: for what does not become one profile. Errors name the recording if there are
    /// several.
    pub(super) fn each(&self, mut take: impl FnMut(&Reader) -> Result<()>) -> Result<()> {
        let first = take(&self.first);
        if self.paths.others().is_empty() {
            return first;
        }
        first.with_context(|| self.first.path().display().to_string())?;
        for path in self.paths.others() {
            let reader = self.folders.read(path, self.samples.limits)?;
            take(&reader).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }

    /// The same options, with percentiles of spans that are those of all recordings together.
    pub(super) fn with_span_limits(&self, options: &Options) -> Result<Options> {
        let mut options = options.clone();
        if let (Some(speed), false) = (
            &mut options.filter.span_speed,
            self.paths.others().is_empty(),
        ) {
            let mut limits = SpanLimits::default();
            self.each(|reader| Ok(limits.add(reader)?))?;
            limits.put_into(speed);
        }
        Ok(options)
    }

    /// Reads all of them; `options` are those for the first.
    pub(super) fn read<R: ReadResult>(&self, options: &Options) -> Result<R> {
        self.read_by(options, R::load)
    }

    /// Reads all of them, each as `load` does.
    pub(super) fn read_by<R: ReadResult>(
        &self,
        options: &Options,
        load: impl Fn(&Reader, &Options, &mut Progress<'_>) -> Result<R, rprof_analysis::Error>,
    ) -> Result<R> {
        let options = &self.with_span_limits(options)?;
        let first = self.show(&self.first, |show| load(&self.first, options, show))?;
        if self.paths.others().is_empty() {
            return Ok(first);
        }
        let mut joined = R::Joined::default();
        let mut warnings = SharedWarnings::default();
        let mut add = |path: &Path, part: R| {
            warnings.add(path, &part.profile().warnings);
            let clock = match part.join(&mut joined) {
                PartClock::Common => return,
                PartClock::Other => {
                    "its clock does not say the time of day: its samples are shown after the others"
                }
                PartClock::None => "it has no times: samples cannot be shown in order of time",
            };
            warnings.add(path, &[clock.to_owned()]);
        };
        add(self.first.path(), first);
        for path in self.paths.others() {
            let reader = self.folders.read(path, self.samples.limits)?;
            let lacks_chains = reader.has_call_chains() && !self.first.has_call_chains();
            if lacks_chains && !self.is_quiet {
                let (path, first) = (path.display(), self.first.path().display());
                say::warning(format_args!(
                    "{path} has call chains, which are not shown: {first}, the first recording, has none"
                ));
            }
            let options = Options {
                locator: self.samples.locator(&reader),
                ..options.clone()
            };
            let read = self.show(&reader, |show| load(&reader, &options, show));
            add(
                path,
                read.with_context(|| format!("reading {}", path.display()))?,
            );
            // Glibc keeps what the threads of a recording had, where threads of the next do not look for it.
            drop((options, reader));
            give_back_free_memory();
        }
        let mut all = R::finish(joined);
        all.profile_mut().warnings = warnings.into_sentences();
        Ok(all)
    }
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

    /// Adds it to others. Returns how its times compare with theirs, where they matter.
    fn join(self, joined: &mut Self::Joined) -> PartClock;

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

    fn join(self, joined: &mut JoinedProfile) -> PartClock {
        joined.add(&self);
        PartClock::Common
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

    fn join(self, joined: &mut JoinedSamples) -> PartClock {
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

    fn join(self, joined: &mut JoinedStacks) -> PartClock {
        joined.add(&self);
        PartClock::Common
    }

    fn finish(joined: JoinedStacks) -> Self {
        joined.finish()
    }
}

/// The recordings whose code is to be shown. Directories are replaced by the recordings in them.
pub(super) fn recordings_with_code(
    recordings: &Recordings,
    limits: LimitArgs,
) -> Result<Recordings> {
    if let Some(tables) = recordings.paths().find(|path| is_table_folder(path)) {
        bail!(no_code(tables));
    }
    expanded(recordings, &mut TableFolders::default(), limits)
}

/// Expands directories of recordings, and of tables. Each file is read once.
fn expanded(
    recordings: &Recordings,
    folders: &mut TableFolders,
    limits: LimitArgs,
) -> Result<Recordings> {
    let mut paths = Vec::new();
    for path in recordings.paths() {
        if let Some(recordings) = folders.open(path, limits)? {
            paths.extend(recordings);
        } else if path.is_dir() && !path.join("data").is_file() {
            paths.extend(recordings_in(path)?);
        } else {
            paths.push(path.to_owned());
        }
    }
    let mut seen = HashSet::new();
    paths.retain(|path| {
        // What cannot be looked at cannot be opened: that says why.
        file_id(path).is_none_or(|id| seen.insert(id))
    });
    Ok(Recordings::new(paths))
}

/// Device and inode of a file, however its path is written; `None` for standard input, and if it cannot be looked at.
pub(super) fn file_id(path: &Path) -> Option<(u64, u64)> {
    let meta = path.metadata().ok().filter(|_| path.as_os_str() != "-")?;
    Some((meta.dev(), meta.ino()))
}

/// The recordings in a directory, by name. Other files are none; what cannot be read is left out, with a warning.
fn recordings_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let reading = || format!("reading {}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(reading)? {
        let path = entry.with_context(reading)?.path();
        match is_recording(&path) {
            Ok(true) => found.push(path),
            Ok(false) => {}
            Err(error) => {
                let path = path.display();
                say::warning(format_args!("{path} is left out: {error}"));
            }
        }
    }
    found.sort();
    if found.is_empty() {
        bail!("{}: no recordings in this directory", folder.display());
    }
    Ok(found)
}

/// Whether a file begins as recordings do, or a directory is one.
fn is_recording(path: &Path) -> io::Result<bool> {
    let seen = Seen::at(path)?;
    if seen.meta().is_dir() {
        return Ok(path.join("data").is_file());
    }
    if !seen.meta().is_file() {
        return Ok(false);
    }
    let mut magic = Vec::new();
    let file = seen.open_regular(File::options().read(true))?;
    file.take(8).read_to_end(&mut magic)?;
    Ok([b"PERFILE2", b"2ELIFREP"]
        .iter()
        .any(|known| magic == *known))
}

/// Warnings of several recordings, each once.
#[derive(Debug, Default)]
pub(super) struct SharedWarnings {
    /// The first recording that has each, and how many others.
    known: BTreeMap<String, (PathBuf, usize)>,
    /// In the order in which they came.
    order: Vec<String>,
}

impl SharedWarnings {
    pub(super) fn add(&mut self, path: &Path, warnings: &[String]) {
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

    pub(super) fn into_sentences(self) -> Vec<String> {
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
