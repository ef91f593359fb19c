//! Records decoded: one file per family of kinds, each with `parse` and `encode`.
//!
//! Every non-sample record may end with a [`SampleId`]; [`Record::parse`] splits it off first,
//! so that names without a fixed length end where they should.

mod aux;
mod bpf;
mod cgroup;
mod deferred;
mod lost;
mod mmap;
mod namespaces;
mod read;
mod switch;
mod task;

pub use aux::{Aux, AuxOutputHwId, ItraceStart};
pub use bpf::{BpfEvent, Ksymbol, TextPoke};
pub use cgroup::Cgroup;
pub use deferred::CallchainDeferred;
pub use lost::{Lost, LostSamples, Throttle};
pub use mmap::{BuildIdBytes, FileIdentity, Inode, Mmap, Mmap2};
pub use namespaces::{Namespace, Namespaces};
pub use read::ReadRecord;
pub use switch::SwitchCpuWide;
pub use task::{Comm, Task};

use crate::{
    Cursor, Encoder, Fields, RawRecord, RecordKind, Sample, SampleId, SampleLayout, Value,
    WireError,
};

/// A record, decoded. Names are bytes: the kernel does not promise UTF-8.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Record<'a> {
    /// A mapping.
    Mmap(Mmap<'a>),
    /// Records lost.
    Lost(Lost),
    /// A name.
    Comm(Comm<'a>),
    /// A thread ended.
    Exit(Task),
    /// Event stopped.
    Throttle(Throttle),
    /// Event goes on.
    Unthrottle(Throttle),
    /// A thread was made.
    Fork(Task),
    /// Values of an ending task.
    Read(ReadRecord<'a>),
    /// A sample.
    Sample(Box<Sample<'a>>),
    /// A mapping with identity.
    Mmap2(Mmap2<'a>),
    /// AUX data.
    Aux(Aux),
    /// Instruction trace began.
    ItraceStart(ItraceStart),
    /// Samples lost.
    LostSamples(LostSamples),
    /// Context switch; direction is in `misc`.
    Switch,
    /// Context switch with the other task.
    SwitchCpuWide(SwitchCpuWide),
    /// Namespaces.
    Namespaces(Namespaces<'a>),
    /// Kernel symbol.
    Ksymbol(Ksymbol<'a>),
    /// BPF program.
    BpfEvent(BpfEvent),
    /// Control group.
    Cgroup(Cgroup<'a>),
    /// Kernel code changed.
    TextPoke(TextPoke<'a>),
    /// AUX hardware id.
    AuxOutputHwId(AuxOutputHwId),
    /// User chain of earlier samples.
    CallchainDeferred(CallchainDeferred<'a>),
    /// A kind this crate does not know, as it came.
    Unknown(RawRecord<'a>),
}

impl<'a> Record<'a> {
    /// Decodes a record of an event with this layout, and the id fields behind it.
    ///
    /// # Errors
    /// [`WireError`] if the body is shorter than its kind or its counts need.
    pub fn parse(raw: RawRecord<'a>, layout: &SampleLayout) -> Result<(Self, SampleId), WireError> {
        if raw.kind == RecordKind::SAMPLE {
            let sample = layout.parse_sample(raw.body)?;
            let id = sample.sample_id();
            return Ok((Self::Sample(Box::new(sample)), id));
        }
        if raw.kind.name().is_none() {
            // Whether id fields follow a body of unknown shape is not known either.
            return Ok((Self::Unknown(raw), SampleId::default()));
        }
        let (body, id) = layout.split_trailer(raw)?;
        let mut cursor = Cursor::new(body, layout.endian());
        let cursor = &mut cursor;
        let record = match raw.kind {
            RecordKind::MMAP => Self::Mmap(Mmap::parse(cursor)?),
            RecordKind::LOST => Self::Lost(Lost::parse(cursor)?),
            RecordKind::COMM => Self::Comm(Comm::parse(cursor)?),
            RecordKind::EXIT => Self::Exit(Task::parse(cursor)?),
            RecordKind::THROTTLE => Self::Throttle(Throttle::parse(cursor)?),
            RecordKind::UNTHROTTLE => Self::Unthrottle(Throttle::parse(cursor)?),
            RecordKind::FORK => Self::Fork(Task::parse(cursor)?),
            RecordKind::READ => Self::Read(ReadRecord::parse(cursor, layout)?),
            RecordKind::MMAP2 => Self::Mmap2(Mmap2::parse(cursor, raw.misc, layout)?),
            RecordKind::AUX => Self::Aux(Aux::parse(cursor)?),
            RecordKind::ITRACE_START => Self::ItraceStart(ItraceStart::parse(cursor)?),
            RecordKind::LOST_SAMPLES => Self::LostSamples(LostSamples::parse(cursor)?),
            RecordKind::SWITCH => Self::Switch,
            RecordKind::SWITCH_CPU_WIDE => Self::SwitchCpuWide(SwitchCpuWide::parse(cursor)?),
            RecordKind::NAMESPACES => Self::Namespaces(Namespaces::parse(cursor)?),
            RecordKind::KSYMBOL => Self::Ksymbol(Ksymbol::parse(cursor)?),
            RecordKind::BPF_EVENT => Self::BpfEvent(BpfEvent::parse(cursor)?),
            RecordKind::CGROUP => Self::Cgroup(Cgroup::parse(cursor)?),
            RecordKind::TEXT_POKE => Self::TextPoke(TextPoke::parse(cursor)?),
            RecordKind::AUX_OUTPUT_HW_ID => Self::AuxOutputHwId(AuxOutputHwId::parse(cursor)?),
            RecordKind::CALLCHAIN_DEFERRED => {
                Self::CallchainDeferred(CallchainDeferred::parse(cursor)?)
            }
            _ => Self::Unknown(raw),
        };
        Ok((record, id))
    }

    /// The kind that the header of this record carries.
    pub fn kind(&self) -> RecordKind {
        match self {
            Self::Mmap(_) => RecordKind::MMAP,
            Self::Lost(_) => RecordKind::LOST,
            Self::Comm(_) => RecordKind::COMM,
            Self::Exit(_) => RecordKind::EXIT,
            Self::Throttle(_) => RecordKind::THROTTLE,
            Self::Unthrottle(_) => RecordKind::UNTHROTTLE,
            Self::Fork(_) => RecordKind::FORK,
            Self::Read(_) => RecordKind::READ,
            Self::Sample(_) => RecordKind::SAMPLE,
            Self::Mmap2(_) => RecordKind::MMAP2,
            Self::Aux(_) => RecordKind::AUX,
            Self::ItraceStart(_) => RecordKind::ITRACE_START,
            Self::LostSamples(_) => RecordKind::LOST_SAMPLES,
            Self::Switch => RecordKind::SWITCH,
            Self::SwitchCpuWide(_) => RecordKind::SWITCH_CPU_WIDE,
            Self::Namespaces(_) => RecordKind::NAMESPACES,
            Self::Ksymbol(_) => RecordKind::KSYMBOL,
            Self::BpfEvent(_) => RecordKind::BPF_EVENT,
            Self::Cgroup(_) => RecordKind::CGROUP,
            Self::TextPoke(_) => RecordKind::TEXT_POKE,
            Self::AuxOutputHwId(_) => RecordKind::AUX_OUTPUT_HW_ID,
            Self::CallchainDeferred(_) => RecordKind::CALLCHAIN_DEFERRED,
            Self::Unknown(raw) => raw.kind,
        }
    }

    /// Names the fields of the body, in its order.
    pub fn visit(&self, fields: &mut dyn Fields) {
        match self {
            Self::Mmap(record) => record.visit(fields),
            Self::Lost(record) => record.visit(fields),
            Self::Comm(record) => record.visit(fields),
            Self::Exit(record) | Self::Fork(record) => record.visit(fields),
            Self::Throttle(record) | Self::Unthrottle(record) => record.visit(fields),
            Self::Read(record) => record.visit(fields),
            Self::Sample(record) => record.visit(fields),
            Self::Mmap2(record) => record.visit(fields),
            Self::Aux(record) => record.visit(fields),
            Self::ItraceStart(record) => record.visit(fields),
            Self::LostSamples(record) => record.visit(fields),
            Self::SwitchCpuWide(record) => record.visit(fields),
            Self::Namespaces(record) => record.visit(fields),
            Self::Ksymbol(record) => record.visit(fields),
            Self::BpfEvent(record) => record.visit(fields),
            Self::Cgroup(record) => record.visit(fields),
            Self::TextPoke(record) => record.visit(fields),
            Self::AuxOutputHwId(record) => record.visit(fields),
            Self::CallchainDeferred(record) => record.visit(fields),
            Self::Switch => {}
            Self::Unknown(raw) => fields.field("body", Value::Bytes(raw.body)),
        }
    }

    /// Appends the whole record, header first, with the id fields that `layout` asks for.
    ///
    /// # Errors
    /// [`WireError::TooLong`] if it exceeds a record's limit.
    pub fn encode(
        &self,
        misc: crate::Misc,
        id: &SampleId,
        layout: &SampleLayout,
        out: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        let mut body = Vec::new();
        let mut encoder = Encoder::new(&mut body, layout.endian());
        let with_trailer = self.encode_body(&mut encoder, layout);
        if with_trailer {
            layout.encode_trailer(id, &mut encoder);
        }
        RawRecord {
            kind: self.kind(),
            misc,
            body: &body,
        }
        .encode(out, layout.endian())
    }

    /// Appends the body; returns whether the id fields follow it.
    fn encode_body(&self, encoder: &mut Encoder<'_>, layout: &SampleLayout) -> bool {
        match self {
            Self::Mmap(record) => record.encode(encoder),
            Self::Lost(record) => record.encode(encoder),
            Self::Comm(record) => record.encode(encoder),
            Self::Exit(record) | Self::Fork(record) => record.encode(encoder),
            Self::Throttle(record) | Self::Unthrottle(record) => record.encode(encoder),
            Self::Read(record) => record.encode(encoder, layout),
            Self::Sample(sample) => {
                layout.encode_sample(sample, encoder);
                return false;
            }
            Self::Mmap2(record) => record.encode(encoder),
            Self::Aux(record) => record.encode(encoder),
            Self::ItraceStart(record) => record.encode(encoder),
            Self::LostSamples(record) => record.encode(encoder),
            Self::Switch => {}
            Self::SwitchCpuWide(record) => record.encode(encoder),
            Self::Namespaces(record) => record.encode(encoder),
            Self::Ksymbol(record) => record.encode(encoder),
            Self::BpfEvent(record) => record.encode(encoder),
            Self::Cgroup(record) => record.encode(encoder),
            Self::TextPoke(record) => record.encode(encoder),
            Self::AuxOutputHwId(record) => record.encode(encoder),
            Self::CallchainDeferred(record) => record.encode(encoder),
            Self::Unknown(raw) => {
                encoder.bytes(raw.body);
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests;
