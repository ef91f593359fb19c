//! perf's words on a pipe (`--control`): enable, disable, snapshot, stop, ping, evlist.

use crate::switching::timing::ControlPipes;
use crate::{Error, Note};
use rprof_untrusted::Seen;
use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

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

/// As perf: with the NUL that ends it.
const ACK: &[u8] = b"ack\n\0";

/// The longest line; perf's, too.
const MAX_LINE: usize = 4096;

/// The pipes.
#[derive(Debug)]
pub(crate) struct RemoteControl {
    words: File,
    acks: Option<File>,
    /// The beginning of a line.
    begun: Vec<u8>,
}

impl RemoteControl {
    pub(crate) fn open(pipes: &ControlPipes) -> Result<Self, Error> {
        let open = |path: &Path| {
            let opened = Seen::at(path).and_then(|seen| seen.open_fifo());
            opened.map_err(|source| Error::Control {
                path: path.to_owned(),
                source,
            })
        };
        Ok(Self {
            words: open(&pipes.words)?,
            acks: pipes.acks.as_deref().map(open).transpose()?,
            begun: Vec::new(),
        })
    }

    /// What has come by now, or a part of that: a writer without end must not keep the recorder
    /// from its work.
    pub(crate) fn words(&mut self) -> Vec<Word> {
        let mut bytes = [0; MAX_LINE];
        // Nothing is there, or will never be.
        let n = self.words.read(&mut bytes).unwrap_or(0);
        let mut words = Vec::new();
        for &byte in bytes.iter().take(n) {
            if byte != b'\n' && byte != 0 {
                // A longer line is no word, whatever its rest is.
                if self.begun.len() < MAX_LINE {
                    self.begun.push(byte);
                }
                continue;
            }
            if !self.begun.is_empty() {
                words.push(Word::of(&String::from_utf8_lossy(&self.begun)));
            }
            self.begun.clear();
        }
        words
    }

    /// Acknowledges a word.
    pub(crate) fn acknowledge(&mut self) {
        if let Some(acks) = &mut self.acks {
            // Who reads none of them gets no more of them.
            let _ = acks.write_all(ACK);
        }
    }
}

impl AsFd for RemoteControl {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.words.as_fd()
    }
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
                "--control: '{word}' is none of enable [EVENT], disable [EVENT], snapshot, stop, ping, \
                 evlist [-v]"
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
        assert_eq!(Word::of(&"x".repeat(MAX_LINE)), unknown(&"x".repeat(60)));
    }

    #[test]
    fn a_line_may_come_in_parts_and_a_long_one_is_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("words");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let pipes = ControlPipes {
            words: path.clone(),
            acks: None,
        };
        let mut control = RemoteControl::open(&pipes).unwrap();
        let mut writer = File::options().write(true).open(&path).unwrap();
        assert_eq!(control.words(), []);
        writer.write_all(b"ena").unwrap();
        assert_eq!(control.words(), []);
        writer.write_all(b"ble\n\n\0sto").unwrap();
        assert_eq!(control.words(), [Word::Enable(None)]);
        writer.write_all(b"p\0ping\n").unwrap();
        assert_eq!(control.words(), [Word::Stop, Word::Ping]);
        writer.write_all(&[b'x'; 3 * MAX_LINE]).unwrap();
        for _ in 0..3 {
            assert_eq!(control.words(), []);
        }
        assert_eq!(control.begun.len(), MAX_LINE);
        writer.write_all(b"\nping\n").unwrap();
        assert_eq!(control.words(), [Word::Unknown("x".repeat(60)), Word::Ping]);
    }

    #[test]
    fn only_pipes_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["file", "missing"] {
            let words = dir.path().join(name);
            if name == "file" {
                std::fs::write(&words, "stop\n").unwrap();
            }
            let pipes = ControlPipes { words, acks: None };
            assert!(matches!(
                RemoteControl::open(&pipes),
                Err(Error::Control { .. })
            ));
        }
    }
}
