//! The pipes of `--control`: lines come, and each that was obeyed is acknowledged, as perf does it.

use rprof_untrusted::open_fifo;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// FIFOs or pipes, by their paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlPipes {
    /// Words come from it.
    pub words: PathBuf,
    /// Each word that was obeyed is acknowledged there.
    pub acks: Option<PathBuf>,
}

/// It is no pipe, or cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot take commands from {} (mkfifo creates a FIFO)", path.display())]
pub struct ControlError {
    /// Its path.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// As perf: with the NUL that ends it.
const ACK: &[u8] = b"ack\n\0";

/// The longest line; perf's, too.
const MAX_LINE: usize = 4096;

/// The open pipes.
#[derive(Debug)]
pub struct ControlLines {
    words: File,
    acks: Option<File>,
    /// The beginning of a line.
    begun: Vec<u8>,
}

impl ControlLines {
    /// Opens them.
    ///
    /// # Errors
    /// [`ControlError`].
    pub fn open(pipes: &ControlPipes) -> Result<Self, ControlError> {
        let open = |path: &Path| {
            open_fifo(path).map_err(|source| ControlError {
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

    /// What has come by now, or a part of that: a writer without end must not keep anybody from other work.
    pub fn take(&mut self) -> Vec<String> {
        let mut bytes = [0; MAX_LINE];
        // Nothing is there, or will never be.
        let n = self.words.read(&mut bytes).unwrap_or(0);
        let mut lines = Vec::new();
        for &byte in bytes.iter().take(n) {
            if byte != b'\n' && byte != 0 {
                // A longer line is no word, whatever its rest is.
                if self.begun.len() < MAX_LINE {
                    self.begun.push(byte);
                }
                continue;
            }
            if !self.begun.is_empty() {
                lines.push(String::from_utf8_lossy(&self.begun).into_owned());
            }
            self.begun.clear();
        }
        lines
    }

    /// Acknowledges a line.
    pub fn acknowledge(&mut self) {
        if let Some(acks) = &mut self.acks {
            // Who reads none of them gets no more of them.
            let _ = acks.write_all(ACK);
        }
    }
}

impl AsFd for ControlLines {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.words.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pipes_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let words = dir.path().join("file");
        std::fs::write(&words, "stop\n").unwrap();
        for words in [words, dir.path().join("missing")] {
            let pipes = ControlPipes { words, acks: None };
            assert!(ControlLines::open(&pipes).is_err());
        }
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
        let mut control = ControlLines::open(&pipes).unwrap();
        let mut writer = File::options().write(true).open(&path).unwrap();
        let nothing: [&str; 0] = [];
        assert_eq!(control.take(), nothing);
        writer.write_all(b"ena").unwrap();
        assert_eq!(control.take(), nothing);
        writer.write_all(b"ble\n\n\0sto").unwrap();
        assert_eq!(control.take(), ["enable"]);
        writer.write_all(b"p\0ping\n").unwrap();
        assert_eq!(control.take(), ["stop", "ping"]);
        writer.write_all(&[b'x'; 3 * MAX_LINE]).unwrap();
        for _ in 0..3 {
            assert_eq!(control.take(), nothing);
        }
        assert_eq!(control.begun.len(), MAX_LINE);
        writer.write_all(b"\nping\n").unwrap();
        assert_eq!(control.take(), ["x".repeat(MAX_LINE), "ping".to_owned()]);
    }
}
