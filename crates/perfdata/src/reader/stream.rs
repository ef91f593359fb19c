//! [`Stream`]: the records of a recording as one range of offsets, whatever files they lie in.
//!
//! In a plain file an offset is the file's own. Further files of a directory follow after it;
//! what was compressed counts as if it were not. [`Stream::location`] says where an offset is in
//! the user's terms.

use super::bytes::Bytes;
use crate::FileLocation;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// One file's share of the stream.
#[derive(Debug)]
pub(super) struct Part {
    /// Its offsets in the stream.
    pub(super) range: Range<u64>,
    pub(super) bytes: Arc<Bytes>,
    /// Where in `bytes` the range starts.
    pub(super) at: u64,
    /// Its name in a directory.
    pub(super) name: Option<String>,
    /// Whether the data of AUXTRACE and TRACING_DATA records lies after them.
    pub(super) has_payloads: bool,
    /// Where records came from, if they were compressed.
    pub(super) origins: Vec<Origin>,
    /// More was promised than is there.
    pub(super) is_cut: bool,
}

/// From an offset of the stream on, records come from one place of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// Offset in the stream.
    pub(super) from: u64,
    /// Offset in the file: of the compressed record, or of the first of a run of plain ones.
    pub(super) file_offset: u64,
    pub(super) is_compressed: bool,
}

/// All parts, in order.
#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) parts: Vec<Part>,
}

impl Stream {
    pub(super) fn range(&self) -> Range<u64> {
        let start = self.parts.first().map_or(0, |part| part.range.start);
        let end = self.parts.last().map_or(start, |part| part.range.end);
        start..end
    }

    /// The part that an offset lies in.
    pub(super) fn part_at(&self, offset: u64) -> Option<&Part> {
        let at = self.parts.partition_point(|part| part.range.end <= offset);
        self.parts.get(at)
    }

    /// Where an offset is, in the user's terms.
    pub(super) fn location(&self, offset: u64) -> FileLocation {
        let Some(part) = self.part_at(offset).or(self.parts.last()) else {
            return FileLocation {
                offset,
                ..FileLocation::default()
            };
        };
        let file = part.name.clone();
        let after = part.origins.partition_point(|origin| origin.from <= offset);
        match part.origins.get(after.wrapping_sub(1)) {
            None => FileLocation {
                file,
                offset: offset - part.range.start + part.at,
                unpacked: None,
            },
            Some(origin) if origin.is_compressed => FileLocation {
                file,
                offset: origin.file_offset,
                unpacked: Some(offset - origin.from),
            },
            Some(origin) => FileLocation {
                file,
                offset: origin.file_offset + (offset - origin.from),
                unpacked: None,
            },
        }
    }
}

impl Part {
    /// Fills as much of `window` as this part has from `offset` on.
    pub(super) fn read(&self, window: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = usize::try_from(self.range.end.saturating_sub(offset)).unwrap_or(usize::MAX);
        let len = left.min(window.len());
        let window = window.get_mut(..len).unwrap_or_default();
        self.bytes
            .read_at(window, offset - self.range.start + self.at)
    }
}
