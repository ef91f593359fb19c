//! Records of simpleperf's own (AOSP, simpleperf/record.h).
//!
//! Their sizes may exceed 65,535 bytes: see [`crate::file_kind::record_len`].

use super::body::{BodyItem, Described, FileBody};
use rprof_abi::format::{Hex, RestLen, Text};
use rprof_abi::{Callchain, Cursor, Fields, Misc, Value, WireError, wire};

wire! {
    /// A file that [`SimpleperfSymbolRecord`] names by number.
    #[derive(Copy)]
    pub struct SimpleperfDso<'a> in "file" {
        /// What it is, as [`crate::feature::SimpleperfFile::kind`].
        pub kind: u64 as Number named "type",
        /// Its number.
        pub id: u64,
        /// Address of its first code, as linked (SVMA).
        pub min_vaddr: u64 as Hex,
        /// Its path.
        pub path: &'a [u8] as Text,
    }

    /// A symbol.
    #[derive(Copy)]
    pub struct SimpleperfSymbolRecord<'a> in "symbol" {
        /// Its address as linked (SVMA).
        pub addr: u64 as Hex,
        /// Bytes.
        pub len: u64,
        /// Number of its file.
        pub dso_id: u64,
        /// Its name.
        pub name: &'a [u8] as Text,
    }

    /// An id of an event.
    #[derive(Copy)]
    pub struct SimpleperfEventId in "event id" {
        /// Which event of the file, counted from 0.
        pub event_idx: u64,
        /// An id in its records.
        pub id: u64,
    }

    /// How unwinding of the sample after it ended.
    #[derive(Copy)]
    pub struct SimpleperfUnwindingResult<'a> in "unwinding result" {
        /// Time of the sample, nanoseconds.
        pub time_ns: u64,
        /// How long unwinding took, nanoseconds.
        pub used_ns: u64,
        /// libunwindstack's error code; before 2020, why it stopped.
        pub code: u64,
        /// Address that it could not read (AVMA), or more about the code.
        pub detail: u64 as Hex,
        /// Where the recorded stack begins (AVMA).
        pub stack_start: u64 as Hex,
        /// Where it ends.
        pub stack_end: u64 as Hex,
        /// Registers, stack and chain, if they were kept.
        pub rest: &'a [u8] as RestLen named "rest_len_bytes",
    }

    /// A note of the recorder.
    #[derive(Copy)]
    pub struct SimpleperfNote<'a> in "note" {
        /// When, nanoseconds.
        pub time_ns: u64,
        /// Its text.
        pub text: &'a [u8] as Text,
    }
}

impl<'a> Described<'a> for SimpleperfDso<'a> {}
impl<'a> Described<'a> for SimpleperfSymbolRecord<'a> {}
impl<'a> Described<'a> for SimpleperfUnwindingResult<'a> {}
impl<'a> Described<'a> for SimpleperfNote<'a> {}

impl BodyItem<'_> for SimpleperfEventId {
    const LIST: &'static str = "ids";
    const COUNT: &'static str = "event id count";
}

/// A call chain that was unwound while recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimpleperfCallchain<'a> {
    /// Process.
    pub pid: i32,
    /// Thread.
    pub tid: i32,
    /// 0 unwound from a recorded stack, 1 in the process; 2 and 3 the same, joined.
    pub kind: u64,
    /// Time of its sample, nanoseconds.
    pub time_ns: u64,
    /// Addresses, innermost first (AVMA).
    pub ips: Callchain<'a>,
    /// Stack pointers of the same frames.
    pub sps: Callchain<'a>,
}

impl<'a> FileBody<'a> for SimpleperfCallchain<'a> {
    fn parse_body(cursor: &mut Cursor<'a>, _: Misc) -> Result<Self, WireError> {
        let what = "call chain";
        let endian = cursor.endian();
        let pid = cursor.i32(what)?;
        let tid = cursor.i32(what)?;
        let kind = cursor.u64(what)?;
        let time_ns = cursor.u64(what)?;
        let len = cursor.u64(what)?.saturating_mul(8);
        Ok(Self {
            pid,
            tid,
            kind,
            time_ns,
            ips: Callchain::from_encoded(cursor.bytes(len, what)?, endian),
            sps: Callchain::from_encoded(cursor.bytes(len, what)?, endian),
        })
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        fields.field("pid", Value::Signed(self.pid.into()));
        fields.field("tid", Value::Signed(self.tid.into()));
        fields.field("type", Value::Unsigned(self.kind));
        fields.field("time_ns", Value::Unsigned(self.time_ns));
        let frames = self.ips.entries().zip(self.sps.entries());
        fields.objects("frames", frames, |fields, (ip, sp)| {
            fields.field("ip", Value::Hex(ip));
            fields.field("sp", Value::Hex(sp));
        });
    }
}
