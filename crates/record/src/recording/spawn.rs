//! The command and the processes of a recording, before any of them is sampled.

use crate::error::Error;
use crate::interrupts::Interrupts;
use crate::note::Note;
use crate::settings::{Output, Settings, Watch};
use rprof_process::{Gated, Stdout};
use std::time::Instant;

/// Waits for processes that are to be recorded, if that was asked for; returns since when.
pub(crate) fn wait_for_processes(
    settings: &Settings,
    interrupts: &Interrupts,
    note: &mut dyn FnMut(Note),
) -> Result<Option<Instant>, Error> {
    match (&settings.watch, settings.wait) {
        (Watch::Matching(matching), true) => matching.wait(interrupts, note),
        _ => Ok(None),
    }
}

/// Says that processes that were waited for are recorded now.
pub(crate) fn note_found(waited_since: Option<Instant>, note: &mut dyn FnMut(Note)) {
    if let Some(since) = waited_since {
        let within = since.elapsed();
        note(Note::Found { within });
    }
}

/// Forks the command, if there is one. It waits until it may begin.
pub(crate) fn spawn(settings: &Settings) -> Result<Option<Gated>, Error> {
    if settings.command.is_empty() {
        return Ok(None);
    }
    let stdout = match settings.output {
        _ if settings.hides_command => Stdout::Nowhere,
        Output::File(_) => Stdout::Inherited,
        Output::Pipe(_) | Output::Segments(_) => Stdout::ToStderr,
    };
    Ok(Some(Gated::spawn(&settings.command, stdout)?))
}
