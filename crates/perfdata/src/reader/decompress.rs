//! Compressed recordings (`perf record -z`), decompressed into a stream of plain records.
//!
//! The compressed records of a file hold one zstd stream whose frame never ends (perf flushes, and
//! does not close it), and a record may begin in one of them and end in the next. Source:
//! tools/perf/util/zstd.c and `perf_session__process_compressed_event` (v6.1); COMPRESSED2 since
//! v6.16.

use super::bytes::Spool;
use super::records::{Found, Step, Trouble, next_record, walk_part};
use super::stream::{Origin, Part};
use crate::file_record::FileRecord;
use crate::{Warning, file_kind};
use rprof_abi::{Endian, RawRecord};
use rprof_untrusted::Budget;
use std::io;
use std::sync::Arc;
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// What a compressed record may decompress to in a file that does not say it (killed recorders write
/// no COMPRESSED section): longer than rings are as a rule.
pub(super) const DEFAULT_LIMIT: usize = 64 << 20;

/// How to decompress.
#[derive(Clone, Copy)]
pub(super) struct How<'b> {
    pub(super) endian: Endian,
    /// Where the offsets of what is decompressed start.
    pub(super) base: u64,
    /// The most that one compressed record may decompress to, bytes.
    pub(super) limit: usize,
    /// What all of them may.
    pub(super) budget: &'b Budget,
}

/// What was decompressed of one part, and what could not be.
pub(super) struct Decompressed {
    pub(super) part: Part,
    pub(super) warnings: Vec<Warning>,
}

struct Decompressor<'b> {
    endian: Endian,
    limit: usize,
    /// `None` once the stream is damaged.
    decoder: Option<Decoder<'static>>,
    spool: Spool,
    origins: Vec<Origin>,
    /// The beginning of a record that ends in a later one.
    pending: Vec<u8>,
    base: u64,
    budget: &'b Budget,
}

/// Decompresses a part.
pub(super) fn decompress(
    part: &Part,
    how: How<'_>,
    location: impl Fn(u64) -> crate::FileLocation,
) -> io::Result<Decompressed> {
    let How {
        endian,
        base,
        limit,
        budget,
    } = how;
    let mut decompressor = Decompressor {
        endian,
        limit,
        decoder: Some(Decoder::new()?),
        spool: Spool::default(),
        origins: Vec::new(),
        pending: Vec::new(),
        base,
        budget,
    };
    let mut warnings = Vec::new();
    let mut failed = None;
    let trouble = walk_part(part, endian, part.range.clone(), |offset, raw| {
        match decompressor.take(location(offset).offset, raw) {
            Ok(None) => {}
            Ok(Some(what)) => warnings.push(Warning::BadCompressed {
                at: location(offset),
                what,
            }),
            Err(error) => {
                failed = Some(error);
                return Step::Stop;
            }
        }
        Step::On
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    match trouble {
        Some(Trouble::Bad(offset, what)) => warnings.push(Warning::BadRecord {
            at: location(offset),
            what,
        }),
        Some(Trouble::Cut(offset)) => warnings.push(Warning::Cut {
            at: location(offset),
        }),
        None if !decompressor.pending.is_empty() || part.is_cut => warnings.push(Warning::Cut {
            at: location(part.range.end),
        }),
        None => {}
    }
    let len = decompressor.spool.len();
    Ok(Decompressed {
        part: Part {
            range: base..base + len,
            bytes: Arc::new(decompressor.spool.finish()?),
            at: 0,
            name: part.name.clone(),
            has_payloads: false,
            origins: decompressor.origins,
            is_cut: false,
        },
        warnings,
    })
}

impl Decompressor<'_> {
    /// Takes one record of the file; says what is wrong with it, if something is.
    fn take(&mut self, file_offset: u64, raw: RawRecord<'_>) -> io::Result<Option<String>> {
        let is_compressed = matches!(raw.kind, file_kind::COMPRESSED | file_kind::COMPRESSED2);
        let compressed = match is_compressed.then(|| FileRecord::parse(raw, self.endian)) {
            Some(Ok(FileRecord::Compressed(compressed))) => compressed.bytes,
            Some(Ok(FileRecord::Compressed2(compressed))) => compressed.0,
            Some(Err(error)) => return Ok(Some(self.give_up(error.to_string()))),
            _ => {
                self.note_origin(file_offset, is_compressed);
                let mut record = Vec::with_capacity(raw.len_bytes());
                if raw.encode(&mut record, self.endian).is_ok() {
                    self.spool.push(&record)?;
                }
                return Ok(None);
            }
        };
        self.note_origin(file_offset, is_compressed);
        self.decompress(compressed)
    }

    /// Records that follow come from here.
    fn note_origin(&mut self, file_offset: u64, is_compressed: bool) {
        let from = self.base + self.spool.len();
        // Of a run of plain records the first is enough.
        if let Some(last) = self.origins.last()
            && !last.is_compressed
            && !is_compressed
            && file_offset.checked_sub(last.file_offset) == Some(from - last.from)
        {
            return;
        }
        self.origins.push(Origin {
            from,
            file_offset,
            is_compressed,
        });
    }

    /// Keeps the records that `compressed` holds. They are taken window by window, so that memory does
    /// not follow what a few bytes may decompress to.
    fn decompress(&mut self, compressed: &[u8]) -> io::Result<Option<String>> {
        let mut input = InBuffer::around(compressed);
        let mut window = vec![0; 256 << 10];
        let mut n_unpacked = 0;
        // Without a decoder the stream was given up.
        while let Some(decoder) = &mut self.decoder {
            let mut output = OutBuffer::around(&mut window[..]);
            if let Err(error) = decoder.run(&mut input, &mut output) {
                return Ok(Some(self.give_up(error.to_string())));
            }
            let got = output.as_slice();
            // A full window may have more after it, though all input is taken.
            let is_done = input.pos() == compressed.len() && got.len() < output.capacity();
            n_unpacked += got.len();
            if self.budget.spool(got.len() as u64).is_err() {
                let most = self.budget.limits().spool;
                let what = format!("all records decompress to more than --max-spool {most}");
                return Ok(Some(self.give_up(what)));
            }
            self.pending.extend_from_slice(got);
            if let Some(what) = self.keep_whole_records()? {
                return Ok(Some(what));
            }
            if n_unpacked > self.limit {
                let what = format!("decompresses to more than {} bytes", self.limit);
                return Ok(Some(self.give_up(what)));
            }
            if is_done {
                break;
            }
        }
        Ok(None)
    }

    /// Moves the whole records of the pending bytes to the spool.
    fn keep_whole_records(&mut self) -> io::Result<Option<String>> {
        let mut whole = 0;
        let bad = loop {
            let rest = self.pending.get(whole..).unwrap_or_default();
            match next_record(rest, self.endian) {
                Found::Record(record) => whole += record.len_bytes(),
                Found::Nothing => break None,
                Found::Bad(what) => break Some(what.to_string()),
            }
        };
        self.spool
            .push(self.pending.get(..whole).unwrap_or_default())?;
        self.pending.drain(..whole);
        Ok(bad.map(|what| self.give_up(what)))
    }

    fn give_up(&mut self, what: String) -> String {
        self.decoder = None;
        self.pending.clear();
        what
    }
}
