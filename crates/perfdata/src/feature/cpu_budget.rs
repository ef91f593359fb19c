//! CPU_BUDGET, rprof's own: what a recording gave up to stay within its share of a CPU.

use super::section::SectionObject;
use rprof_abi::{Cursor, Encoder, Endian, Fields, Value, WireError};

/// What was given up, and when: nanoseconds since the recording began, 0 for what was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuBudget {
    /// What was allowed, percent of one CPU.
    pub percent: u64,
    /// From then on, stack dumps were small, whatever stacks needed.
    pub small_dumps_after_ns: u64,
    /// From then on, callers were found by frame pointers, if at all.
    pub not_unwound_after_ns: u64,
    /// From then on, samples were rarer.
    pub rarer_after_ns: u64,
    /// How often they were taken at last, Hz.
    pub hz: u64,
}

impl CpuBudget {
    const NAMES: [&str; 5] = [
        "percent",
        "small_dumps_after_ns",
        "not_unwound_after_ns",
        "rarer_after_ns",
        "hz",
    ];

    fn values(self) -> [u64; 5] {
        [
            self.percent,
            self.small_dumps_after_ns,
            self.not_unwound_after_ns,
            self.rarer_after_ns,
            self.hz,
        ]
    }

    /// Appends the section.
    pub fn encode(self, encoder: &mut Encoder<'_>) {
        self.values()
            .into_iter()
            .for_each(|value| encoder.u64(value));
    }
}

impl SectionObject for CpuBudget {
    /// Reads the section: five numbers of 64 bits.
    fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(section, endian);
        let mut next = || cursor.u64("CPU budget");
        Ok(Self {
            percent: next()?,
            small_dumps_after_ns: next()?,
            not_unwound_after_ns: next()?,
            rarer_after_ns: next()?,
            hz: next()?,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        for (name, value) in Self::NAMES.into_iter().zip(self.values()) {
            fields.field(name, Value::Unsigned(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Flat;

    #[test]
    fn what_is_encoded_is_read_again_and_said() {
        let budget = CpuBudget {
            percent: 1,
            small_dumps_after_ns: 2,
            not_unwound_after_ns: 3,
            rarer_after_ns: 4,
            hz: 5,
        };
        let mut bytes = Vec::new();
        budget.encode(&mut Encoder::new(&mut bytes, Endian::NATIVE));
        assert_eq!(CpuBudget::parse(&bytes, Endian::NATIVE).unwrap(), budget);
        assert!(CpuBudget::parse(&bytes[..36], Endian::NATIVE).is_err());
        let said = Flat::of(|fields| budget.visit(fields));
        assert_eq!(said[..2], ["percent=1", "small_dumps_after_ns=2"]);
    }
}
