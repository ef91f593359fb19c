//! READ: what an event counted in a task that ended (`inherit_stat`).

use super::body::{Body, Context};
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

impl<'a> Body<'a> for ReadRecord<'a> {
    fn parse_with(cursor: &mut Cursor<'a>, context: Context<'_>) -> Result<Self, WireError> {
        Ok(Self {
            pid: cursor.i32("read")?,
            tid: cursor.i32("read")?,
            values: ReadValues::parse(cursor, context.layout.read_format())?,
        })
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        fields.field("pid", Value::Signed(self.pid.into()));
        fields.field("tid", Value::Signed(self.tid.into()));
        self.values.visit(fields);
    }

    fn encode_with(&self, encoder: &mut Encoder<'_>, layout: &SampleLayout) {
        encoder.i32(self.pid);
        encoder.i32(self.tid);
        self.values.encode(encoder, layout.read_format());
    }

    #[cfg(test)]
    const LEAST: usize = 16;
}
