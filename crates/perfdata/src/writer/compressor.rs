//! Records as COMPRESSED records: one zstd stream for the whole recording, as perf writes it.
//!
//! Source: `zstd_compress_stream_to_records()`, tools/perf/util/zstd.c (v6.1). The frame is flushed after
//! each piece, and never ended: so all that was written of a recording can be read, whenever it was cut.

use crate::feature::Compression;
use crate::{FeatureId, file_kind};
use rprof_abi::{Encoder, Endian, Misc, RecordHeader, Wire};
use std::io;
use zstd::stream::raw::{CParameter, Encoder as Zstd, InBuffer, Operation, OutBuffer};

/// What one compressed record decompresses to, at most. perf makes room for this and no more.
const MOST_PLAIN: usize = 256 << 10;

/// Bytes of compressed data in a record, at most; perf's 6.16 and later take no longer ones, either.
const MOST_IN_RECORD: usize = 65_528 - RecordHeader::LEN;

/// Of the highest levels: what readers and writers need stays below some 100 MB.
const MOST_WINDOW_LOG: u32 = 23;

/// The levels whose windows are larger.
const HIGHEST_OF_SMALL_WINDOWS: i32 = 19;

/// The stream, and what it came to.
pub(super) struct Compressor {
    zstd: Zstd<'static>,
    level: i32,
    /// Bytes of records before.
    pub(super) plain_len: u64,
    compressed_len: u64,
    /// Compressed data of one record.
    data: Vec<u8>,
}

impl std::fmt::Debug for Compressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("Compressor");
        debug.field("level", &self.level).finish_non_exhaustive()
    }
}

impl Compressor {
    pub(super) fn new(level: i32) -> io::Result<Self> {
        let mut zstd = Zstd::new(level)?;
        if level > HIGHEST_OF_SMALL_WINDOWS {
            zstd.set_parameter(CParameter::WindowLog(MOST_WINDOW_LOG))?;
        }
        Ok(Self {
            zstd,
            level,
            plain_len: 0,
            compressed_len: 0,
            data: vec![0; MOST_IN_RECORD],
        })
    }

    /// Appends whole records, compressed, to `out`.
    pub(super) fn compress(&mut self, records: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let len_before = out.len();
        records
            .chunks(MOST_PLAIN)
            .try_for_each(|piece| self.compress_piece(piece, out))?;
        self.plain_len += records.len() as u64;
        self.compressed_len += (out.len() - len_before) as u64;
        Ok(())
    }

    fn compress_piece(&mut self, piece: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        let mut input = InBuffer::around(piece);
        let mut is_flushed = false;
        while !is_flushed {
            let mut output = OutBuffer::around(&mut self.data[..]);
            while input.pos() < piece.len() && output.pos() < output.capacity() {
                self.zstd.run(&mut input, &mut output)?;
            }
            is_flushed = input.pos() == piece.len() && self.zstd.flush(&mut output)? == 0;
            push(output.as_slice(), out);
        }
        Ok(())
    }

    /// The section that says it.
    pub(super) fn feature(&self) -> (FeatureId, Vec<u8>) {
        let compressed_len = self.compressed_len.max(1);
        let ratio = (self.plain_len + compressed_len / 2) / compressed_len;
        let how = Compression {
            version: 0,
            kind: Compression::ZSTD,
            level: self.level.unsigned_abs(),
            ratio: u32::try_from(ratio).unwrap_or(u32::MAX),
            mmap_len: u32::try_from(MOST_PLAIN).unwrap_or(u32::MAX),
        };
        let mut section = Vec::new();
        how.encode(&mut Encoder::new(&mut section, Endian::NATIVE));
        (FeatureId::COMPRESSED, section)
    }
}

/// Appends a record: without padding, which would be taken for data.
fn push(data: &[u8], out: &mut Vec<u8>) {
    if data.is_empty() {
        return;
    }
    let header = RecordHeader {
        kind: file_kind::COMPRESSED,
        misc: Misc(0),
        size: u16::try_from(RecordHeader::LEN + data.len()).unwrap_or(u16::MAX),
    };
    let mut encoder = Encoder::new(out, Endian::NATIVE);
    header.encode(&mut encoder);
    encoder.bytes(data);
}

#[cfg(test)]
mod tests {
    use super::*;
    use zstd::stream::raw::Decoder;

    /// The data of compressed records.
    fn bodies(mut records: &[u8]) -> Vec<&[u8]> {
        let mut bodies = Vec::new();
        while let [_, _, _, _, _, _, low, high, ..] = *records {
            let size = usize::from(u16::from_ne_bytes([low, high]));
            bodies.push(&records[8..size]);
            records = &records[size..];
        }
        bodies
    }

    /// Bytes that do not get smaller.
    fn noise(len: usize) -> Vec<u8> {
        let mut state = 1u64;
        let next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state.to_le_bytes()[7]
        };
        std::iter::repeat_with(next).take(len).collect()
    }

    #[test]
    fn each_record_decompresses_at_once_to_no_more_than_is_said() {
        for level in [1, 3, 19, 20, 22] {
            let mut compressor = Compressor::new(level).unwrap();
            let all = [vec![7; 600 << 10], noise(300 << 10), vec![1; 8], noise(8)];
            let mut out = Vec::new();
            for records in &all {
                compressor.compress(records, &mut out).unwrap();
            }
            let mut decoder = Decoder::new().unwrap();
            let mut plain = Vec::new();
            // With room for that much, and one call for each record, as perf does it.
            let mut room = vec![0; MOST_PLAIN];
            for body in bodies(&out) {
                let mut input = InBuffer::around(body);
                let mut output = OutBuffer::around(&mut room[..]);
                decoder.run(&mut input, &mut output).unwrap();
                assert_eq!(input.pos(), body.len());
                plain.extend_from_slice(output.as_slice());
            }
            assert!(plain == all.concat(), "level {level}");
            assert_eq!(compressor.plain_len, plain.len() as u64);
        }
    }
}
