//! [`Bytes`]: what can be read at any offset, a file or memory; and [`Spool`], which makes one
//! of a stream that cannot.

use rprof_untrusted::{is_mostly_hole, stored};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Bytes that can be read at any offset.
#[derive(Debug)]
pub(super) enum Bytes {
    File { file: File, len: u64 },
    Memory(Vec<u8>),
}

impl Bytes {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::File { len, .. } => *len,
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Bytes that there really are: holes of a file are none.
    pub(super) fn stored(&self) -> u64 {
        match self {
            Self::File { file, len } => stored(file).unwrap_or(*len),
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Whether a range has more hole than contents.
    pub(super) fn is_mostly_hole(&self, at: u64, len: u64) -> bool {
        match self {
            Self::File { file, .. } => is_mostly_hole(file, at, len),
            Self::Memory(_) => false,
        }
    }

    /// Fills as much of `window` as there is from `at` on; returns how much that was.
    pub(super) fn read_at(&self, window: &mut [u8], at: u64) -> io::Result<usize> {
        let file = match self {
            Self::File { file, .. } => file,
            Self::Memory(bytes) => {
                let start = usize::try_from(at).unwrap_or(usize::MAX);
                let rest = bytes.get(start..).unwrap_or_default();
                let len = rest.len().min(window.len());
                for (to, from) in window.iter_mut().zip(rest) {
                    *to = *from;
                }
                return Ok(len);
            }
        };
        let mut got = 0;
        while let Some(rest) = window.get_mut(got..).filter(|rest| !rest.is_empty()) {
            match file.read_at(rest, at + got as u64) {
                Ok(0) => break,
                Ok(n) => got += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(got)
    }

    /// Exactly `len` bytes from `at` on.
    ///
    /// # Errors
    /// `UnexpectedEof` if there are fewer: checked first, so that a damaged length does not become
    /// an allocation.
    pub(super) fn read(&self, at: u64, len: u64) -> io::Result<Vec<u8>> {
        let eof = || io::Error::from(io::ErrorKind::UnexpectedEof);
        if at.checked_add(len).is_none_or(|end| end > self.len()) {
            return Err(eof());
        }
        if self.is_mostly_hole(at, len) {
            let what = "mostly a hole (sparse file)";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let len = usize::try_from(len).map_err(|_| eof())?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len)?;
        bytes.resize(len, 0);
        if self.read_at(&mut bytes, at)? == bytes.len() {
            Ok(bytes)
        } else {
            Err(eof())
        }
    }
}

/// Bytes held in memory before they go to a temporary file.
const HELD: usize = 8 << 20;

/// Collects a stream: in memory while it is small, then in a temporary file without a name.
#[derive(Debug, Default)]
pub(super) struct Spool {
    held: Vec<u8>,
    file: Option<File>,
    in_file: u64,
}

impl Spool {
    pub(super) fn len(&self) -> u64 {
        self.in_file + self.held.len() as u64
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// The temporary file's: no room for it as a rule.
    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.held.extend_from_slice(bytes);
        if self.held.len() >= HELD {
            self.spill()?;
        }
        Ok(())
    }

    fn spill(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile_in(folder())?),
        };
        file.write_all(&self.held)?;
        self.in_file += self.held.len() as u64;
        self.held.clear();
        Ok(())
    }

    /// All that was pushed.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub(super) fn finish(mut self) -> io::Result<Bytes> {
        if self.file.is_some() {
            self.spill()?;
        }
        Ok(match self.file {
            Some(file) => Bytes::File {
                file,
                len: self.in_file,
            },
            None => Bytes::Memory(self.held),
        })
    }

    /// A stream, read to its end; if that is too far, an error.
    ///
    /// # Errors
    /// The stream's, or the temporary file's.
    pub(super) fn drain(mut stream: impl Read, most: Option<u64>) -> io::Result<Bytes> {
        let mut spool = Self::default();
        let mut window = vec![0; 1 << 20];
        loop {
            match stream.read(&mut window) {
                Ok(0) => return spool.finish(),
                Ok(n) if most.is_some_and(|most| spool.len() + n as u64 > most) => {
                    let what = "the pipe delivers more than --max-spool allows";
                    return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
                }
                Ok(n) => spool.push(window.get(..n).unwrap_or_default())?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Where temporary files go. Not `/tmp` by itself: it often is memory, and recordings are large.
fn folder() -> PathBuf {
    let choices = [
        std::env::var_os("TMPDIR").map(PathBuf::from),
        Some("/var/tmp".into()),
    ];
    let mut folders = choices.into_iter().flatten();
    folders
        .find(|folder| folder.is_dir())
        .unwrap_or_else(std::env::temp_dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_streams_stay_in_memory_and_large_ones_come_back_whole() {
        for len in [0, 10, HELD - 1, HELD, 2 * HELD + 3] {
            let all: Vec<u8> = (0..len).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let bytes = Spool::drain(&all[..], None).unwrap();
            assert_eq!(matches!(bytes, Bytes::Memory(_)), len < HELD);
            assert_eq!(bytes.len(), len as u64);
            assert_eq!(bytes.read(0, len as u64).unwrap(), all);
            assert!(bytes.read(1, len as u64).is_err());
            assert!(bytes.read(u64::MAX, 2).is_err());
        }
    }
}
