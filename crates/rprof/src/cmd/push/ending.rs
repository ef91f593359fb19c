//! The end by a signal: at once, or, if a message is on its way, when its answer is noted. Else the server may have a
//! message that nothing is noted of, and a service that is restarted would send it twice.

use crate::say;
use anyhow::{Context, Result};
use rprof_ringbuf::Poller;
use rprof_ringbuf::sys::{Signal, Signals};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How a message and a signal find each other.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// A message is on its way.
    is_busy: bool,
    /// A signal of this number came meanwhile.
    asked: Option<i32>,
}

/// Ends the program when a signal says so.
#[derive(Clone, Debug)]
pub(super) struct Ending {
    state: Arc<Mutex<State>>,
    /// Signals are how the command is meant to end.
    is_success: bool,
}

/// How often the thread looks around without a signal.
const TIMEOUT: Duration = Duration::from_secs(3600);

impl Ending {
    /// Listens from now on. Call it before any thread is started: they inherit which signals are blocked.
    pub(super) fn listen(is_success: bool) -> Result<Self> {
        let ending = Self {
            state: Arc::default(),
            is_success,
        };
        let signals = Signals::block().context("blocking signals")?;
        let listener = ending.clone();
        let thread = std::thread::Builder::new().name("signals".to_owned());
        let started = thread.spawn(move || listener.hear(&signals));
        started.context("starting a thread for signals")?;
        Ok(ending)
    }

    fn hear(&self, signals: &Signals) {
        let mut poller = Poller::default();
        poller.add(signals);
        // Without it, nothing but SIGKILL ends the command.
        while poller.wait(TIMEOUT).map(|_| ()).is_ok() {
            while let Some(signal) = signals.next() {
                if let Signal::Stop { number, .. } = signal {
                    self.stop(number);
                }
            }
        }
        self.exit(Signal::INTERRUPT);
    }

    fn stop(&self, number: i32) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Who asks twice does not want to wait.
        if !state.is_busy || state.asked.is_some() {
            self.exit(number);
        }
        state.asked = Some(number);
        say::line("ending after the message that is on its way");
    }

    /// A message goes out.
    pub(super) fn begin(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_busy = true;
    }

    /// The message has its answer, and that is noted.
    pub(super) fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_busy = false;
        if let Some(number) = state.asked {
            self.exit(number);
        }
    }

    /// The thread that reads or waits cannot be asked to return. Nothing is lost: what is delivered is noted on disk, and
    /// the rest is sent by the next run.
    fn exit(&self, number: i32) {
        let code = if self.is_success { 0 } else { 128 + number };
        std::process::exit(code);
    }
}
