//! perf's words on a pipe (`--control`): enable, disable, snapshot, stop, ping, evlist.

use crate::Note;
use rprof_targets::ControlLines;
use std::fmt;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Samples of one event, or of all.
    Enable(Option<String>),
    Disable(Option<String>),
    Snapshot,
    Stop,
    Ping,
    /// The events, with all that was asked of the kernel or only their names.
    Evlist {
        is_detailed: bool,
    },
    Unknown(String),
}

/// Words that have come by now.
pub(crate) fn words(pipes: &mut ControlLines) -> Vec<Word> {
    pipes.take().iter().map(|line| Word::of(line)).collect()
}

impl Word {
    fn of(line: &str) -> Self {
        let (word, rest) = match line.split_once(' ') {
            Some((word, rest)) => (word, rest.trim()),
            None => (line, ""),
        };
        let event = (!rest.is_empty()).then(|| rest.to_owned());
        match (word, rest) {
            ("enable", _) => Self::Enable(event),
            ("disable", _) => Self::Disable(event),
            ("snapshot", "") => Self::Snapshot,
            ("stop", "") => Self::Stop,
            ("ping", "") => Self::Ping,
            ("evlist", "" | "-v") => Self::Evlist {
                is_detailed: !rest.is_empty(),
            },
            _ => Self::Unknown(line.chars().take(60).collect()),
        }
    }
}

/// What is said of words and switches.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ControlNote {
    /// Samples are taken from now on, or no more.
    Switched {
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

impl From<ControlNote> for Note {
    fn from(note: ControlNote) -> Self {
        Self::Control(note)
    }
}

impl fmt::Display for ControlNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switched { event, is_on } => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_perfs() {
        let unknown = |word: &str| Word::Unknown(word.to_owned());
        let event = Some("cpu-clock:u".to_owned());
        for (line, word) in [
            ("enable", Word::Enable(None)),
            ("enable cpu-clock:u", Word::Enable(event.clone())),
            ("disable  cpu-clock:u ", Word::Disable(event)),
            ("snapshot", Word::Snapshot),
            ("stop", Word::Stop),
            ("ping", Word::Ping),
            ("evlist", Word::Evlist { is_detailed: false }),
            ("evlist -v", Word::Evlist { is_detailed: true }),
            ("evlist -x", unknown("evlist -x")),
            ("enabled", unknown("enabled")),
            ("stop now", unknown("stop now")),
            ("\u{fffd}", unknown("\u{fffd}")),
        ] {
            assert_eq!(Word::of(line), word, "{line}");
        }
        assert_eq!(Word::of(&"x".repeat(4096)), unknown(&"x".repeat(60)));
    }
}
