//! The terminal while the first samples are read, before the interface has it: ESC, q and signals end that.

use super::error::RunError;
use super::keyboard::{EarlyKeys, Keyboard};
use crossbeam_channel::{RecvTimeoutError, bounded};
use ratatui_crossterm::crossterm::event::{self, Event};
use rprof_ringbuf::sys::{KeyByKey, Signal, Signals, suspend_process};
use std::io;
use std::panic::{self, AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long the reader is waited for before signals and keys are looked at.
const TICK: Duration = Duration::from_millis(50);

/// How long the rest of what begins with an escape is waited for: lines of terminals may be slow.
const REST: Duration = Duration::from_millis(50);

/// Reads on a thread of its own; `None` if the user leaves meanwhile. That thread then runs until the program ends.
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
    let terminal = Terminal::of(&keyboard);
    loop {
        terminal.take();
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
            obey(signal, &terminal)?;
        }
        while terminal.take() && event::poll(Duration::ZERO)? {
            if early.take(event::read()?, rest)? {
                return Ok(None);
            }
        }
    }
}

/// What comes soon after an escape.
fn rest() -> io::Result<Option<Event>> {
    event::poll(REST)?.then(event::read).transpose()
}

/// The terminal, if there is one. It is given back when this is dropped, and before a panic ends the program.
struct Terminal(Arc<Mutex<Option<KeyByKey>>>);

impl Terminal {
    fn of(keyboard: &Keyboard) -> Self {
        let keys = Arc::new(Mutex::new(keyboard.fd().map(KeyByKey::of)));
        let (of_panic, before) = (Arc::clone(&keys), panic::take_hook());
        panic::set_hook(Box::new(move |info| {
            end(&of_panic);
            before(info);
        }));
        Self(keys)
    }

    /// Takes it, as often as this process is in the foreground; in the background it is not to be read from, either.
    fn take(&self) -> bool {
        let Self(keys) = self;
        let mut keys = keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.as_mut()
            .is_some_and(|keys| keys.take().unwrap_or(false))
    }

    /// Gives it back until it is taken again. Nothing can be done about what fails here.
    fn give_back(&self) {
        let Self(keys) = self;
        let mut keys = keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(keys) = keys.as_mut() {
            let _ = keys.give_back();
        }
    }

    /// Others may have changed it.
    fn lose(&self) {
        let Self(keys) = self;
        let mut keys = keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.iter_mut().for_each(KeyByKey::lose);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        end(&self.0);
    }
}

/// Gives it back for good: while a panic is printed, others would take it again.
fn end(keys: &Mutex<Option<KeyByKey>>) {
    // A panic may come while it is locked.
    if let Ok(mut keys) = keys.try_lock() {
        *keys = None;
    }
}

/// Does what a signal asks for.
fn obey(signal: Signal, terminal: &Terminal) -> Result<(), RunError> {
    match signal {
        Signal::Stop { number, .. } => return Err(RunError::Ended(number)),
        Signal::Suspend => {
            terminal.give_back();
            suspend_process();
        }
        Signal::Continue => terminal.lose(),
        Signal::Child | Signal::Snapshot => {}
    }
    Ok(())
}
