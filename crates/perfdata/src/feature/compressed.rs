//! COMPRESSED: how the records of COMPRESSED and COMPRESSED2 are compressed.

use super::section::DescribedObject;
use rprof_abi::wire;

wire! {
    /// The section.
    ///
    /// Source: `write_compressed()`, tools/perf/util/header.c (v6.16).
    #[derive(Copy)]
    pub struct Compression in "compression" {
        /// Version of the section; perf writes 0.
        pub version: u32,
        /// Algorithm: see [`Self::ZSTD`].
        pub kind: u32 as Number named "type",
        /// Level, from 1 to 22.
        pub level: u32,
        /// How many times smaller the records are, rounded.
        pub ratio: u32,
        /// Bytes that one compressed record decompresses to, at most.
        pub mmap_len: u32,
    }
}

impl DescribedObject for Compression {}

impl Compression {
    /// [`Self::kind`] of Zstandard, the only one that perf knows (`PERF_COMP_ZSTD`).
    pub const ZSTD: u32 = 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ORDERS, bytes, u32s};
    use rprof_abi::{Cursor, Wire};

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
            assert_eq!(
                Compression::parse(&mut Cursor::new(&section, endian)),
                Ok(expected)
            );
            let encoded = bytes(endian, |encoder| expected.encode(encoder));
            assert_eq!(encoded, section);
            assert!(Compression::parse(&mut Cursor::new(&section[..19], endian)).is_err());
        }
    }
}
