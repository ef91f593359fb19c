//! Records of the file's own kinds, decoded: one file per family.
//!
//! They come from perf and simpleperf, not from the kernel: their layout depends on no event, and
//! no id fields follow their bodies.

mod aux;
mod bpf;
mod event;
mod maps;
mod simpleperf;
mod stat;
#[cfg(test)]
mod tests;
mod time;
mod update;

pub use aux::{Auxtrace, AuxtraceError, AuxtraceInfo};
pub use bpf::{BpfMetadata, BpfVariable};
pub use event::{EventType, GuestId, HeaderAttr, IdIndexEntry};
pub use maps::{CpuMap, ThreadMapEntry};
pub use simpleperf::{
    SimpleperfCallchain, SimpleperfDso, SimpleperfEventId, SimpleperfRecord,
    SimpleperfSymbolRecord, SimpleperfUnwindingResult,
};
pub use stat::{Stat, StatConfigTerm, StatRound};
pub use time::{ShortCounter, TimeConv};
pub use update::{EventUpdate, Update};

use crate::feature::{BuildIdEntry, SectionItem};
use crate::{FeatureId, file_kind};
use rprof_abi::{Cursor, Endian, Fields, RawRecord, Value, WireError};

/// A record of one of the file's own kinds ([`file_kind`]), decoded.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FileRecord<'a> {
    /// An event with its ids.
    HeaderAttr(Box<HeaderAttr>),
    /// Name of an event.
    HeaderEventType(EventType<'a>),
    /// Tracepoint formats follow the record.
    HeaderTracingData {
        /// Bytes of them, padded to a multiple of 8 in the file.
        len_bytes: u32,
    },
    /// A build id.
    HeaderBuildId(BuildIdEntry),
    /// One pass over all rings is written.
    FinishedRound,
    /// Ids of events.
    IdIndex(Vec<IdIndexEntry>),
    /// For the decoder of AUX data.
    AuxtraceInfo(AuxtraceInfo),
    /// AUX data follows the record.
    Auxtrace(Auxtrace),
    /// AUX data could not be decoded.
    AuxtraceError(AuxtraceError<'a>),
    /// Threads that were recorded.
    ThreadMap(Vec<ThreadMapEntry<'a>>),
    /// CPUs that were recorded.
    CpuMap(CpuMap<'a>),
    /// How perf stat counted.
    StatConfig(Vec<StatConfigTerm>),
    /// A count of perf stat.
    Stat(Stat),
    /// The counts of one interval are written.
    StatRound(StatRound),
    /// Something of an event.
    EventUpdate(EventUpdate<'a>),
    /// Time stamp counter against the clock.
    TimeConv(TimeConv),
    /// A feature section: see [`crate::Feature::parse`].
    HeaderFeature {
        /// Which.
        id: FeatureId,
        /// Its bytes. The last of these records is empty, with a number beyond all features.
        section: &'a [u8],
    },
    /// Records, compressed; of COMPRESSED2 without its padding.
    Compressed(&'a [u8]),
    /// Records of what already ran are written.
    FinishedInit,
    /// How a BPF program describes itself.
    BpfMetadata(BpfMetadata<'a>),
    /// One of simpleperf's own.
    Simpleperf(SimpleperfRecord<'a>),
    /// A kind that is not decoded here, as it came.
    Unknown(RawRecord<'a>),
}

impl<'a> FileRecord<'a> {
    /// Decodes a record.
    ///
    /// # Errors
    /// [`WireError`] if the body is shorter than its kind or its counts need.
    pub fn parse(raw: RawRecord<'a>, endian: Endian) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(raw.body, endian);
        let cursor = &mut cursor;
        Ok(match raw.kind {
            file_kind::HEADER_ATTR => Self::HeaderAttr(Box::new(HeaderAttr::parse(cursor)?)),
            file_kind::HEADER_EVENT_TYPE => Self::HeaderEventType(EventType::parse(cursor)?),
            file_kind::HEADER_TRACING_DATA => Self::HeaderTracingData {
                len_bytes: cursor.u32("tracing data")?,
            },
            file_kind::HEADER_BUILD_ID => Self::HeaderBuildId(BuildIdEntry::parse(raw, endian)?),
            file_kind::FINISHED_ROUND => Self::FinishedRound,
            file_kind::ID_INDEX => Self::IdIndex(IdIndexEntry::parse_all(cursor)?),
            file_kind::AUXTRACE_INFO => Self::AuxtraceInfo(AuxtraceInfo::parse(cursor)?),
            file_kind::AUXTRACE => Self::Auxtrace(Auxtrace::parse(cursor)?),
            file_kind::AUXTRACE_ERROR => Self::AuxtraceError(AuxtraceError::parse(cursor)?),
            file_kind::THREAD_MAP => Self::ThreadMap(ThreadMapEntry::parse_all(cursor)?),
            file_kind::CPU_MAP => Self::CpuMap(CpuMap::parse(cursor)?),
            file_kind::STAT_CONFIG => Self::StatConfig(StatConfigTerm::parse_all(cursor)?),
            file_kind::STAT => Self::Stat(Stat::parse(cursor)?),
            file_kind::STAT_ROUND => Self::StatRound(StatRound::parse(cursor)?),
            file_kind::EVENT_UPDATE => Self::EventUpdate(EventUpdate::parse(cursor)?),
            file_kind::TIME_CONV => Self::TimeConv(TimeConv::parse(cursor)?),
            file_kind::HEADER_FEATURE => Self::HeaderFeature {
                id: FeatureId(u32::try_from(cursor.u64("feature")?).unwrap_or(u32::MAX)),
                section: cursor.rest(),
            },
            file_kind::COMPRESSED => Self::Compressed(raw.body),
            file_kind::COMPRESSED2 => {
                let len = cursor.u64("compressed data")?;
                Self::Compressed(cursor.bytes(len, "compressed data")?)
            }
            file_kind::FINISHED_INIT => Self::FinishedInit,
            file_kind::BPF_METADATA => Self::BpfMetadata(BpfMetadata::parse(cursor)?),
            kind => match SimpleperfRecord::parse(kind, cursor)? {
                Some(record) => Self::Simpleperf(record),
                None => Self::Unknown(raw),
            },
        })
    }

    /// Says the fields of the record's body.
    pub fn visit(&self, fields: &mut dyn Fields) {
        match self {
            Self::HeaderAttr(record) => record.visit(fields),
            Self::HeaderEventType(record) => record.visit(fields),
            Self::HeaderTracingData { len_bytes } => {
                fields.field("len_bytes", Value::Unsigned((*len_bytes).into()));
            }
            Self::HeaderBuildId(entry) => entry.visit(fields),
            Self::FinishedRound | Self::FinishedInit => {}
            Self::IdIndex(entries) => fields.list("entries", entries, |fields, entry| {
                fields.object("", |fields| entry.visit(fields));
            }),
            Self::AuxtraceInfo(record) => record.visit(fields),
            Self::Auxtrace(record) => record.visit(fields),
            Self::AuxtraceError(record) => record.visit(fields),
            Self::ThreadMap(threads) => fields.list("threads", threads, |fields, thread| {
                fields.object("", |fields| thread.visit(fields));
            }),
            Self::CpuMap(map) => map.visit(fields),
            Self::StatConfig(terms) => fields.list("terms", terms, |fields, term| {
                fields.object("", |fields| term.visit(fields));
            }),
            Self::Stat(record) => record.visit(fields),
            Self::StatRound(record) => record.visit(fields),
            Self::EventUpdate(record) => record.visit(fields),
            Self::TimeConv(record) => record.visit(fields),
            Self::HeaderFeature { id, section } => {
                fields.field("feature", Value::Unsigned(id.0.into()));
                fields.field("name", Value::Text(id.name().as_bytes()));
                fields.field("len_bytes", Value::Unsigned(section.len() as u64));
            }
            Self::Compressed(data) => {
                fields.field("len_bytes", Value::Unsigned(data.len() as u64));
            }
            Self::BpfMetadata(record) => record.visit(fields),
            Self::Simpleperf(record) => record.visit(fields),
            Self::Unknown(raw) => fields.field("body", Value::Bytes(raw.body)),
        }
    }
}
