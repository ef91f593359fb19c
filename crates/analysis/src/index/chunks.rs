//! Ranges of the file that threads read, each from the start of a record.

use rprof_abi::{RawRecord, RecordKind};
use rprof_perfdata::{Reader, file_kind};
use std::ops::{Range, RangeInclusive};

/// Bytes of a chunk: enough to be worth a thread's while, few enough for all threads to share.
const CHUNK: RangeInclusive<u64> = 512 << 10..=4 << 20;

/// Chunks of a long recording.
const CHUNKS: u64 = 64;

/// Where chunks may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    Anywhere,
    /// Where the recorder had written all rings (FINISHED_ROUND).
    AfterRounds,
}

/// Cuts the file into ranges that threads read.
pub(crate) struct Chunks {
    cut: Cut,
    /// Bytes of each, at least.
    len: u64,
    starts: Vec<u64>,
    end: u64,
    /// The newest time of a sample before each chunk but the first.
    newest_ns: Vec<u64>,
    newest: u64,
    at_round: bool,
}

impl Chunks {
    pub(crate) fn new(cut: Cut, data: &Range<u64>) -> Self {
        let share = (data.end - data.start) / CHUNKS;
        Self {
            cut,
            len: share.clamp(*CHUNK.start(), *CHUNK.end()),
            starts: Vec::new(),
            end: 0,
            newest_ns: Vec::new(),
            newest: 0,
            at_round: false,
        }
    }

    /// Takes one record.
    #[inline]
    pub(crate) fn take(&mut self, reader: &Reader, offset: u64, raw: RawRecord<'_>) {
        let may_cut = self.cut == Cut::Anywhere || self.at_round;
        let starts = match self.starts.last() {
            None => true,
            Some(&start) => may_cut && offset - start >= self.len,
        };
        if starts {
            if !self.starts.is_empty() {
                self.newest_ns.push(self.newest);
            }
            self.starts.push(offset);
        }
        self.end = offset + raw.len_bytes() as u64;
        if self.cut == Cut::AfterRounds {
            self.at_round = raw.kind == file_kind::FINISHED_ROUND;
            if raw.kind == RecordKind::SAMPLE {
                self.newest = self.newest.max(time_of(reader, raw).unwrap_or(0));
            }
        }
    }

    /// The ranges, and if they are whole rounds the newest time up to the end of each.
    pub(crate) fn finish(mut self) -> (Vec<Range<u64>>, Vec<u64>) {
        let ends = self.starts.iter().skip(1).copied().chain([self.end]);
        let starts = self.starts.iter().copied();
        let chunks = starts.zip(ends).map(|(start, end)| start..end).collect();
        self.newest_ns.push(self.newest);
        let newest_ns = match self.cut {
            Cut::Anywhere => Vec::new(),
            Cut::AfterRounds => self.newest_ns,
        };
        (chunks, newest_ns)
    }
}

fn time_of(reader: &Reader, raw: RawRecord<'_>) -> Option<u64> {
    let event = reader.events().get(reader.event_of(raw)?)?;
    event.layout.sample_time(raw)
}
