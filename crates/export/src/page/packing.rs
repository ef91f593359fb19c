//! The bytes of a profile, packed as they are made.

use super::columns::unsigned;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::{self, Write};

/// The first bytes: what it is, and the version.
const MAGIC: &[u8; 8] = b"RPROFPG1";

/// Of 9. Higher ones save few bytes and take many times as long.
const LEVEL: u32 = 6;

/// The profile's bytes as they grow: what is said of the columns, then these.
pub(super) struct Packing {
    /// What was written since the last flush.
    pub(super) bytes: Vec<u8>,
    zlib: ZlibEncoder<Vec<u8>>,
}

impl Packing {
    /// Begins with what is said in words.
    pub(super) fn of(json: &[u8]) -> io::Result<Self> {
        let mut bytes = MAGIC.to_vec();
        unsigned(&mut bytes, json.len() as u64);
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::new(LEVEL));
        zlib.write_all(&bytes)?;
        zlib.write_all(json)?;
        bytes.clear();
        Ok(Self { bytes, zlib })
    }

    /// Packs what was written if it is much, so that not all of it is in memory.
    #[inline]
    pub(super) fn flush_much(&mut self) -> io::Result<()> {
        const MUCH: usize = 64 << 10;
        match self.bytes.len() {
            MUCH.. => self.flush(),
            _ => Ok(()),
        }
    }

    /// Packs what was written.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.zlib.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    /// All of it.
    pub(super) fn finish(mut self) -> io::Result<Vec<u8>> {
        self.flush()?;
        self.zlib.finish()
    }
}
