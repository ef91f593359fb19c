//! AUX, `ITRACE_START`, `AUX_OUTPUT_HW_ID`: hardware traces, named so that they can be skipped.

use super::body::PlainBody;
use crate::{Cursor, Encoder, Fields, Value, WireError};

/// `PERF_RECORD_AUX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aux {
    /// Offset in the AUX area, bytes.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Truncated, overwrite, partial, collision, and a PMU-specific byte.
    pub flags: u64,
}

impl PlainBody<'_> for Aux {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(Self {
            offset: cursor.u64("aux")?,
            size: cursor.u64("aux")?,
            flags: cursor.u64("aux")?,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("offset", Value::Hex(self.offset));
        fields.field("size", Value::Unsigned(self.size));
        fields.field("flags", Value::Hex(self.flags));
    }

    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.offset);
        encoder.u64(self.size);
        encoder.u64(self.flags);
    }
}

/// `PERF_RECORD_ITRACE_START`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItraceStart {
    /// Process.
    pub pid: i32,
    /// Thread.
    pub tid: i32,
}

impl PlainBody<'_> for ItraceStart {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(Self {
            pid: cursor.i32("itrace start")?,
            tid: cursor.i32("itrace start")?,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("pid", Value::Signed(self.pid.into()));
        fields.field("tid", Value::Signed(self.tid.into()));
    }

    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.i32(self.pid);
        encoder.i32(self.tid);
    }
}

/// `PERF_RECORD_AUX_OUTPUT_HW_ID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuxOutputHwId {
    /// The PMU's own id of the event.
    pub hw_id: u64,
}

impl PlainBody<'_> for AuxOutputHwId {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(Self {
            hw_id: cursor.u64("aux output hw id")?,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("hw_id", Value::Hex(self.hw_id));
    }

    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.hw_id);
    }
}
