//! COVERAGE, rprof's own: how much of what an event counted its samples stand for. Processes and threads
//! that end before their first sample are counted, and not sampled.

use super::section::DescribedObject;
use rprof_abi::format::FieldFormat;
use rprof_abi::{Cursor, Encoder, Fields, Value, WireError, wire};

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CoverageUnit {
    /// What the event counts, or what a newer rprof knows.
    #[default]
    Event,
    /// CPU time, nanoseconds.
    CpuTime,
    /// CPU time in user space, nanoseconds.
    UserTime,
}

impl CoverageUnit {
    /// In the order of their codes.
    const ALL: [Self; 3] = [Self::Event, Self::CpuTime, Self::UserTime];

    fn name(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::CpuTime => "cpu_time",
            Self::UserTime => "user_time",
        }
    }

    /// What is counted, in words, of an event.
    pub fn words(self, event: &str) -> String {
        match self {
            Self::Event => format!("what '{event}' counted"),
            Self::CpuTime => "the CPU time".to_owned(),
            Self::UserTime => "the CPU time in user space".to_owned(),
        }
    }
}

wire! {
    /// Sums over the recording.
    #[derive(Copy, Default)]
    pub struct SampleCoverage in "coverage" {
        /// Periods of samples.
        pub covered: u64,
        /// What was counted.
        pub count: u64,
        /// Which event it is about: its place among those of the file.
        pub event: u32,
        /// What that counts.
        pub unit: CoverageUnit as UnitCode,
    }
}

impl DescribedObject for SampleCoverage {}

/// A unit by its index in [`CoverageUnit::ALL`].
#[derive(Debug)]
struct UnitCode;

impl FieldFormat<'_, CoverageUnit> for UnitCode {
    const MIN_LEN: usize = 4;

    fn parse(cursor: &mut Cursor<'_>, what: &'static str) -> Result<CoverageUnit, WireError> {
        let code = cursor.u32(what)? as usize;
        Ok(CoverageUnit::ALL.get(code).copied().unwrap_or_default())
    }

    fn visit(value: &CoverageUnit, name: &str, fields: &mut dyn Fields) {
        fields.field(name, Value::Text(value.name().as_bytes()));
    }

    fn encode(value: &CoverageUnit, encoder: &mut Encoder<'_>) {
        encoder.u32(*value as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Flat;
    use rprof_abi::{Endian, Wire};

    #[test]
    fn what_is_encoded_is_read_again_and_said() {
        let units = [
            (CoverageUnit::Event, "event"),
            (CoverageUnit::CpuTime, "cpu_time"),
            (CoverageUnit::UserTime, "user_time"),
        ];
        for (unit, name) in units {
            let coverage = SampleCoverage {
                covered: 3,
                count: 4,
                event: 1,
                unit,
            };
            let mut bytes = Vec::new();
            coverage.encode(&mut Encoder::new(&mut bytes, Endian::NATIVE));
            let mut cursor = Cursor::new(&bytes, Endian::NATIVE);
            assert_eq!(SampleCoverage::parse(&mut cursor), Ok(coverage));
            let said = Flat::of(|fields| coverage.visit(fields));
            assert_eq!(said[..2], ["covered=3", "count=4"]);
            assert!(said.iter().any(|field| field.contains(name)), "{said:?}");
        }
    }
}
