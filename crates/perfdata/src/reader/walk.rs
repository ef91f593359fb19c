//! Walking records in windows.

use super::Reader;
use super::records::{
    Found, MAX_RECORD, Records, Step, Trouble, WINDOW, next_record, payload_len, walk_part_windows,
};
use super::stream::Part;
use crate::{Error, Warning};
use rprof_abi::RawRecord;
use std::io;
use std::ops::Range;

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
            let walk = walk_part_windows(part, self.endian, range, |records| {
                let step = visit(records);
                stopped = step == Step::Stop;
                step
            });
            walk.map(|walk| {
                if stopped {
                    Walked::Stopped
                } else {
                    Walked::Through(walk.trouble)
                }
            })
        })
    }

    /// Walks what lies in a range of each part, and says what is wrong there.
    pub(super) fn for_each_part(
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
            let walked = walk(part, start..end).map_err(Error::io(&self.path))?;
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
    /// Bytes after a record of a walk that belong to it, and are skipped with it.
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
            let got = got.map_err(Error::io(&self.path))?;
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
pub(super) enum Walked {
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
            let got = got.map_err(Error::io(&self.path))?;
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
