//! What a path stands for, open and not yet read: a recording, or a file of another format that others recognize.

use super::bytes::Bytes;
use super::source::{self, Source};
use crate::{Error, FileHeader, Reader};
use rprof_untrusted::Allowed;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A file, a directory of a recording, or a stream that was read to its end.
#[derive(Debug)]
pub struct RecordingInput {
    path: PathBuf,
    source: Source,
}

impl RecordingInput {
    /// Opens what a path stands for; `-` is standard input.
    ///
    /// # Errors
    /// [`Error`]: no such file, a device; more came through a pipe than may be spooled.
    pub fn open(path: &Path, allowed: Allowed) -> Result<Self, Error> {
        Ok(Self {
            path: path.to_owned(),
            source: source::open(path, allowed.spool)?,
        })
    }

    /// What is in memory; `path` is what messages call it.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Self {
        Self {
            path: path.to_owned(),
            source: Source::single(Bytes::Memory(bytes)),
        }
    }

    /// What messages call it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that there really are.
    pub fn stored(&self) -> u64 {
        self.source.stored()
    }

    /// Whether it begins as recordings do.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn is_recording(&self) -> Result<bool, Error> {
        let mut magic = [0; 8];
        let read = self.source.main.read_at(&mut magic, 0);
        read.map_err(Error::io(&self.path))?;
        Ok(self.source.is_directory || FileHeader::endian_of(magic).is_some())
    }

    /// Its bytes, from the first on.
    pub fn bytes(&self) -> impl Read {
        InputReader { input: self, at: 0 }
    }

    /// Reads it as a recording.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn into_reader(self, allowed: Allowed) -> Result<Reader, Error> {
        Reader::open_source(&self.path, self.source, allowed)
    }
}

/// Where in an input is read.
struct InputReader<'i> {
    input: &'i RecordingInput,
    at: u64,
}

impl Read for InputReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.input.source.main.read_at(buffer, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}
