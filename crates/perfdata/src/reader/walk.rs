//! Walking records in windows.

use super::Reader;
use crate::{Error, Warning, file_kind};
use rprof_abi::{Cursor, RawRecord, RecordHeader};
use std::ops::Range;
use std::os::unix::fs::FileExt;

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

impl Reader {
    /// Calls `visit` with offset and record for each record that starts in `range` (which must
    /// start at a record), in the file's order. Ends with a warning where no record can be
    /// found any more.
    ///
    /// # Errors
    /// [`Error::Io`] if reading fails.
    pub fn walk(
        &self,
        range: Range<u64>,
        mut visit: impl FnMut(u64, RawRecord<'_>) -> Step,
    ) -> Result<Option<Warning>, Error> {
        let end = self.data().end;
        let mut window = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let want = (end - at).min(WINDOW as u64);
            window.resize(usize::try_from(want).unwrap_or(WINDOW), 0);
            let got = self.read_some(&mut window, at)?;
            let start = at;
            let mut rest = window.get(..got).unwrap_or_default();
            while at < range.end {
                let record = match self.next_record(rest, at) {
                    Found::Record(record) => record,
                    Found::Nothing if at > start => break,
                    Found::Nothing => return Ok(Some(Warning::Cut { offset: at })),
                    Found::Bad(warning) => return Ok(Some(warning)),
                };
                if visit(at, record) == Step::Stop {
                    return Ok(None);
                }
                let len = (record.len_bytes() as u64).saturating_add(self.payload_len(record));
                if len > end - at {
                    return Ok(Some(Warning::Cut { offset: at }));
                }
                at += len;
                rest = usize::try_from(len)
                    .ok()
                    .and_then(|len| rest.get(len..))
                    .unwrap_or_default();
            }
        }
        let promised = self.header.data;
        let cut = promised.size != 0 && promised.end() > end && at >= end;
        Ok(cut.then_some(Warning::Cut { offset: at }))
    }

    fn next_record<'w>(&self, rest: &'w [u8], at: u64) -> Found<'w> {
        match RawRecord::parse(rest, self.endian) {
            Ok(record) => Found::Record(record),
            Err(error) if rest.len() >= RecordHeader::LEN => {
                match RecordHeader::parse(rest, self.endian) {
                    Ok(_) => Found::Nothing,
                    Err(_) => Found::Bad(Warning::BadRecord {
                        offset: at,
                        what: error.to_string(),
                    }),
                }
            }
            Err(_) => Found::Nothing,
        }
    }

    /// Bytes that follow some records without being part of them.
    fn payload_len(&self, record: RawRecord<'_>) -> u64 {
        let mut cursor = Cursor::new(record.body, self.endian);
        match record.kind {
            file_kind::AUXTRACE => cursor.u64("aux size").unwrap_or(0),
            file_kind::HEADER_TRACING_DATA => {
                u64::from(cursor.u32("tracing data size").unwrap_or(0)).next_multiple_of(8)
            }
            _ => 0,
        }
    }

    /// Fills as much of `window` as the file still has.
    fn read_some(&self, window: &mut [u8], at: u64) -> Result<usize, Error> {
        let mut got = 0;
        while let Some(rest) = window.get_mut(got..).filter(|rest| !rest.is_empty()) {
            match self.file.read_at(rest, at + got as u64) {
                Ok(0) => break,
                Ok(n) => got += n,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.io_error(error)),
            }
        }
        Ok(got)
    }
}

enum Found<'w> {
    Record(RawRecord<'w>),
    /// Not all of it is in the window.
    Nothing,
    Bad(Warning),
}
