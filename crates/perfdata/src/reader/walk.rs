//! Walking records in windows.

use super::Reader;
use super::stream::Part;
use crate::{Error, Warning, file_kind};
use rprof_abi::{Cursor, Endian, RawRecord, RecordHeader};
use std::io;
use std::ops::Range;

/// Whether a walk goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the next record.
    On,
    /// No further.
    Stop,
}

/// Bytes read at a time. A window always holds at least one whole record (64 KiB at most).
const WINDOW: usize = 1 << 20;

/// Why a walk ended early, at this offset of the stream.
#[derive(Debug)]
pub(super) enum Trouble {
    /// In the middle of a record.
    Cut(u64),
    /// No record can start here.
    Bad(u64, String),
}

impl Reader {
    /// Calls `visit` with offset and record for each record that starts in `range` (which must
    /// start at a record), in the file's order. Where no record can be found any more, a warning
    /// says so; in a directory the next file is gone on with.
    ///
    /// # Errors
    /// [`Error::Io`] if reading fails.
    pub fn walk(
        &self,
        range: Range<u64>,
        mut visit: impl FnMut(u64, RawRecord<'_>) -> Step,
    ) -> Result<Vec<Warning>, Error> {
        let mut warnings = Vec::new();
        for part in &self.stream.parts {
            let start = range.start.max(part.range.start);
            let end = range.end.min(part.range.end);
            let is_last = range.end >= part.range.end;
            if start >= end && !(is_last && part.is_cut) {
                continue;
            }
            let mut stopped = false;
            let trouble = walk_part(part, self.endian, start..end, |offset, raw| {
                let step = visit(offset, raw);
                stopped = step == Step::Stop;
                step
            });
            let trouble = trouble.map_err(|source| self.io_error(source))?;
            if stopped {
                break;
            }
            let at = |offset| self.stream.location(offset);
            match trouble {
                Some(Trouble::Cut(offset)) => warnings.push(Warning::Cut { at: at(offset) }),
                Some(Trouble::Bad(offset, what)) => warnings.push(Warning::BadRecord {
                    at: at(offset),
                    what,
                }),
                None if part.is_cut && is_last => {
                    warnings.push(Warning::Cut {
                        at: at(part.range.end),
                    });
                }
                None => {}
            }
        }
        Ok(warnings)
    }
}

impl Reader {
    /// The one record that starts at an offset of a walk, read into `buffer`; `None` if there is
    /// no whole record.
    ///
    /// # Errors
    /// [`Error::Io`] if reading fails.
    pub fn record_at<'b>(
        &self,
        offset: u64,
        buffer: &'b mut Vec<u8>,
    ) -> Result<Option<RawRecord<'b>>, Error> {
        let Some(part) = self.stream.part_at(offset) else {
            return Ok(None);
        };
        let mut head = [0; RecordHeader::LEN];
        let read = |window: &mut [u8]| {
            let got = part.read(window, offset);
            got.map_err(|source| self.io_error(source))
        };
        read(&mut head)?;
        let Ok(header) = RecordHeader::parse(&head, self.endian) else {
            return Ok(None);
        };
        buffer.resize(usize::from(header.size), 0);
        let got = read(buffer)?;
        let whole = buffer.get(..got).unwrap_or_default();
        Ok(RawRecord::parse(whole, self.endian).ok())
    }
}

/// Walks the records of one part that start in `range`.
pub(super) fn walk_part(
    part: &Part,
    endian: Endian,
    range: Range<u64>,
    mut visit: impl FnMut(u64, RawRecord<'_>) -> Step,
) -> io::Result<Option<Trouble>> {
    let end = part.range.end;
    let mut window = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let want = (end - at).min(WINDOW as u64);
        window.resize(usize::try_from(want).unwrap_or(WINDOW), 0);
        let got = part.read(&mut window, at)?;
        let start = at;
        let mut rest = window.get(..got).unwrap_or_default();
        while at < range.end {
            let record = match next_record(rest, endian) {
                Found::Record(record) => record,
                Found::Nothing if at > start => break,
                Found::Nothing => return Ok(Some(Trouble::Cut(at))),
                Found::Bad(what) => return Ok(Some(Trouble::Bad(at, what))),
            };
            let payload = if part.has_payloads {
                payload_len(record, endian)
            } else {
                0
            };
            if visit(at, record) == Step::Stop {
                return Ok(None);
            }
            let len = (record.len_bytes() as u64).saturating_add(payload);
            if len > end - at {
                return Ok(Some(Trouble::Cut(at)));
            }
            at += len;
            rest = usize::try_from(len)
                .ok()
                .and_then(|len| rest.get(len..))
                .unwrap_or_default();
        }
    }
    Ok(None)
}

pub(super) enum Found<'w> {
    Record(RawRecord<'w>),
    /// Not all of it is there.
    Nothing,
    Bad(String),
}

/// The record at the front of some bytes.
pub(super) fn next_record(rest: &[u8], endian: Endian) -> Found<'_> {
    match RawRecord::parse(rest, endian) {
        Ok(record) => Found::Record(record),
        Err(error) if rest.len() >= RecordHeader::LEN => match RecordHeader::parse(rest, endian) {
            Ok(_) => Found::Nothing,
            Err(_) => Found::Bad(error.to_string()),
        },
        Err(_) => Found::Nothing,
    }
}

/// Bytes that follow some records without being part of them.
pub(super) fn payload_len(record: RawRecord<'_>, endian: Endian) -> u64 {
    let mut cursor = Cursor::new(record.body, endian);
    match record.kind {
        file_kind::AUXTRACE => cursor.u64("aux size").unwrap_or(0),
        file_kind::HEADER_TRACING_DATA => {
            u64::from(cursor.u32("tracing data size").unwrap_or(0)).next_multiple_of(8)
        }
        _ => 0,
    }
}
