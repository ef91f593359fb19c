//! Samples in order of time, in batches that are small whatever the size of the recording.
//!
//! Recorders write all rings in rounds: what is older than the newest record of one round is
//! complete at the end of the next. A batch is some rounds; what may still have something before
//! it is carried over to the next one. Without rounds, one sorted list orders the whole
//! recording: 24 bytes a sample.
//!
//! Source: tools/perf/util/ordered-events.c (v6.1), `OE_FLUSH__ROUND`.

use super::query::Query;
use crate::Error;
use crate::locations::TaskName;
use crate::recording::Recording;
use crate::samples::{DecodedSample, IgnoredSamples};
use rprof_abi::{Endian, RawRecord, Record, RecordHeader, RecordKind, SampleId};
use rprof_machine::Key;
use rprof_perfdata::{Step, file_kind};
use std::ops::Range;

/// Samples in a batch of a recording without rounds.
const BATCH: usize = 1 << 14;

/// Bytes that end such a batch sooner: with their stacks, samples have 64 KiB each.
const BATCH_BYTES: usize = 4 << 20;

/// A member of a group, of which one sample stands for all, or one of several samples that were derived from a record: its
/// event, and what it counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MemberSample {
    event: usize,
    period: u64,
    /// Its number, if it was derived from the record.
    derived: Option<u32>,
}

/// One sample of a batch; the order of its fields is the order of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SampleInOrder {
    /// When it was taken.
    time_ns: u64,
    /// Where the walk found its record.
    offset: u64,
    /// Its position in `members`, for members of groups; or what else it is.
    member: u32,
    /// Where in the batch its record is.
    at: u32,
}

const NO_MEMBER: u32 = u32::MAX;
const NO_SAMPLE: u32 = u32::MAX - 1;

/// What stands in the order of time.
#[derive(Debug)]
pub(super) enum Item<'r> {
    /// A sample.
    Sample(DecodedSample<'r>),
    /// Another record.
    Record(OrderedRecord<'r>),
}

/// A record that is no sample, in the order of time.
#[derive(Debug)]
pub struct OrderedRecord<'r> {
    /// As it is in the file.
    pub raw: RawRecord<'r>,
    /// What it says; `Unknown` for the end of a round.
    pub record: Record<'r>,
    /// Whose record it is, where and when, as far as was recorded.
    pub id: SampleId,
    /// Number of its event in the recording.
    pub event: usize,
    /// Its place in the order.
    pub key: Key,
}

impl<'r> OrderedRecord<'r> {
    /// Decodes the record at an offset; `None` if it is damaged or of no known event.
    fn of(recording: &Recording<'_>, offset: u64, raw: RawRecord<'r>) -> Option<Self> {
        if raw.kind == file_kind::FINISHED_ROUND {
            return Some(Self::of_round(raw, recording.index.key(None, offset)));
        }
        let event = recording.reader.event_of(raw)?;
        let layout = &recording.reader.events().get(event)?.layout;
        let (record, id) = Record::parse(raw, layout).ok()?;
        Some(Self {
            raw,
            record,
            id,
            event,
            key: recording.index.key(id.time_ns, offset),
        })
    }

    /// Whether it is the end of a round, which has neither CPU nor time.
    fn is_round(&self) -> bool {
        self.raw.kind == file_kind::FINISHED_ROUND
    }

    /// The end of a round, which is of no event.
    fn of_round(raw: RawRecord<'r>, key: Key) -> Self {
        Self {
            raw,
            record: Record::Unknown(raw),
            id: SampleId::default(),
            event: usize::MAX,
            key,
        }
    }

    /// What a task is called at the record's time.
    pub fn task(&self, recording: &Recording<'_>, tid: i32) -> TaskName {
        TaskName::at(&recording.index.history, tid, self.key)
    }
}

impl SampleInOrder {
    fn of_record(record: &OrderedRecord<'_>) -> Self {
        Self {
            time_ns: record.key.time_ns,
            offset: record.key.offset,
            member: NO_SAMPLE,
            at: 0,
        }
    }
}

/// Samples in their order, with the bytes of their records.
#[derive(Debug, Default)]
pub(super) struct OrderedBatch {
    /// In order.
    pub(super) entries: Vec<SampleInOrder>,
    bytes: Vec<u8>,
    members: Vec<MemberSample>,
}

impl OrderedBatch {
    /// What some entries are. User chains that came later are not joined.
    pub(super) fn items(
        &self,
        query: &Query<'_>,
        entries: Range<usize>,
    ) -> impl Iterator<Item = Item<'_>> {
        let recording = query.recording;
        let entries = self.entries.get(entries).unwrap_or_default().iter();
        entries.filter_map(|entry| {
            let record = self.bytes.get(entry.at as usize..)?;
            let raw = RawRecord::parse(record, recording.reader.endian()).ok()?;
            if entry.member == NO_SAMPLE {
                return OrderedRecord::of(recording, entry.offset, raw).map(Item::Record);
            }
            let (source, member) = (&query.samples.source, self.member(entry));
            if let Some(number) = member.and_then(|member| member.derived) {
                let derived = source.derived_at((entry.offset, raw), number);
                return derived.map(Item::Sample);
            }
            let mut decoded = source.sample_at(entry.offset, raw)?;
            if let Some(member) = member {
                decoded.counts(member.event, member.period);
            }
            Some(Item::Sample(decoded))
        })
    }

    /// The samples among them.
    pub(super) fn samples(
        &self,
        query: &Query<'_>,
        entries: Range<usize>,
    ) -> impl Iterator<Item = DecodedSample<'_>> {
        let items = self.items(query, entries);
        items.filter_map(|item| match item {
            Item::Sample(sample) => Some(sample),
            Item::Record(_) => None,
        })
    }

    /// What a member of a group has of the record.
    fn member(&self, entry: &SampleInOrder) -> Option<MemberSample> {
        self.members.get(entry.member as usize).copied()
    }

    fn note_member(&mut self, decoded: &DecodedSample<'_>) -> u32 {
        if !decoded.is_member {
            return NO_MEMBER;
        }
        self.members.push(MemberSample {
            event: decoded.event,
            period: decoded.head.period.unwrap_or(0),
            derived: decoded.stretch.map(|(number, _)| number),
        });
        as_u32(self.members.len() - 1)
    }

    fn push(&mut self, decoded: &DecodedSample<'_>, endian: Endian) {
        let entry = SampleInOrder {
            time_ns: decoded.key.time_ns,
            offset: decoded.key.offset,
            member: self.note_member(decoded),
            at: 0,
        };
        if self.add(entry) {
            // It was a record before: it is not too long.
            let _ = decoded.raw.encode(&mut self.bytes, endian);
        }
    }

    /// Adds a record that is no sample.
    fn push_record(&mut self, record: &OrderedRecord<'_>, endian: Endian) {
        let entry = SampleInOrder::of_record(record);
        if self.add(entry) {
            let _ = record.raw.encode(&mut self.bytes, endian);
        }
    }

    /// Adds an entry; returns whether its record is to follow: the members of a group share one.
    fn add(&mut self, entry: SampleInOrder) -> bool {
        let last = self.entries.last();
        let shared = last.filter(|last| last.offset == entry.offset);
        let at = shared.map(|last| last.at);
        self.entries.push(SampleInOrder {
            at: at.unwrap_or(as_u32(self.bytes.len())),
            ..entry
        });
        at.is_none()
    }

    /// Takes out what is newer than `limit`, as the start of the next batch.
    fn split_newer(&mut self, limit: u64, endian: Endian) -> Self {
        // Each CPU's samples are in order already: such runs are merged.
        self.entries.sort();
        let kept = self.entries.partition_point(|entry| entry.time_ns <= limit);
        let mut rest = Self::default();
        for entry in self.entries.drain(kept..) {
            let start = entry.at as usize;
            let record = self.bytes.get(start..).unwrap_or_default();
            let len = RecordHeader::parse(record, endian).map_or(0, |header| header.size);
            let member = match self.members.get(entry.member as usize) {
                Some(member) => {
                    rest.members.push(*member);
                    as_u32(rest.members.len() - 1)
                }
                None => entry.member,
            };
            let end = start + usize::from(len);
            if rest.add(SampleInOrder { member, ..entry }) {
                rest.bytes
                    .extend_from_slice(self.bytes.get(start..end).unwrap_or_default());
            }
        }
        rest
    }
}

/// Batches are far smaller than 4 GiB: see `RecordingIndex::has_rounds`.
fn as_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Calls `visit` for each record of a chunk whose kind is wanted and that the filter accepts; samples are not.
fn for_each_record(
    query: &Query<'_>,
    chunk: usize,
    wants: impl Fn(RecordKind) -> bool,
    mut visit: impl FnMut(&OrderedRecord<'_>),
) -> Result<(), Error> {
    let (recording, samples) = (query.recording, &query.samples);
    let Some(range) = recording.index.chunks.get(chunk) else {
        return Ok(());
    };
    recording.reader.walk_windows(range.clone(), |records| {
        for (offset, raw) in records.filter(|(_, raw)| wants(raw.kind)) {
            let record = OrderedRecord::of(recording, offset, raw);
            if let Some(record) = record
                && (record.is_round() || samples.filter.accepts_cpu(record.id.cpu))
                && (record.is_round() || samples.has_time(record.id.time_ns))
            {
                visit(&record);
            }
        }
        Step::On
    })?;
    Ok(())
}

/// Which records are passed on beside samples, and in which order.
#[derive(Clone, Copy)]
pub(super) struct WantedRecords<'w> {
    /// By kind, if any are.
    pub(super) kinds: Option<&'w dyn Fn(RecordKind) -> bool>,
    /// All as they are in the file, whatever their times.
    pub(super) in_file_order: bool,
}

/// Passes all samples on in their order, with the other records that are wanted; stops when `deliver` returns false.
pub(super) fn for_each_batch(
    query: &Query<'_>,
    records: WantedRecords<'_>,
    mut deliver: impl FnMut(OrderedBatch) -> bool,
) -> Result<IgnoredSamples, Error> {
    let index = &query.recording.index;
    let wants = records.kinds;
    let by_time = index.has_times && !records.in_file_order;
    if by_time && !index.has_rounds() {
        return by_index(query, wants, deliver);
    }
    let endian = query.recording.reader.endian();
    let mut ignored = IgnoredSamples::default();
    let mut batch = OrderedBatch::default();
    for chunk in 0..index.chunks.len() {
        let decoded = query
            .samples
            .for_each_sample(chunk, |decoded| batch.push(decoded, endian))?;
        ignored.add(decoded);
        if let Some(wants) = wants {
            for_each_record(query, chunk, wants, |record| {
                batch.push_record(record, endian)
            })?;
        }
        // Without times, the file's order is the order.
        let rest = if by_time {
            let limit = chunk
                .checked_sub(1)
                .and_then(|before| index.newest_ns.get(before));
            batch.split_newer(limit.copied().unwrap_or(0), endian)
        } else {
            // Members of a group have one offset: they stay as they are.
            batch.entries.sort_by_key(|entry| entry.offset);
            OrderedBatch::default()
        };
        if !deliver(std::mem::replace(&mut batch, rest)) {
            return Ok(ignored);
        }
    }
    batch.entries.sort();
    deliver(batch);
    Ok(ignored)
}

/// Orders a recording without rounds by a list of all its samples.
fn by_index(
    query: &Query<'_>,
    wants: Option<&dyn Fn(RecordKind) -> bool>,
    mut deliver: impl FnMut(OrderedBatch) -> bool,
) -> Result<IgnoredSamples, Error> {
    let mut all = OrderedBatch::default();
    let mut ignored = IgnoredSamples::default();
    for chunk in 0..query.recording.index.chunks.len() {
        let decoded = query.samples.for_each_sample(chunk, |decoded| {
            let member = all.note_member(decoded);
            all.entries.push(SampleInOrder {
                time_ns: decoded.key.time_ns,
                offset: decoded.key.offset,
                member,
                at: 0,
            });
        })?;
        ignored.add(decoded);
        if let Some(wants) = wants {
            for_each_record(query, chunk, wants, |record| {
                all.entries.push(SampleInOrder::of_record(record));
            })?;
        }
    }
    all.entries.sort_unstable();
    let endian = query.recording.reader.endian();
    let mut scratch = Vec::new();
    let mut batch = OrderedBatch::default();
    for entry in &all.entries {
        let Some(raw) = query
            .recording
            .reader
            .record_at(entry.offset, &mut scratch)?
        else {
            continue;
        };
        let member = match all.member(entry) {
            Some(member) => {
                batch.members.push(member);
                as_u32(batch.members.len() - 1)
            }
            None => entry.member,
        };
        if batch.add(SampleInOrder { member, ..*entry }) {
            let _ = raw.encode(&mut batch.bytes, endian);
        }
        let is_full = batch.entries.len() >= BATCH || batch.bytes.len() >= BATCH_BYTES;
        if is_full && !deliver(std::mem::take(&mut batch)) {
            return Ok(ignored);
        }
    }
    deliver(batch);
    Ok(ignored)
}
