//! Records that carry data of another kind, or announce it: only its length is said.

use super::body::{Described, FileBody};
use crate::FeatureId;
use rprof_abi::format::RestLen;
use rprof_abi::{Cursor, Fields, Misc, Value, WireError, wire};

wire! {
    /// All of a body.
    #[derive(Copy)]
    pub struct Data<'a> in "data" {
        /// Its bytes.
        pub bytes: &'a [u8] as RestLen named "len_bytes",
    }
}

impl<'a> Described<'a> for Data<'a> {}

/// What a length of 32 bits stands before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataOfLen32<'a>(pub &'a [u8]);

/// What a length of 64 bits stands before; padding may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataOfLen64<'a>(pub &'a [u8]);

impl<'a> FileBody<'a> for DataOfLen32<'a> {
    fn parse_body(cursor: &mut Cursor<'a>, _: Misc) -> Result<Self, WireError> {
        let len = cursor.u32("length of data")?;
        cursor.bytes(u64::from(len), "data").map(Self)
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        visit_len(self.0, fields);
    }
}

impl<'a> FileBody<'a> for DataOfLen64<'a> {
    fn parse_body(cursor: &mut Cursor<'a>, _: Misc) -> Result<Self, WireError> {
        let len = cursor.u64("compressed data")?;
        cursor.bytes(len, "compressed data").map(Self)
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        visit_len(self.0, fields);
    }
}

fn visit_len(data: &[u8], fields: &mut dyn Fields) {
    fields.field("len_bytes", Value::Unsigned(data.len() as u64));
}

wire! {
    /// `PERF_RECORD_HEADER_TRACING_DATA`: tracepoint formats follow the record.
    #[derive(Copy)]
    pub struct HeaderTracingData in "tracing data" {
        /// Bytes of them, padded to a multiple of 8 in the file.
        pub len_bytes: u32,
    }
}

impl Described<'_> for HeaderTracingData {}

/// `PERF_RECORD_HEADER_FEATURE`: a feature section, see [`crate::Feature::parse`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderFeature<'a> {
    /// Which.
    pub id: FeatureId,
    /// Its bytes. The last of these records is empty, with a number beyond all features.
    pub section: &'a [u8],
}

impl<'a> FileBody<'a> for HeaderFeature<'a> {
    fn parse_body(cursor: &mut Cursor<'a>, _: Misc) -> Result<Self, WireError> {
        Ok(Self {
            id: FeatureId(u32::try_from(cursor.u64("feature")?).unwrap_or(u32::MAX)),
            section: cursor.rest(),
        })
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        fields.field("feature", Value::Unsigned(self.id.0.into()));
        fields.field("name", Value::Text(self.id.name().as_bytes()));
        visit_len(self.section, fields);
    }
}
