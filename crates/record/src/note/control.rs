//! What the control pipe and the time do to samples, as it is told.

use std::fmt;

/// What is said of words on the control pipe, and of samples that are enabled or disabled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ControlNote {
    /// Samples are taken from now on, or no more.
    Toggled {
        /// The event; `None` for all.
        event: Option<String>,
        /// Samples of it are taken.
        is_on: bool,
    },
    /// One of the events, as it was asked for.
    Event(String),
    /// No event has the name.
    NoSuchEvent {
        /// The name.
        name: String,
        /// Those that are there.
        events: Vec<String>,
    },
    /// There is nothing to take a snapshot of.
    NoSnapshot,
    /// No such word is known.
    Unknown(String),
}

impl fmt::Display for ControlNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Toggled { event, is_on } => {
                let state = if *is_on { "enabled" } else { "disabled" };
                match event {
                    None => write!(f, "events {state}"),
                    Some(event) => write!(f, "event '{event}' {state}"),
                }
            }
            Self::Event(event) => write!(f, "{event}"),
            Self::NoSuchEvent { name, events } => {
                let events = events.join(", ");
                write!(f, "--control: no event '{name}' (recorded: {events})")
            }
            Self::NoSnapshot => write!(f, "--control: nothing to take a snapshot of"),
            Self::Unknown(word) => write!(
                f,
                "--control: unknown command '{word}' (known: enable [EVENT], disable [EVENT], snapshot, \
                 stop, ping, evlist [-v])"
            ),
        }
    }
}
