//! One recording from start to end, in phases. Each owns what it needs and is consumed by the next, so nothing is
//! there before or after its time:
//!
//! ```text
//! Prepared   settings fit this machine; nothing is open for good, the command is not there
//!   Armed    events are open and off, the command waits to be executed
//!   Ready    the file exists, a thread writes it; from here on, whatever happens, the file is closed
//!   Running  events are on: rings are drained until something ends the recording
//!   Stopped  why it ended is known; events are still on
//!   Drained  events are off, rings are empty, losses are written
//!   Closed   the file is complete; the command may still run
//! ```
//!
//! A [`Recorder`](recorder::Recorder) passes from `Ready` to `Drained`. Sampling by ptrace
//! ([`ptrace`](crate::ptrace)) has a session of its own in place of the first four.

mod armed;
mod closed;
mod drained;
mod grace_period;
pub(crate) mod limits;
pub(crate) mod plan;
mod prepared;
pub(crate) mod recorder;
mod rotation;
mod running;
pub(crate) mod spawn;
pub(crate) mod stopped;
mod synthesis;
mod toggling;
mod wakeups;

use crate::{Error, Note, Settings, Summary, ptrace};
use prepared::Prepared;
use rprof_ringbuf::sys;

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

fn by_events(settings: &Settings, note: &mut dyn FnMut(Note)) -> Result<Summary, Error> {
    let armed = Prepared::new(settings, note)?.arm(note)?;
    // The command is forked already, and keeps its own priority. What is drained late is lost, what is
    // unwound late is truncated; neither takes much time.
    let _priority_guard = sys::run_before_others();
    armed.create_output()?.run(note).finish(note)
}
