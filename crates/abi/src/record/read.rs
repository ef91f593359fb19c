//! READ: what an event counted in a task that ended (`inherit_stat`).

use crate::sample::ReadValues;
use crate::{Cursor, Encoder, Fields, SampleLayout, Value, WireError};

/// `PERF_RECORD_READ`.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadRecord<'a> {
    /// Process.
    pub pid: i32,
    /// Thread.
    pub tid: i32,
    /// Its counts.
    pub values: ReadValues<'a>,
}

impl<'a> ReadRecord<'a> {
    pub(crate) fn parse(cursor: &mut Cursor<'a>, layout: &SampleLayout) -> Result<Self, WireError> {
        Ok(Self {
            pid: cursor.i32("read")?,
            tid: cursor.i32("read")?,
            values: ReadValues::parse(cursor, layout.read_format())?,
        })
    }

    pub(crate) fn visit(&self, fields: &mut dyn Fields) {
        fields.field("pid", Value::Signed(self.pid.into()));
        fields.field("tid", Value::Signed(self.tid.into()));
        self.values.visit(fields);
    }

    pub(crate) fn encode(&self, encoder: &mut Encoder<'_>, layout: &SampleLayout) {
        encoder.i32(self.pid);
        encoder.i32(self.tid);
        self.values.encode(encoder, layout.read_format());
    }
}
