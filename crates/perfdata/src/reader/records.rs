//! The records of one part of a file, window by window.

use super::stream::Part;
use crate::{Section, file_kind};
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
pub(super) const WINDOW: usize = 256 << 10;

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
    .map(|walk| walk.trouble)
}

/// How far a walk over a part came.
#[derive(Debug)]
pub(super) struct PartWalk {
    /// Where the next record begins.
    pub(super) next: u64,
    /// Why it went no further.
    pub(super) trouble: Option<Trouble>,
}

impl PartWalk {
    fn to(next: u64) -> Self {
        Self {
            next,
            trouble: None,
        }
    }
}

/// As [`walk_part`], with many records at a time.
pub(super) fn walk_part_windows(
    part: &Part,
    endian: Endian,
    range: Range<u64>,
    visit: impl FnMut(&mut Records<'_>) -> Step,
) -> io::Result<PartWalk> {
    walk_in_window(part, endian, range, &mut Vec::new(), visit)
}

/// The same, read into a window that is there.
pub(super) fn walk_in_window(
    part: &Part,
    endian: Endian,
    range: Range<u64>,
    window: &mut Vec<u8>,
    mut visit: impl FnMut(&mut Records<'_>) -> Step,
) -> io::Result<PartWalk> {
    let end = part.range.end;
    let mut at = range.start;
    let mut wanted = WINDOW;
    while at < range.end {
        // Only the last record reaches beyond the range.
        let reach = (range.end - at).saturating_add(MAX_RECORD as u64);
        let is_long = wanted > WINDOW;
        let want = (end - at).min(wanted as u64);
        let want = if is_long { want } else { want.min(reach) };
        let want = usize::try_from(want).unwrap_or(wanted);
        window.resize(window.len().max(want), 0);
        let room = window.get_mut(..want).unwrap_or_default();
        let got = part.read(room, at)?;
        let rest = room.get(..got).unwrap_or_default();
        let mut records = Records::new(part, endian, rest, at..range.end);
        if visit(&mut records) == Step::Stop {
            return Ok(PartWalk::to(records.at));
        }
        // What was not looked at is skipped.
        records.by_ref().for_each(drop);
        if records.trouble.is_some() {
            return Ok(PartWalk {
                next: records.at,
                trouble: records.trouble,
            });
        }
        if records.at == at && wanted == MAX_WINDOW {
            return Ok(PartWalk {
                next: at,
                trouble: Some(Trouble::Cut(at)),
            });
        }
        // A record that is longer than the window gets one that holds it.
        wanted = if records.at == at { MAX_WINDOW } else { WINDOW };
        at = records.at;
    }
    Ok(PartWalk::to(at))
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
                self.trouble = Some(Trouble::Bad(self.at, what.to_string()));
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
    Bad(BadRecord),
}

/// What says that it is a record, and cannot be one.
#[derive(Clone, Copy)]
pub(super) struct BadRecord {
    kind: RecordKind,
    len: usize,
}

impl std::fmt::Display for BadRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} of {} bytes", self.kind, self.len)
    }
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
        return Found::Bad(BadRecord {
            kind: header.kind,
            len,
        });
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
/// them after the record, simpleperf into it.
pub(super) fn tracing_data(offset: u64, record: RawRecord<'_>, endian: Endian) -> Option<Section> {
    let is_simpleperfs = record.kind == file_kind::SIMPLEPERF_TRACING_DATA;
    if !is_simpleperfs && record.kind != file_kind::HEADER_TRACING_DATA {
        return None;
    }
    let mut cursor = Cursor::new(record.body, endian);
    let size = u64::from(cursor.u32("tracing data size").ok()?);
    let inside = cursor.rest().len() as u64;
    Some(if is_simpleperfs || (1..=inside).contains(&size) {
        Section {
            offset: offset + record.len_bytes() as u64 - inside,
            size: size.min(inside),
        }
    } else {
        Section {
            offset: offset + record.len_bytes() as u64,
            size,
        }
    })
}
