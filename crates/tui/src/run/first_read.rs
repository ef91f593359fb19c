//! The terminal while the first samples are read, before the interface has it: ESC, q and signals end that.

use super::error::RunError;
use super::keyboard::{EarlyKeys, Keyboard};
use crossbeam_channel::{RecvTimeoutError, bounded};
use ratatui_crossterm::crossterm::event;
use rprof_ringbuf::sys::{KeyByKey, Signal, Signals, suspend_process};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use std::time::Duration;

/// How long the reader is waited for before signals and keys are looked at.
const TICK: Duration = Duration::from_millis(50);

/// Reads on a thread of its own; `None` if somebody leaves meanwhile. That thread then goes on until the program ends.
///
/// # Errors
/// If a signal ends it, or the terminal is gone.
pub(super) fn read<T: Send + 'static>(
    read: impl FnOnce() -> T + Send + 'static,
    signals: Option<&Signals>,
    early: &mut EarlyKeys,
) -> Result<Option<T>, RunError> {
    let (sender, made) = bounded(1);
    let reader = thread::Builder::new().name("rprof-first".to_owned());
    reader.spawn(move || {
        let _ = sender.send(catch_unwind(AssertUnwindSafe(read)));
    })?;
    let keyboard = Keyboard::open();
    // A terminal that is in the background may not be taken, and is not read from.
    let taken = keyboard.fd().and_then(|fd| KeyByKey::take(fd).ok());
    loop {
        match made.recv_timeout(TICK) {
            Ok(made) => return Ok(Some(made.unwrap_or_else(|panic| resume_unwind(panic)))),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the thread that reads is gone").into());
            }
        }
        if keyboard.is_gone() {
            return Err(RunError::Gone);
        }
        while let Some(signal) = signals.and_then(Signals::next) {
            obey(signal, taken.as_ref())?;
        }
        while taken.is_some() && event::poll(Duration::ZERO)? {
            if early.take(event::read()?) {
                return Ok(None);
            }
        }
    }
}

/// Does what a signal asks for.
fn obey(signal: Signal, taken: Option<&KeyByKey>) -> Result<(), RunError> {
    match signal {
        Signal::Stop { number, .. } => return Err(RunError::Ended(number)),
        Signal::Suspend => {
            taken.map_or(Ok(()), KeyByKey::give_back)?;
            suspend_process();
            taken.map_or(Ok(()), KeyByKey::take_again)?;
        }
        Signal::Continue => taken.map_or(Ok(()), KeyByKey::take_again)?,
        Signal::Child | Signal::Snapshot => {}
    }
    Ok(())
}
