//! Walking records in windows.

use super::Reader;
use super::read_ahead::walk_part_reading_ahead;
use super::stream::Part;
use crate::{Error, Section, Warning, file_kind};
use rprof_abi::{Cursor, Endian, Misc, RawRecord, RecordHeader, RecordKind, WireError};
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

/// Bytes read at a time: what a core's own cache holds, and any record of the kernel's kinds.
const WINDOW: usize = 256 << 10;

/// The longest record that is read at all: simpleperf's own may be longer than the kernel's.
const MAX_WINDOW: usize = 1 << 20;

/// The longest record of the kernel's kinds.
pub(super) const MAX_RECORD: usize = 1 << 16;

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
        self.walk_windows(range, |records| {
            for (offset, raw) in records {
                if visit(offset, raw) == Step::Stop {
                    return Step::Stop;
                }
            }
            Step::On
        })
    }

    /// As [`Self::walk`], with many records at a time: those of a window that was read at once.
    ///
    /// # Errors
    /// [`Error::Io`] if reading fails.
    pub fn walk_windows(
        &self,
        range: Range<u64>,
        mut visit: impl FnMut(&mut Records<'_>) -> Step,
    ) -> Result<Vec<Warning>, Error> {
        self.for_each_part(range, |part, range| {
            let mut stopped = false;
            let trouble = walk_part_windows(part, self.endian, range, |records| {
                let step = visit(records);
                stopped = step == Step::Stop;
                step
            });
            trouble.map(|trouble| match stopped {
                true => Walked::Stopped,
                false => Walked::Through(trouble),
            })
        })
    }

    /// As [`Self::walk`], over all records, with a thread that reads ahead.
    ///
    /// # Errors
    /// [`Error::Io`] if reading fails.
    pub fn walk_all(
        &self,
        mut visit: impl FnMut(u64, RawRecord<'_>),
    ) -> Result<Vec<Warning>, Error> {
        self.for_each_part(self.data(), |part, range| {
            walk_part_reading_ahead(part, self.endian, range, &mut visit).map(Walked::Through)
        })
    }

    /// Walks what lies in a range of each part, and says what is wrong there.
    fn for_each_part(
        &self,
        range: Range<u64>,
        mut walk: impl FnMut(&Part, Range<u64>) -> io::Result<Walked>,
    ) -> Result<Vec<Warning>, Error> {
        let mut warnings = Vec::new();
        for part in &self.stream.parts {
            let start = range.start.max(part.range.start);
            let end = range.end.min(part.range.end);
            let is_last = range.end >= part.range.end;
            if start >= end && !(is_last && part.is_cut) {
                continue;
            }
            let walked = walk(part, start..end).map_err(|source| self.io_error(source))?;
            let at = |offset| self.stream.location(offset);
            match walked {
                Walked::Stopped => break,
                Walked::Through(Some(Trouble::Cut(offset))) => {
                    warnings.push(Warning::Cut { at: at(offset) });
                }
                Walked::Through(Some(Trouble::Bad(offset, what))) => {
                    warnings.push(Warning::BadRecord {
                        at: at(offset),
                        what,
                    });
                }
                Walked::Through(None) if part.is_cut && is_last => {
                    warnings.push(Warning::Cut {
                        at: at(part.range.end),
                    });
                }
                Walked::Through(None) => {}
            }
        }
        Ok(warnings)
    }
}

impl Reader {
    /// Bytes behind a record of a walk that belong to it, and are passed over with it.
    pub fn payload_len(&self, raw: RawRecord<'_>) -> u64 {
        payload_len(raw, self.endian)
    }

    /// Appends those bytes; `false` if the file does not have all of them.
    pub(crate) fn read_payload(
        &self,
        offset: u64,
        raw: RawRecord<'_>,
        out: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        let mut at = offset + raw.len_bytes() as u64;
        let Some(part) = self.stream.part_at(offset) else {
            return Ok(false);
        };
        if !part.has_payloads {
            return Ok(true);
        }
        let end = at.saturating_add(self.payload_len(raw));
        if end > part.range.end {
            return Ok(false);
        }
        let mut window = Vec::new();
        while at < end {
            let want = (end - at).min(WINDOW as u64);
            window.resize(usize::try_from(want).unwrap_or(WINDOW), 0);
            let got = part.read(&mut window, at);
            let got = got.map_err(|source| self.io_error(source))?;
            if got == 0 {
                return Ok(false);
            }
            out.extend_from_slice(window.get(..got).unwrap_or_default());
            at += got as u64;
        }
        Ok(true)
    }
}

/// How the walk of a part ended.
enum Walked {
    /// The visitor had enough.
    Stopped,
    /// At the end of its range, or where something is wrong.
    Through(Option<Trouble>),
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
        // Most records are far shorter than the first window.
        for window in [1 << 12, MAX_RECORD] {
            buffer.resize(window, 0);
            let got = part.read(buffer, offset);
            let got = got.map_err(|source| self.io_error(source))?;
            buffer.truncate(got);
            if matches!(next_record(buffer, self.endian), Found::Record(_)) {
                break;
            }
        }
        Ok(match next_record(buffer, self.endian) {
            Found::Record(record) => Some(record),
            Found::Nothing | Found::Bad(_) => None,
        })
    }
}

/// Walks the records of one part that start in `range`.
pub(super) fn walk_part(
    part: &Part,
    endian: Endian,
    range: Range<u64>,
    mut visit: impl FnMut(u64, RawRecord<'_>) -> Step,
) -> io::Result<Option<Trouble>> {
    walk_part_windows(part, endian, range, |records| {
        for (offset, raw) in records {
            if visit(offset, raw) == Step::Stop {
                return Step::Stop;
            }
        }
        Step::On
    })
}

fn walk_part_windows(
    part: &Part,
    endian: Endian,
    range: Range<u64>,
    mut visit: impl FnMut(&mut Records<'_>) -> Step,
) -> io::Result<Option<Trouble>> {
    let end = part.range.end;
    let mut window = Vec::new();
    let mut at = range.start;
    let mut wanted = WINDOW;
    while at < range.end {
        let want = (end - at).min(wanted as u64);
        window.resize(usize::try_from(want).unwrap_or(wanted), 0);
        let got = part.read(&mut window, at)?;
        let rest = window.get(..got).unwrap_or_default();
        let mut records = Records::new(part, endian, rest, at..range.end);
        if visit(&mut records) == Step::Stop {
            return Ok(None);
        }
        // What was not looked at is passed over.
        records.by_ref().for_each(drop);
        if records.trouble.is_some() {
            return Ok(records.trouble);
        }
        if records.at == at && wanted == MAX_WINDOW {
            return Ok(Some(Trouble::Cut(at)));
        }
        // A record that is longer than the window gets one that holds it.
        wanted = if records.at == at { MAX_WINDOW } else { WINDOW };
        at = records.at;
    }
    Ok(None)
}

/// The records of one window, with their offsets.
#[derive(Debug)]
pub struct Records<'w> {
    rest: &'w [u8],
    at: u64,
    /// No record that starts here or later is wanted.
    stop: u64,
    /// Where the part ends.
    end: u64,
    endian: Endian,
    has_payloads: bool,
    trouble: Option<Trouble>,
}

impl<'w> Records<'w> {
    /// Those that start in `range`, whose start is the first of `rest`.
    pub(super) fn new(part: &Part, endian: Endian, rest: &'w [u8], range: Range<u64>) -> Self {
        Self {
            rest,
            at: range.start,
            stop: range.end,
            end: part.range.end,
            endian,
            has_payloads: part.has_payloads,
            trouble: None,
        }
    }

    /// Where the next record begins, what the window has of it, and what is wrong.
    pub(super) fn into_rest(self) -> (u64, &'w [u8], Option<Trouble>) {
        (self.at, self.rest, self.trouble)
    }
}

impl<'w> Iterator for Records<'w> {
    type Item = (u64, RawRecord<'w>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.stop || self.trouble.is_some() {
            return None;
        }
        let record = match next_record(self.rest, self.endian) {
            Found::Record(record) => record,
            Found::Nothing => return None,
            Found::Bad(what) => {
                self.trouble = Some(Trouble::Bad(self.at, what));
                return None;
            }
        };
        let mut len = record.len_bytes() as u64;
        if self.has_payloads {
            len = len.saturating_add(payload_len(record, self.endian));
        }
        let at = self.at;
        if len > self.end - at {
            self.trouble = Some(Trouble::Cut(at));
            return Some((at, record));
        }
        self.at += len;
        let rest = usize::try_from(len)
            .ok()
            .and_then(|len| self.rest.get(len..));
        self.rest = rest.unwrap_or_default();
        Some((at, record))
    }
}

pub(super) enum Found<'w> {
    Record(RawRecord<'w>),
    /// Not all of it is there.
    Nothing,
    Bad(String),
}

/// The record at the front of some bytes.
pub(super) fn next_record(rest: &[u8], endian: Endian) -> Found<'_> {
    let mut cursor = Cursor::new(rest, endian);
    let mut header = || {
        Ok::<_, WireError>(RecordHeader {
            kind: RecordKind(cursor.u32("record header")?),
            misc: Misc(cursor.u16("record header")?),
            size: cursor.u16("record header")?,
        })
    };
    let Ok(header) = header() else {
        return Found::Nothing;
    };
    let len = usize::try_from(file_kind::record_len(header)).unwrap_or(usize::MAX);
    if !(RecordHeader::LEN..=MAX_WINDOW).contains(&len) {
        return Found::Bad(format!("{:?} of {len} bytes", header.kind));
    }
    match rest.get(RecordHeader::LEN..len) {
        None => Found::Nothing,
        Some(body) => Found::Record(RawRecord {
            kind: header.kind,
            misc: header.misc,
            body,
        }),
    }
}

/// Bytes that follow some records without being part of them.
pub(super) fn payload_len(record: RawRecord<'_>, endian: Endian) -> u64 {
    let mut cursor = Cursor::new(record.body, endian);
    match record.kind {
        file_kind::AUXTRACE => cursor.u64("aux size").unwrap_or(0),
        file_kind::HEADER_TRACING_DATA => match tracing_data(0, record, endian) {
            Some(section) if section.offset == record.len_bytes() as u64 => {
                section.size.next_multiple_of(8)
            }
            _ => 0,
        },
        _ => 0,
    }
}

/// Where the tracepoint formats of a record at this offset are, if it is of that kind: perf writes
/// them behind the record, simpleperf into it.
pub(super) fn tracing_data(offset: u64, record: RawRecord<'_>, endian: Endian) -> Option<Section> {
    let is_simpleperfs = record.kind == file_kind::SIMPLEPERF_TRACING_DATA;
    if !is_simpleperfs && record.kind != file_kind::HEADER_TRACING_DATA {
        return None;
    }
    let mut cursor = Cursor::new(record.body, endian);
    let size = u64::from(cursor.u32("tracing data size").ok()?);
    let inside = cursor.rest().len() as u64;
    Some(match is_simpleperfs || (1..=inside).contains(&size) {
        true => Section {
            offset: offset + record.len_bytes() as u64 - inside,
            size: size.min(inside),
        },
        false => Section {
            offset: offset + record.len_bytes() as u64,
            size,
        },
    })
}
