//! CGROUP: which path a control group id has.

use super::body::PlainBody;
use crate::{Cursor, Encoder, Fields, Value, WireError};

/// `PERF_RECORD_CGROUP`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroup<'a> {
    /// Id, as in `PERF_SAMPLE_CGROUP`.
    pub id: u64,
    /// Path in the cgroup file system.
    pub path: &'a [u8],
}

impl<'a> PlainBody<'a> for Cgroup<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        Ok(Self {
            id: cursor.u64("cgroup")?,
            path: cursor.c_str(),
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("id", Value::Unsigned(self.id));
        fields.field("path", Value::Text(self.path));
    }

    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.id);
        encoder.c_str_padded(self.path);
    }
}
