//! COMPRESSED: how the records of COMPRESSED and COMPRESSED2 are compressed.

use super::section::SectionObject;
use rprof_abi::{Cursor, Encoder, Endian, Fields, Value, WireError};

/// The section.
///
/// Source: `write_compressed()`, tools/perf/util/header.c (v6.16).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    /// Version of the section; perf writes 0.
    pub version: u32,
    /// Algorithm: see [`Self::ZSTD`].
    pub kind: u32,
    /// Level, from 1 to 22.
    pub level: u32,
    /// How many times smaller the records are, rounded.
    pub ratio: u32,
    /// Bytes that one compressed record decompresses to, at most.
    pub mmap_len: u32,
}

impl Compression {
    /// [`Self::kind`] of Zstandard, the only one that perf knows (`PERF_COMP_ZSTD`).
    pub const ZSTD: u32 = 1;

    /// Appends the section.
    pub fn encode(self, encoder: &mut Encoder<'_>) {
        let words = [
            self.version,
            self.kind,
            self.level,
            self.ratio,
            self.mmap_len,
        ];
        words.into_iter().for_each(|word| encoder.u32(word));
    }
}

impl SectionObject for Compression {
    fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(section, endian);
        Ok(Self {
            version: cursor.u32("compression")?,
            kind: cursor.u32("compression")?,
            level: cursor.u32("compression")?,
            ratio: cursor.u32("compression")?,
            mmap_len: cursor.u32("compression")?,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("version", Value::Unsigned(self.version.into()));
        fields.field("type", Value::Unsigned(self.kind.into()));
        fields.field("level", Value::Unsigned(self.level.into()));
        fields.field("ratio", Value::Unsigned(self.ratio.into()));
        fields.field("mmap_len", Value::Unsigned(self.mmap_len.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ORDERS, bytes, u32s};

    #[test]
    fn compression_is_read_in_both_byte_orders() {
        for endian in ORDERS {
            let section = bytes(endian, |encoder| {
                u32s(&[0, 1, 3, 13, 528_384], encoder);
            });
            let expected = Compression {
                version: 0,
                kind: Compression::ZSTD,
                level: 3,
                ratio: 13,
                mmap_len: 528_384,
            };
            assert_eq!(Compression::parse(&section, endian), Ok(expected));
            let encoded = bytes(endian, |encoder| expected.encode(encoder));
            assert_eq!(encoded, section);
            assert!(Compression::parse(&section[..19], endian).is_err());
        }
    }
}
