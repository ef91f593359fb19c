//! One recording from start to end, in phases. Each owns what it needs and is consumed by the next, so nothing is
//! there before or after its time:
//!
//! ```text
//! Prepared   settings fit this machine; no event is open for good, the command is not there; signals are heard,
//!            control pipes are open, probes are defined
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

use crate::error::Error;
use crate::note::Note;
use crate::settings::{Settings, Summary};
use prepared::Prepared;
use rprof_ringbuf::sys;

/// Makes a recording by events.
pub(crate) fn by_events(settings: &Settings, note: &mut dyn FnMut(Note)) -> Result<Summary, Error> {
    let armed = Prepared::new(settings, note)?.arm(note)?;
    // The command is forked already, and keeps its own priority. What is drained late is lost, what is
    // unwound late is truncated; neither takes much time.
    let _priority_guard = sys::run_before_others();
    armed.create_output()?.run(note).finish(note)
}
