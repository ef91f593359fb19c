//! The thread that shows the recorded samples, as tables or in the interface.

#[cfg(feature = "tui")]
use super::interface::Interface;
use super::stdio::Tables;
use super::window::LiveWindow;
use crate::args::TopViewArgs;
use crate::say;
use anyhow::{Context, Result, anyhow};
use rprof_record::Segments;
use rprof_ringbuf::sys::{Signal, Signals};
use std::fmt::Display;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Interval of checks for signals once recording has ended.
const TICK: Duration = Duration::from_millis(50);

/// The kind of view.
enum Face {
    Tables(Box<Tables>),
    #[cfg(feature = "tui")]
    Interface(Interface),
}

/// The thread that shows the recorded samples.
pub(super) struct Viewer {
    state: State,
    /// Ends the interface, if the view is one.
    quit: Option<Box<dyn Fn()>>,
    /// Messages to print when the terminal is free again.
    unsaid: Vec<String>,
    /// Signals that arrive once recording has ended.
    signals: Option<Signals>,
}

enum State {
    Waits(Face, Segments),
    Runs(JoinHandle<Result<()>>),
    /// It could not be started.
    Failed(std::io::Error),
    Starts,
}

impl Viewer {
    pub(super) fn of(view: TopViewArgs, segments: Segments) -> Result<Self> {
        let window = LiveWindow::new(&view);
        #[cfg(feature = "tui")]
        if let (false, false, Ok(terminal)) = (view.stdio, view.once, crate::screen::interface()) {
            let (interface, quit) = Interface::new(window, view, terminal);
            return Ok(Self {
                state: State::Waits(Face::Interface(interface), segments),
                quit: Some(Box::new(quit)),
                unsaid: Vec::new(),
                signals: Some(Signals::block_beside_screen().context("blocking signals")?),
            });
        }
        let tables = Tables::new(window, view);
        Ok(Self {
            state: State::Waits(Face::Tables(Box::new(tables)), segments),
            quit: None,
            unsaid: Vec::new(),
            signals: None,
        })
    }

    /// Whether the terminal is the interface's.
    pub(super) fn has_terminal(&self) -> bool {
        self.quit.is_some()
    }

    pub(super) fn start(&mut self) {
        self.state = match std::mem::replace(&mut self.state, State::Starts) {
            State::Waits(face, segments) => {
                let thread = thread::Builder::new().name("rprof-top".to_owned());
                let show = move || match face {
                    Face::Tables(mut tables) => tables.show(&segments),
                    #[cfg(feature = "tui")]
                    Face::Interface(interface) => interface.show(segments),
                };
                match thread.spawn(show) {
                    Ok(thread) => State::Runs(thread),
                    Err(error) => State::Failed(error),
                }
            }
            other => other,
        };
    }

    /// Says something now, or when the terminal is free.
    pub(super) fn say(&mut self, what: &impl Display) {
        match (&self.quit, &self.state) {
            (Some(_), State::Runs(_)) => self.unsaid.push(what.to_string()),
            _ => say::line(what),
        }
    }

    /// Waits for its end; returns the signal that ended it. The interface may be looked at until somebody leaves it,
    /// unless that `is_over`.
    pub(super) fn end(self, is_over: bool) -> Result<Option<i32>> {
        let thread = match self.state {
            State::Runs(thread) => thread,
            State::Failed(error) => return Err(error).context("starting a thread"),
            State::Waits(..) | State::Starts => return Ok(None),
        };
        let mut ended_by = None;
        if let (Some(quit), Some(signals)) = (&self.quit, &self.signals) {
            while !is_over && ended_by.is_none() && !thread.is_finished() {
                thread::sleep(TICK);
                if let Some(Signal::Stop { number, .. }) = signals.next() {
                    ended_by = Some(number);
                }
            }
            // A terminal that takes its time has no room for it yet.
            while !thread.is_finished() {
                quit();
                thread::sleep(TICK);
            }
        }
        let shown = thread
            .join()
            .unwrap_or_else(|_| Err(anyhow!("the thread that shows samples failed")));
        self.unsaid.iter().for_each(say::line);
        shown.map(|()| ended_by)
    }
}
