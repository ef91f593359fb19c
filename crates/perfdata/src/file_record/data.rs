//! Records that carry data of another kind, or announce it: only its length is said.

use super::body::PlainBody;
use crate::FeatureId;
use rprof_abi::{Cursor, Fields, Value, WireError};

/// All of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data<'a>(pub &'a [u8]);

/// What a length of 32 bits stands before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataOfLen32<'a>(pub &'a [u8]);

/// What a length of 64 bits stands before; padding may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataOfLen64<'a>(pub &'a [u8]);

impl<'a> PlainBody<'a> for Data<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        Ok(Self(cursor.rest()))
    }

    fn visit(&self, fields: &mut dyn Fields) {
        visit_len(self.0, fields);
    }
}

impl<'a> PlainBody<'a> for DataOfLen32<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        let len = cursor.u32("length of data")?;
        cursor.bytes(u64::from(len), "data").map(Self)
    }

    fn visit(&self, fields: &mut dyn Fields) {
        visit_len(self.0, fields);
    }
}

impl<'a> PlainBody<'a> for DataOfLen64<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        let len = cursor.u64("compressed data")?;
        cursor.bytes(len, "compressed data").map(Self)
    }

    fn visit(&self, fields: &mut dyn Fields) {
        visit_len(self.0, fields);
    }
}

fn visit_len(data: &[u8], fields: &mut dyn Fields) {
    fields.field("len_bytes", Value::Unsigned(data.len() as u64));
}

/// `PERF_RECORD_HEADER_TRACING_DATA`: tracepoint formats follow the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderTracingData {
    /// Bytes of them, padded to a multiple of 8 in the file.
    pub len_bytes: u32,
}

impl PlainBody<'_> for HeaderTracingData {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        let len_bytes = cursor.u32("tracing data")?;
        Ok(Self { len_bytes })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("len_bytes", Value::Unsigned(self.len_bytes.into()));
    }
}

/// `PERF_RECORD_HEADER_FEATURE`: a feature section, see [`crate::Feature::parse`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderFeature<'a> {
    /// Which.
    pub id: FeatureId,
    /// Its bytes. The last of these records is empty, with a number beyond all features.
    pub section: &'a [u8],
}

impl<'a> PlainBody<'a> for HeaderFeature<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        Ok(Self {
            id: FeatureId(u32::try_from(cursor.u64("feature")?).unwrap_or(u32::MAX)),
            section: cursor.rest(),
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("feature", Value::Unsigned(self.id.0.into()));
        fields.field("name", Value::Text(self.id.name().as_bytes()));
        visit_len(self.section, fields);
    }
}
