//! Shared by all commands that read a recording: open it, read it, print warnings.

use super::no_match;
use super::table_folders::open_only;
use crate::args::{InputArgs, LimitArgs, StrictArgs};
use crate::say;
use anyhow::{Context, Result, bail};
use rprof_analysis::{Options, load};
use rprof_import::Imported;
use rprof_perfdata::{Reader, RecordingInput};
use rprof_profile::Profile;
use rprof_report::quality_faults;
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

/// Loads the recording, with a progress line.
pub(crate) fn read(reader: &Reader, options: &Options) -> Result<Profile> {
    Ok(with_progress(reader, |show| load(reader, options, show))?)
}

/// Reads a recording in some way, with a progress line.
pub(crate) fn with_progress<T>(reader: &Reader, read: impl FnOnce(&mut dyn FnMut(f64)) -> T) -> T {
    let mut progress = progress(reader);
    read(&mut |share| progress.show(share))
}

/// The progress of reading a recording.
pub(crate) fn progress(reader: &Reader) -> say::Progress {
    let data = reader.data();
    say::Progress::over("reading", data.end.saturating_sub(data.start))
}

/// What to do if there is no such file.
const WAY_OUT: &str =
    "no recording (use rprof record -- COMMAND to make one, or -i - to read a pipe)";

/// The same where recordings are files.
const WAY_OUT_OF_FILES: &str = "no recording (use rprof record -- COMMAND to make one)";

/// Opens the recording; if there is none, tells newcomers what to do.
pub(crate) fn open(path: &Path, limits: LimitArgs) -> Result<Reader> {
    let reader = Reader::open_allowing(path, limits.allowed());
    or_say(reader, WAY_OUT)
}

/// Opens the recording where the addresses of code matter, which other files do not have.
pub(crate) fn open_code(path: &Path, limits: LimitArgs) -> Result<Reader> {
    let allowed = limits.allowed();
    let input = or_say(RecordingInput::open(path, allowed), WAY_OUT)?;
    if rprof_import::open(&input, allowed)?.is_some() {
        bail!(no_code(path));
    }
    Ok(input.into_reader(allowed)?)
}

/// Why the code of what another tool wrote cannot be shown.
pub(super) fn no_code(path: &Path) -> String {
    let path = path.display();
    format!("{path}: no addresses of code; annotate needs the recording that this was made of")
}

/// Opens a recording, or a file of another tool that becomes one.
pub(crate) fn open_any(path: &Path, limits: LimitArgs) -> Result<Reader> {
    open_any_or_say(path, limits, WAY_OUT)
}

/// The same where recordings are files.
pub(crate) fn open_any_file(path: &Path, limits: LimitArgs) -> Result<Reader> {
    open_any_or_say(path, limits, WAY_OUT_OF_FILES)
}

fn open_any_or_say(path: &Path, limits: LimitArgs, way_out: &'static str) -> Result<Reader> {
    if let Some(reader) = open_only(path, limits)? {
        return Ok(reader);
    }
    let allowed = limits.allowed();
    let input = or_say(RecordingInput::open(path, allowed), way_out)?;
    match rprof_import::open(&input, allowed)? {
        Some(found) => Ok(imported(path, found)),
        None => Ok(input.into_reader(allowed)?),
    }
}

/// The recording that was made of a file; says what is not as it was there.
pub(super) fn imported(path: &Path, found: Imported) -> Reader {
    for warning in found.warnings {
        say::warning(format_args!("{}: {warning}", path.display()));
    }
    found.reader
}

fn or_say<T>(opened: Result<T, rprof_perfdata::Error>, way_out: &'static str) -> Result<T> {
    match &opened {
        Err(rprof_perfdata::Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
            opened.context(way_out)
        }
        _ => Ok(opened?),
    }
}

/// Prints warnings, and why a result may be empty.
pub(crate) fn warn(profile: &Profile, reader: &Reader, input: &InputArgs) {
    warn_of(profile, reader, input, is_shown(profile));
}

/// Whether any samples of a profile pass the filter.
pub(crate) fn is_shown(profile: &Profile) -> bool {
    profile
        .events
        .iter()
        .any(|event| !event.tree.nodes().is_empty())
}

/// The same of a profile of which something is shown, or nothing.
pub(crate) fn warn_of(profile: &Profile, reader: &Reader, input: &InputArgs, shown: bool) {
    profile.warnings.iter().for_each(say::warning);
    let samples: u64 = profile.events.iter().map(|event| event.samples).sum();
    if samples == 0 && input.filter().accepts_all() {
        say::warning(format_args!("no samples in {}", input.recordings.name()));
    } else if !shown {
        say::warning(no_match::sentence(reader, &input.samples));
    }
}

/// The exit code after showing a profile: with `--strict`, a poor profile is a failure.
pub(crate) fn ending(strict: StrictArgs, profile: &Profile) -> ExitCode {
    let faults = if strict.strict {
        quality_faults(profile)
    } else {
        Vec::new()
    };
    for fault in &faults {
        say::line(format_args!("error: failed --strict: {fault}"));
    }
    if faults.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
