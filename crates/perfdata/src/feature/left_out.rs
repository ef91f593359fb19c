//! LEFT_OUT, rprof's own: samples that the kernel took and the recorder did not keep.

use super::section::SectionObject;
use rprof_abi::{Cursor, Encoder, Endian, Fields, Value, WireError};

/// How many there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Of the recorder itself.
    pub own: u64,
    /// Of others than those who were to be recorded.
    pub others: u64,
}

impl LeftOut {
    /// Appends the section.
    pub fn encode(self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.own);
        encoder.u64(self.others);
    }
}

impl SectionObject for LeftOut {
    /// Reads the section: two numbers of 64 bits.
    fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(section, endian);
        Ok(Self {
            own: cursor.u64("samples left out")?,
            others: cursor.u64("samples left out")?,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("own", Value::Unsigned(self.own));
        fields.field("others", Value::Unsigned(self.others));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Flat;

    #[test]
    fn what_is_encoded_is_read_again_and_said() {
        let left_out = LeftOut { own: 3, others: 4 };
        let mut bytes = Vec::new();
        left_out.encode(&mut Encoder::new(&mut bytes, Endian::NATIVE));
        assert_eq!(LeftOut::parse(&bytes, Endian::NATIVE).unwrap(), left_out);
        assert!(LeftOut::parse(&bytes[..12], Endian::NATIVE).is_err());
        let said = Flat::of(|fields| left_out.visit(fields));
        assert_eq!(said, ["own=3", "others=4"]);
    }
}
