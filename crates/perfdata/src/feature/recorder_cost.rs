//! RECORDER_COST, rprof's own: what the recording cost the machine, beside what was recorded.

use super::section::SectionObject;
use rprof_abi::{Cursor, Encoder, Endian, Fields, Value, WireError};

/// What it cost until the end of the records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecorderCost {
    /// CPU time of the recorder's own threads, nanoseconds.
    pub cpu_ns: u64,
    /// Time that passed, nanoseconds.
    pub wall_ns: u64,
    /// Bytes of records that the kernel delivered: samples with their stack dumps.
    pub ring_bytes: u64,
    /// Bytes of records that were written.
    pub written_bytes: u64,
}

impl RecorderCost {
    /// Appends the section.
    pub fn encode(self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.cpu_ns);
        encoder.u64(self.wall_ns);
        encoder.u64(self.ring_bytes);
        encoder.u64(self.written_bytes);
    }
}

impl SectionObject for RecorderCost {
    /// Reads the section: four numbers of 64 bits.
    fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(section, endian);
        let mut next = || cursor.u64("recorder's cost");
        Ok(Self {
            cpu_ns: next()?,
            wall_ns: next()?,
            ring_bytes: next()?,
            written_bytes: next()?,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("cpu_ns", Value::Unsigned(self.cpu_ns));
        fields.field("wall_ns", Value::Unsigned(self.wall_ns));
        fields.field("ring_bytes", Value::Unsigned(self.ring_bytes));
        fields.field("written_bytes", Value::Unsigned(self.written_bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Flat;

    #[test]
    fn what_is_encoded_is_read_again_and_said() {
        let cost = RecorderCost {
            cpu_ns: 1,
            wall_ns: 2,
            ring_bytes: 3,
            written_bytes: 4,
        };
        let mut bytes = Vec::new();
        cost.encode(&mut Encoder::new(&mut bytes, Endian::NATIVE));
        assert_eq!(RecorderCost::parse(&bytes, Endian::NATIVE).unwrap(), cost);
        assert!(RecorderCost::parse(&bytes[..28], Endian::NATIVE).is_err());
        let said = Flat::of(|fields| cost.visit(fields));
        assert_eq!(
            said,
            ["cpu_ns=1", "wall_ns=2", "ring_bytes=3", "written_bytes=4"]
        );
    }
}
