//! What is noted of a recording: which file it is, and which of its parts a server has.
//!
//! A note is lines of text, its last one `end`:
//!
//! ```text
//! rprof-push 1
//! file DEVICE INODE SIZE MTIME
//! samples 212
//! part 3f2a...
//! split 91c4...
//! reading
//! delivered
//! end
//! ```
//!
//! A message that was too large for the server is noted as split: if the server took it whole later, what it already has
//! of it would count twice.

use crate::PartId;
use crate::part::hex;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;

/// Bytes of a note that are read: those of 400,000 parts.
pub(crate) const MAX_NOTE: u64 = 16 << 20;

const FIRST_LINE: &str = "rprof-push 1";

/// Which file it was: it tells without reading that a file is still the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileStamp {
    /// Device and inode.
    pub device: u64,
    /// See `device`.
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// When it was last changed, nanoseconds since 1970.
    pub modified_ns: i64,
}

impl FileStamp {
    /// Of a file.
    pub fn of(meta: &Metadata) -> Self {
        let seconds = meta.mtime().saturating_mul(1_000_000_000);
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.len(),
            modified_ns: seconds.saturating_add(meta.mtime_nsec()),
        }
    }
}

/// What a file's contents are called, whatever its name is: 64 hexadecimal digits.
///
/// # Errors
/// Those of reading it.
pub fn content_id(file: &File) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    let mut file = file;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hex(&hash.finalize())),
            Ok(n) => hash.update(buffer.get(..n).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) stamp: FileStamp,
    /// Samples of the recording, once they are counted.
    pub(crate) samples: Option<u64>,
    /// Parts that the server has.
    pub(crate) parts: BTreeSet<PartId>,
    /// Parts that were too large for the server: what they were split into is sent instead.
    pub(crate) split: BTreeSet<PartId>,
    /// It is being read. If that is on disk when rprof starts, reading it has ended the last run.
    pub(crate) is_reading: bool,
    /// The server has all of it.
    pub(crate) is_delivered: bool,
}

impl Note {
    pub(crate) fn new(stamp: FileStamp) -> Self {
        Self {
            stamp,
            samples: None,
            parts: BTreeSet::new(),
            split: BTreeSet::new(),
            is_reading: false,
            is_delivered: false,
        }
    }

    /// Takes over what another note on the same recording says.
    pub(crate) fn join(&mut self, other: &Self) {
        self.samples = self.samples.or(other.samples);
        self.is_delivered |= other.is_delivered;
        self.is_reading |= other.is_reading;
        self.parts.extend(&other.parts);
        self.split.extend(&other.split);
    }

    pub(crate) fn encode(&self) -> String {
        let FileStamp {
            device,
            inode,
            size,
            modified_ns,
        } = self.stamp;
        let mut text = format!("{FIRST_LINE}\nfile {device} {inode} {size} {modified_ns}\n");
        // A string takes whatever comes.
        if let Some(samples) = self.samples {
            let _ = writeln!(text, "samples {samples}");
        }
        for part in &self.parts {
            let _ = writeln!(text, "part {part}");
        }
        for part in &self.split {
            let _ = writeln!(text, "split {part}");
        }
        for (is_said, word) in [
            (self.is_reading, "reading"),
            (self.is_delivered, "delivered"),
        ] {
            if is_said {
                let _ = writeln!(text, "{word}");
            }
        }
        text.push_str("end\n");
        text
    }

    /// `None` for what is no note, or not all of one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix("end\n")?.lines();
        if lines.next() != Some(FIRST_LINE) {
            return None;
        }
        let mut numbers = lines.next()?.strip_prefix("file ")?.split(' ');
        let mut number = || numbers.next()?.parse().ok();
        let stamp = FileStamp {
            device: number()?,
            inode: number()?,
            size: number()?,
            modified_ns: numbers.next()?.parse().ok()?,
        };
        let mut note = Self::new(stamp);
        for line in lines {
            match line.split_once(' ') {
                Some(("samples", count)) => note.samples = Some(count.parse().ok()?),
                Some(("part", id)) => {
                    note.parts.insert(PartId::parse(id)?);
                }
                Some(("split", id)) => {
                    note.split.insert(PartId::parse(id)?);
                }
                None if line == "reading" => note.is_reading = true,
                None if line == "delivered" => note.is_delivered = true,
                _ => return None,
            }
        }
        Some(note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note() -> Note {
        Note {
            stamp: FileStamp {
                device: 1,
                inode: 2,
                size: 3,
                modified_ns: -4,
            },
            samples: Some(212),
            parts: BTreeSet::from([PartId::of(b"a"), PartId::of(b"b")]),
            split: BTreeSet::from([PartId::of(b"c")]),
            is_reading: true,
            is_delivered: true,
        }
    }

    #[test]
    fn notes_are_read_as_they_are_written() {
        let mut note = note();
        assert_eq!(Note::parse(&note.encode()).as_ref(), Some(&note));
        note.is_delivered = false;
        note.is_reading = false;
        note.samples = None;
        note.parts.clear();
        note.split.clear();
        assert_eq!(Note::parse(&note.encode()), Some(note));
    }

    #[test]
    fn two_notes_on_a_recording_know_more_than_one() {
        let (one, mut other) = (note(), Note::new(note().stamp));
        other.parts.insert(PartId::of(b"d"));
        other.join(&one);
        assert!(other.is_delivered && other.parts.len() == 3 && other.split.len() == 1);
        assert_eq!(other.samples, Some(212));
    }

    #[test]
    fn what_is_not_whole_is_no_note() {
        let text = note().encode();
        for end in 0..text.len() {
            assert_eq!(Note::parse(&text[..end]), None, "{end}");
        }
    }

    /// Whatever is in a note that was damaged, it is read or not, and nothing else happens.
    #[test]
    fn damaged_notes_do_no_harm() {
        let text = note().encode();
        for at in 0..text.len() {
            for byte in [b'\n', b' ', b'9', b'-', 0, 0xff] {
                let mut bytes = text.clone().into_bytes();
                bytes[at] = byte;
                if let Ok(text) = std::str::from_utf8(&bytes) {
                    let note = Note::parse(text);
                    assert!(note.is_none_or(|note| note.parts.len() <= 2));
                }
            }
        }
    }

    #[test]
    fn contents_have_a_name() {
        let file = tempfile::tempfile().unwrap();
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(content_id(&file).unwrap(), empty);
    }
}
