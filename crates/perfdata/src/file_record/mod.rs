//! Records of the file's own kinds, decoded: one file per family. A new kind is its file (with its
//! `mod` and `use` below) and one line of the table in `kinds.rs`.
//!
//! They come from perf and simpleperf, not from the kernel: their layout depends on no event, and
//! no id fields follow their bodies.

mod aux;
pub(crate) mod body;
mod bpf;
mod data;
mod event;
mod maps;
mod schedstat;
mod simpleperf;
mod stat;
#[cfg(test)]
mod tests;
mod time;
mod update;

pub use aux::{Auxtrace, AuxtraceError, AuxtraceInfo};
pub use bpf::{BpfMetadata, BpfVariable};
pub use data::{Data, DataOfLen32, DataOfLen64, HeaderFeature, HeaderTracingData};
pub use event::{EventType, GuestId, HeaderAttr, IdIndexEntry};
pub use maps::{CpuMap, ThreadMapEntry};
pub use schedstat::{CpuCounts, SchedstatCpu, SchedstatDomain};
pub use simpleperf::{
    SimpleperfCallchain, SimpleperfDso, SimpleperfEventId, SimpleperfNote, SimpleperfSymbolRecord,
    SimpleperfUnwindingResult,
};
pub use stat::{Stat, StatConfigTerm, StatRound};
pub use time::{ShortCounter, TimeConv};
pub use update::{EventUpdate, Update};

use crate::feature::BuildIdEntry;
use crate::file_kind;
use crate::kinds::with_file_kinds;
use body::FileBody;
use rprof_abi::{Cursor, Endian, Fields, RawRecord, Value, WireError};

macro_rules! records {
    ($($number:literal $kind:ident $(=> $variant:ident($body:ty))?, $doc:literal;)*) => {
        /// A record of one of the file's own kinds ([`file_kind`]), decoded.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum FileRecord<'a> {
            $($(#[doc = $doc] $variant($body),)?)*
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
                Ok(match raw.kind {
                    $($(file_kind::$kind => {
                        Self::$variant(<$body>::parse_body(&mut cursor, raw.misc)?)
                    })?)*
                    _ => Self::Unknown(raw),
                })
            }

            /// Names the fields of the record's body.
            pub fn visit(&self, fields: &mut dyn Fields) {
                match self {
                    $($(Self::$variant(body) => body.name_fields(fields),)?)*
                    Self::Unknown(raw) => fields.field("body", Value::Bytes(raw.body)),
                }
            }

            /// Checks what must hold of a kind that is described by its fields.
            #[cfg(test)]
            fn check_description(kind: RecordKind, bytes: &'a [u8], endian: Endian) {
                match kind {
                    $($(file_kind::$kind => <$body>::check_description(bytes, endian),)?)*
                    _ => {}
                }
            }
        }
    };
}

with_file_kinds!(records);

#[cfg(test)]
use rprof_abi::RecordKind;
