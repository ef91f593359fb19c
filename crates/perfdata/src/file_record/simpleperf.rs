//! Records of simpleperf's own (AOSP, simpleperf/record.h).
//!
//! Their sizes may exceed 65,535 bytes: see [`crate::file_kind::record_len`].

use super::body::{BodyItem, PlainBody};
use rprof_abi::{Callchain, Cursor, Fields, Value, WireError};

/// A file that [`SimpleperfSymbolRecord`] names by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimpleperfDso<'a> {
    /// What it is, as [`crate::feature::SimpleperfFile::kind`].
    pub kind: u64,
    /// Its number.
    pub id: u64,
    /// Address of its first code, as linked (SVMA).
    pub min_vaddr: u64,
    /// Its path.
    pub path: &'a [u8],
}

/// A symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimpleperfSymbolRecord<'a> {
    /// Its address as linked (SVMA).
    pub addr: u64,
    /// Bytes.
    pub len: u64,
    /// Number of its file.
    pub dso_id: u64,
    /// Its name.
    pub name: &'a [u8],
}

/// An id of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimpleperfEventId {
    /// Which event of the file, counted from 0.
    pub event_idx: u64,
    /// An id in its records.
    pub id: u64,
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

/// How unwinding of the sample behind it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimpleperfUnwindingResult<'a> {
    /// Time of the sample, nanoseconds.
    pub time_ns: u64,
    /// How long unwinding took, nanoseconds.
    pub used_ns: u64,
    /// libunwindstack's error code; before 2020, why it stopped.
    pub code: u64,
    /// Address that it could not read (AVMA), or more about the code.
    pub detail: u64,
    /// Where the recorded stack begins (AVMA).
    pub stack_start: u64,
    /// Where it ends.
    pub stack_end: u64,
    /// Registers, stack and chain, if they were kept.
    pub rest: &'a [u8],
}

/// A note of the recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimpleperfNote<'a> {
    /// When, nanoseconds.
    pub time_ns: u64,
    /// Its text.
    pub text: &'a [u8],
}

impl<'a> PlainBody<'a> for SimpleperfDso<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        Ok(Self {
            kind: cursor.u64("file")?,
            id: cursor.u64("file")?,
            min_vaddr: cursor.u64("file")?,
            path: cursor.c_str(),
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("type", Value::Unsigned(self.kind));
        fields.field("id", Value::Unsigned(self.id));
        fields.field("min_vaddr", Value::Hex(self.min_vaddr));
        fields.field("path", Value::Text(self.path));
    }
}

impl<'a> PlainBody<'a> for SimpleperfSymbolRecord<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        Ok(Self {
            addr: cursor.u64("symbol")?,
            len: cursor.u64("symbol")?,
            dso_id: cursor.u64("symbol")?,
            name: cursor.c_str(),
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("addr", Value::Hex(self.addr));
        fields.field("len", Value::Unsigned(self.len));
        fields.field("dso_id", Value::Unsigned(self.dso_id));
        fields.field("name", Value::Text(self.name));
    }
}

impl BodyItem<'_> for SimpleperfEventId {
    const LIST: &'static str = "ids";

    fn parse_all(cursor: &mut Cursor<'_>) -> Result<Vec<Self>, WireError> {
        let n = cursor.u64("event id count")?;
        let id = |_| {
            Ok(Self {
                event_idx: cursor.u64("event id")?,
                id: cursor.u64("event id")?,
            })
        };
        (0..n).map(id).collect()
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("event_idx", Value::Unsigned(self.event_idx));
        fields.field("id", Value::Unsigned(self.id));
    }
}

impl<'a> PlainBody<'a> for SimpleperfNote<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        Ok(Self {
            time_ns: cursor.u64("note")?,
            text: cursor.c_str(),
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("time_ns", Value::Unsigned(self.time_ns));
        fields.field("text", Value::Text(self.text));
    }
}

impl<'a> PlainBody<'a> for SimpleperfCallchain<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
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

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("pid", Value::Signed(self.pid.into()));
        fields.field("tid", Value::Signed(self.tid.into()));
        fields.field("type", Value::Unsigned(self.kind));
        fields.field("time_ns", Value::Unsigned(self.time_ns));
        let frames = self.ips.entries().zip(self.sps.entries());
        fields.list("frames", frames, |fields, (ip, sp)| {
            fields.object("", |fields| {
                fields.field("ip", Value::Hex(ip));
                fields.field("sp", Value::Hex(sp));
            });
        });
    }
}

impl<'a> PlainBody<'a> for SimpleperfUnwindingResult<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        let what = "unwinding result";
        Ok(Self {
            time_ns: cursor.u64(what)?,
            used_ns: cursor.u64(what)?,
            code: cursor.u64(what)?,
            detail: cursor.u64(what)?,
            stack_start: cursor.u64(what)?,
            stack_end: cursor.u64(what)?,
            rest: cursor.rest(),
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("time_ns", Value::Unsigned(self.time_ns));
        fields.field("used_ns", Value::Unsigned(self.used_ns));
        fields.field("code", Value::Unsigned(self.code));
        fields.field("detail", Value::Hex(self.detail));
        fields.field("stack_start", Value::Hex(self.stack_start));
        fields.field("stack_end", Value::Hex(self.stack_end));
        fields.field("rest_len_bytes", Value::Unsigned(self.rest.len() as u64));
    }
}
