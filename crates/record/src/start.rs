//! A recording, by events or by what stands in for them.

use crate::error::Error;
use crate::note::Note;
use crate::ptrace;
use crate::recording::by_events;
use crate::settings::{Settings, Summary};

/// Makes a recording; `note` is told what a user should know as it comes up.
///
/// Must be called before the process has any other thread: it forks.
///
/// # Errors
/// [`Error`]. What could be written stays on disk and readable.
pub fn record(settings: &Settings, note: &mut dyn FnMut(Note)) -> Result<Summary, Error> {
    match by_events(settings, note) {
        // Nothing has begun yet.
        Err(refused @ (Error::Open { .. } | Error::Map { .. })) => {
            let fallback = ptrace::fallback(settings, refused)?;
            ptrace::record(settings, &fallback, note)
        }
        recorded => recorded,
    }
}
