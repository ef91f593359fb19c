//! COVERAGE, rprof's own: how much of what the first event counted the samples stand for. Processes
//! that end before their first sample are counted, and not sampled.

use rprof_abi::{Cursor, Encoder, Endian, Fields, Value, WireError};

/// Sums over the recording, in what the event counts: of clocks, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Periods of samples.
    pub covered: u64,
    /// What was counted.
    pub count: u64,
}

impl Coverage {
    /// Reads the section: two numbers of 64 bits.
    ///
    /// # Errors
    /// [`WireError`] if it is short.
    pub fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(section, endian);
        Ok(Self {
            covered: cursor.u64("coverage")?,
            count: cursor.u64("coverage")?,
        })
    }

    /// Appends the section.
    pub fn encode(self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.covered);
        encoder.u64(self.count);
    }

    pub(super) fn visit(self, fields: &mut dyn Fields) {
        fields.field("covered", Value::Unsigned(self.covered));
        fields.field("count", Value::Unsigned(self.count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Flat;

    #[test]
    fn what_is_encoded_is_read_again_and_said() {
        let coverage = Coverage {
            covered: 3,
            count: 4,
        };
        let mut bytes = Vec::new();
        coverage.encode(&mut Encoder::new(&mut bytes, Endian::NATIVE));
        assert_eq!(Coverage::parse(&bytes, Endian::NATIVE).unwrap(), coverage);
        assert!(Coverage::parse(&bytes[..12], Endian::NATIVE).is_err());
        let said = Flat::of(|fields| coverage.visit(fields));
        assert_eq!(said, ["covered=3", "count=4"]);
    }
}
