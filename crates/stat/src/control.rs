//! perf's words on a pipe (`--control`): enable, disable, ping, stop.

use crate::Error;
use rprof_untrusted::{Seen, Untrusted};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// Where words come from, and where they are acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatControl {
    /// A FIFO.
    pub words: PathBuf,
    /// Another.
    pub acks: Option<PathBuf>,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Counting goes on, or stops: of one event with its group, or of all.
    Enable(bool, Option<String>),
    Ping,
    Stop,
    /// Nothing that is known.
    Unknown(String),
}

/// As perf: with the NUL that ends it.
const ACK: &[u8] = b"ack\n\0";

/// The longest line; perf's, too.
const MAX_LINE: usize = 4096;

/// The open pipes.
#[derive(Debug)]
pub(crate) struct Control {
    words: File,
    acks: Option<File>,
    /// The beginning of a line.
    begun: Vec<u8>,
}

impl Control {
    pub(crate) fn open(pipes: &StatControl) -> Result<Self, Error> {
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

    /// What has come by now, or a part of that: a writer without end must not hold up the count.
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
                words.push(Word::of(&Untrusted::of_bytes(&self.begun).to_string()));
            }
            self.begun.clear();
        }
        words
    }

    /// Says that a word was obeyed.
    pub(crate) fn acknowledge(&mut self) {
        if let Some(acks) = &mut self.acks {
            // Who reads none of them gets no more of them.
            let _ = acks.write_all(ACK);
        }
    }
}

impl AsFd for Control {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.words.as_fd()
    }
}

impl Word {
    /// Why it is not obeyed.
    pub(crate) fn refused(&self) -> String {
        match self {
            Self::Enable(_, Some(event)) => format!("--control: no event '{event}' is counted"),
            Self::Unknown(word) => format!(
                "--control: '{word}' is none of enable [EVENT], disable [EVENT], ping, stop"
            ),
            _ => String::new(),
        }
    }

    fn of(line: &str) -> Self {
        let (word, event) = match line.trim().split_once(' ') {
            Some((word, event)) => (word, Some(event.trim().to_owned())),
            None => (line.trim(), None),
        };
        match (word, event) {
            ("enable", event) => Self::Enable(true, event),
            ("disable", event) => Self::Enable(false, event),
            ("ping", None) => Self::Ping,
            ("stop", None) => Self::Stop,
            _ => Self::Unknown(line.chars().take(60).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_perfs() {
        let event = || Some("cs:u".to_owned());
        for (line, word) in [
            ("enable", Word::Enable(true, None)),
            ("disable cs:u ", Word::Enable(false, event())),
            ("ping", Word::Ping),
            ("stop", Word::Stop),
            ("stop now", Word::Unknown("stop now".to_owned())),
            ("snapshot", Word::Unknown("snapshot".to_owned())),
        ] {
            assert_eq!(Word::of(line), word, "{line}");
        }
    }

    #[test]
    fn only_pipes_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let words = dir.path().join("file");
        std::fs::write(&words, "stop\n").unwrap();
        for words in [words, dir.path().join("missing")] {
            let pipes = StatControl { words, acks: None };
            assert!(matches!(Control::open(&pipes), Err(Error::Control { .. })));
        }
    }
}
