//! Records decoded: one file per family of kinds. Each type parses and encodes its body, and names
//! its fields. A new kind is its file (with its `mod` and `use` below) and one line of the table.
//!
//! Every non-sample record may end with a [`SampleId`]; [`Record::parse`] splits it off first,
//! so that names without a fixed length end where they should.

mod aux;
mod body;
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
pub use switch::{Switch, SwitchCpuWide};
pub use task::{Comm, Task};

use crate::{
    Cursor, Encoder, Fields, Misc, RawRecord, RecordKind, Sample, SampleId, SampleLayout, Value,
    WireError,
};
use body::{Body, Context};

macro_rules! records {
    ($($number:literal $kind:ident $(=> $variant:ident($body:ty))?, $doc:literal;)*) => {
        impl RecordKind {
            $(#[doc = $doc] pub const $kind: Self = Self($number);)*

            /// The kernel's name, without its `PERF_RECORD_`; `None` for unknown kinds.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some(stringify!($kind)),)*
                    _ => None,
                }
            }
        }

        /// A record, decoded. Names are bytes: the kernel does not promise UTF-8.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Record<'a> {
            $($(#[doc = $doc] $variant($body),)?)*
            /// A sample.
            Sample(Box<Sample<'a>>),
            /// A kind this crate does not know, as it came.
            Unknown(RawRecord<'a>),
        }

        impl<'a> Record<'a> {
            /// Decodes a body without the id fields; `Unknown` if the table has no type for it.
            fn parse_body(
                raw: RawRecord<'a>,
                cursor: &mut Cursor<'a>,
                context: Context<'_>,
            ) -> Result<Self, WireError> {
                Ok(match raw.kind {
                    $($(RecordKind::$kind => {
                        Self::$variant(<$body>::parse_with(cursor, context)?)
                    })?)*
                    _ => Self::Unknown(raw),
                })
            }

            /// The kind that the header of this record carries.
            pub fn kind(&self) -> RecordKind {
                match self {
                    $($(Self::$variant(_) => RecordKind::$kind,)?)*
                    Self::Sample(_) => RecordKind::SAMPLE,
                    Self::Unknown(raw) => raw.kind,
                }
            }

            /// Bytes that a body of this kind has at least, if the table has a type for it.
            #[cfg(test)]
            fn least_len(kind: RecordKind) -> Option<usize> {
                match kind {
                    $($(RecordKind::$kind => Some(<$body as Body<'_>>::LEAST),)?)*
                    _ => None,
                }
            }

            /// Names the fields of the body, in its order.
            pub fn visit(&self, fields: &mut dyn Fields) {
                match self {
                    $($(Self::$variant(body) => body.name_fields(fields),)?)*
                    Self::Sample(sample) => sample.visit(fields),
                    Self::Unknown(raw) => fields.field("body", Value::Bytes(raw.body)),
                }
            }

            /// Appends the body, without the id fields.
            fn encode_body(&self, encoder: &mut Encoder<'_>, layout: &SampleLayout) {
                match self {
                    $($(Self::$variant(body) => body.encode_with(encoder, layout),)?)*
                    Self::Sample(sample) => layout.encode_sample(sample, encoder),
                    Self::Unknown(raw) => encoder.bytes(raw.body),
                }
            }
        }
    };
}

// Number, the kernel's name, what the body is decoded to.
records! {
    1 MMAP => Mmap(Mmap<'a>), "A mapping (before 3.12, and kernel maps).";
    2 LOST => Lost(Lost), "Records that did not fit into the ring.";
    3 COMM => Comm(Comm<'a>), "A thread got a name.";
    4 EXIT => Exit(Task), "A thread ended.";
    5 THROTTLE => Throttle(Throttle), "An event was throttled for the rest of a tick.";
    6 UNTHROTTLE => Unthrottle(Throttle), "A throttled event resumed.";
    7 FORK => Fork(Task), "A thread or process was made.";
    8 READ => Read(ReadRecord<'a>), "Counter values of an ending task.";
    9 SAMPLE, "A sample.";
    10 MMAP2 => Mmap2(Mmap2<'a>), "A mapping with inode or build id.";
    11 AUX => Aux(Aux), "Data in the AUX area.";
    12 ITRACE_START => ItraceStart(ItraceStart), "Instruction tracing began.";
    13 LOST_SAMPLES => LostSamples(LostSamples), "Samples lost.";
    14 SWITCH => Switch(Switch), "Context switch of this task.";
    15 SWITCH_CPU_WIDE => SwitchCpuWide(SwitchCpuWide), "Context switch on a CPU.";
    16 NAMESPACES => Namespaces(Namespaces<'a>), "Namespaces of a task.";
    17 KSYMBOL => Ksymbol(Ksymbol<'a>), "A kernel symbol came or went.";
    18 BPF_EVENT => BpfEvent(BpfEvent), "A BPF program came or went.";
    19 CGROUP => Cgroup(Cgroup<'a>), "A control group's path.";
    20 TEXT_POKE => TextPoke(TextPoke<'a>), "The kernel changed its code.";
    21 AUX_OUTPUT_HW_ID => AuxOutputHwId(AuxOutputHwId), "Hardware id of an AUX event.";
    22 CALLCHAIN_DEFERRED => CallchainDeferred(CallchainDeferred<'a>), "User call chain of earlier samples.";
}

impl<'a> Record<'a> {
    /// Decodes a record of an event with this layout, and the id fields after it.
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
        let context = Context {
            misc: raw.misc,
            layout,
        };
        let mut cursor = Cursor::new(body, layout.endian());
        Ok((Self::parse_body(raw, &mut cursor, context)?, id))
    }

    /// Appends the whole record, header first, with the id fields that `layout` asks for.
    ///
    /// # Errors
    /// [`WireError::TooLong`] if it exceeds a record's limit.
    pub fn encode(
        &self,
        misc: Misc,
        id: &SampleId,
        layout: &SampleLayout,
        out: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        let mut body = Vec::new();
        let mut encoder = Encoder::new(&mut body, layout.endian());
        self.encode_body(&mut encoder, layout);
        if !matches!(self, Self::Sample(_) | Self::Unknown(_)) {
            layout.encode_trailer(id, &mut encoder);
        }
        RawRecord {
            kind: self.kind(),
            misc,
            body: &body,
        }
        .encode(out, layout.endian())
    }
}

impl std::fmt::Debug for RecordKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "kind {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests;
