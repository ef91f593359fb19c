//! LOST, `LOST_SAMPLES`, THROTTLE: what is missing from a recording.

use super::body::PlainBody;
use crate::{Cursor, Encoder, Fields, Value, WireError};

/// `PERF_RECORD_LOST`: written when a later record fits again, so losses at the end of a
/// recording never appear here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Event whose ring was full.
    pub id: u64,
    /// Records lost since the last one.
    pub lost: u64,
}

impl PlainBody<'_> for Lost {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(Self {
            id: cursor.u64("lost")?,
            lost: cursor.u64("lost")?,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("id", Value::Unsigned(self.id));
        fields.field("lost", Value::Unsigned(self.lost));
    }

    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.id);
        encoder.u64(self.lost);
    }
}

/// `PERF_RECORD_LOST_SAMPLES`: exact counts, from the kernel or (since perf 6.1) by tools that
/// read them with `PERF_FORMAT_LOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSamples {
    /// Samples lost.
    pub lost: u64,
}

impl PlainBody<'_> for LostSamples {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(Self {
            lost: cursor.u64("lost samples")?,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("lost", Value::Unsigned(self.lost));
    }

    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.lost);
    }
}

/// `PERF_RECORD_THROTTLE` and `PERF_RECORD_UNTHROTTLE`; the time between is not sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttle {
    /// When.
    pub time_ns: u64,
    /// Event.
    pub id: u64,
    /// Stream.
    pub stream_id: u64,
}

impl PlainBody<'_> for Throttle {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(Self {
            time_ns: cursor.u64("throttle")?,
            id: cursor.u64("throttle")?,
            stream_id: cursor.u64("throttle")?,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("time_ns", Value::Unsigned(self.time_ns));
        fields.field("id", Value::Unsigned(self.id));
        fields.field("stream_id", Value::Unsigned(self.stream_id));
    }

    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.time_ns);
        encoder.u64(self.id);
        encoder.u64(self.stream_id);
    }
}
