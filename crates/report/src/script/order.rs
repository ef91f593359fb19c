//! Samples in order of time, in batches that are small whatever the size of the recording.
//!
//! Recorders write all rings in rounds: what is older than the newest record of one round is
//! complete at the end of the next. A batch is some rounds; what may still have something before
//! it is carried over to the next one. Without rounds, one sorted list orders the whole
//! recording: 24 bytes a sample.
//!
//! Source: tools/perf/util/ordered-events.c (v6.1), `OE_FLUSH__ROUND`.

use crate::Error;
use crate::load::{Context, Seen, Unused};
use rprof_abi::{Endian, RawRecord, RecordHeader};

/// Samples in a batch of a recording without rounds.
const BATCH: usize = 1 << 14;

/// Bytes that end such a batch sooner: with their stacks, samples have 64 KiB each.
const BATCH_BYTES: usize = 4 << 20;

/// A member of a group, of which one sample stands for all: its event, and what it counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) event: usize,
    pub(super) period: Option<u64>,
}

/// One sample of a batch; the order of its fields is the order of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) time_ns: u64,
    /// Where the walk found its record.
    pub(super) offset: u64,
    /// Number of its share, for members of groups.
    share: u32,
    /// Where in the batch its record is.
    at: u32,
}

const NO_SHARE: u32 = u32::MAX;

/// Samples in their order, with the bytes of their records.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) entries: Vec<Entry>,
    bytes: Vec<u8>,
    shares: Vec<Share>,
}

impl Batch {
    /// The record of an entry.
    pub(super) fn record(&self, entry: &Entry, endian: Endian) -> Option<RawRecord<'_>> {
        RawRecord::parse(self.bytes.get(entry.at as usize..)?, endian).ok()
    }

    /// A group member's share of the record.
    pub(super) fn share(&self, entry: &Entry) -> Option<Share> {
        self.shares.get(entry.share as usize).copied()
    }

    fn note_share(&mut self, seen: &Seen<'_>) -> u32 {
        if !seen.is_member {
            return NO_SHARE;
        }
        self.shares.push(Share {
            event: seen.event,
            period: seen.sample.period,
        });
        as_u32(self.shares.len() - 1)
    }

    fn push(&mut self, seen: &Seen<'_>, endian: Endian) {
        let entry = Entry {
            time_ns: seen.key.time_ns,
            offset: seen.key.offset,
            share: self.note_share(seen),
            at: 0,
        };
        if self.add(entry) {
            // It was a record before: it is not too long.
            let _ = seen.raw.encode(&mut self.bytes, endian);
        }
    }

    /// Adds an entry; returns whether its record is to follow: the members of a group share one.
    fn add(&mut self, entry: Entry) -> bool {
        let last = self.entries.last();
        let shared = last.filter(|last| last.offset == entry.offset);
        let at = shared.map(|last| last.at);
        self.entries.push(Entry {
            at: at.unwrap_or(as_u32(self.bytes.len())),
            ..entry
        });
        at.is_none()
    }

    /// Takes out what is newer than `limit`, as the start of the next batch.
    fn split_newer(&mut self, limit: u64, endian: Endian) -> Self {
        self.entries.sort_unstable();
        let kept = self.entries.partition_point(|entry| entry.time_ns <= limit);
        let mut rest = Self::default();
        for entry in self.entries.drain(kept..) {
            let start = entry.at as usize;
            let record = self.bytes.get(start..).unwrap_or_default();
            let len = RecordHeader::parse(record, endian).map_or(0, |header| header.size);
            let share = match self.shares.get(entry.share as usize) {
                Some(share) => {
                    rest.shares.push(*share);
                    as_u32(rest.shares.len() - 1)
                }
                None => NO_SHARE,
            };
            let end = start + usize::from(len);
            if rest.add(Entry { share, ..entry }) {
                rest.bytes
                    .extend_from_slice(self.bytes.get(start..end).unwrap_or_default());
            }
        }
        rest
    }
}

/// Batches are far smaller than 4 GiB: see `Skimmed::has_rounds`.
fn as_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Passes all samples on in their order; stops when `deliver` returns false.
pub(super) fn for_each_batch(
    context: &Context<'_>,
    mut deliver: impl FnMut(Batch) -> bool,
) -> Result<Unused, Error> {
    let skimmed = context.skimmed;
    if skimmed.has_times && !skimmed.has_rounds() {
        return by_index(context, deliver);
    }
    let endian = context.reader.endian();
    let mut unused = Unused::default();
    let mut batch = Batch::default();
    for chunk in 0..skimmed.chunks.len() {
        let seen = context.for_each_sample(chunk, |seen| batch.push(seen, endian))?;
        unused.add(seen);
        // Without times, the file's order is the order.
        let rest = if skimmed.has_times {
            let limit = chunk
                .checked_sub(1)
                .and_then(|before| skimmed.newest_ns.get(before));
            batch.split_newer(limit.copied().unwrap_or(0), endian)
        } else {
            Batch::default()
        };
        if !deliver(std::mem::replace(&mut batch, rest)) {
            return Ok(unused);
        }
    }
    batch.entries.sort_unstable();
    deliver(batch);
    Ok(unused)
}

/// Orders a recording without rounds by a list of all its samples.
fn by_index(
    context: &Context<'_>,
    mut deliver: impl FnMut(Batch) -> bool,
) -> Result<Unused, Error> {
    let mut all = Batch::default();
    let mut unused = Unused::default();
    for chunk in 0..context.skimmed.chunks.len() {
        let seen = context.for_each_sample(chunk, |seen| {
            let share = all.note_share(seen);
            all.entries.push(Entry {
                time_ns: seen.key.time_ns,
                offset: seen.key.offset,
                share,
                at: 0,
            });
        })?;
        unused.add(seen);
    }
    all.entries.sort_unstable();
    let endian = context.reader.endian();
    let mut scratch = Vec::new();
    let mut batch = Batch::default();
    for entry in &all.entries {
        let Some(raw) = context.reader.record_at(entry.offset, &mut scratch)? else {
            continue;
        };
        let share = match all.share(entry) {
            Some(share) => {
                batch.shares.push(share);
                as_u32(batch.shares.len() - 1)
            }
            None => NO_SHARE,
        };
        if batch.add(Entry { share, ..*entry }) {
            let _ = raw.encode(&mut batch.bytes, endian);
        }
        let is_full = batch.entries.len() >= BATCH || batch.bytes.len() >= BATCH_BYTES;
        if is_full && !deliver(std::mem::take(&mut batch)) {
            return Ok(unused);
        }
    }
    deliver(batch);
    Ok(unused)
}
