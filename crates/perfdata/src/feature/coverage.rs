//! COVERAGE, rprof's own: how much of what an event counted its samples stand for. Processes and threads
//! that end before their first sample are counted, and not sampled.

use super::section::SectionObject;
use rprof_abi::{Cursor, Encoder, Endian, Fields, Value, WireError};

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
    /// What is counted, in words, of an event.
    pub fn words(self, event: &str) -> String {
        match self {
            Self::Event => format!("what '{event}' counted"),
            Self::CpuTime => "the CPU time".to_owned(),
            Self::UserTime => "the CPU time in user space".to_owned(),
        }
    }
}

/// Sums over the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleCoverage {
    /// Periods of samples.
    pub covered: u64,
    /// What was counted.
    pub count: u64,
    /// Which event it is about: its place among those of the file.
    pub event: u32,
    /// What that counts.
    pub unit: CoverageUnit,
}

impl SampleCoverage {
    /// Appends the section.
    pub fn encode(self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.covered);
        encoder.u64(self.count);
        encoder.u32(self.event);
        encoder.u32(match self.unit {
            CoverageUnit::Event => 0,
            CoverageUnit::CpuTime => 1,
            CoverageUnit::UserTime => 2,
        });
    }
}

impl SectionObject for SampleCoverage {
    /// Reads the section: two numbers of 64 bits, two of 32.
    fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(section, endian);
        Ok(Self {
            covered: cursor.u64("coverage")?,
            count: cursor.u64("coverage")?,
            event: cursor.u32("coverage")?,
            unit: match cursor.u32("coverage")? {
                1 => CoverageUnit::CpuTime,
                2 => CoverageUnit::UserTime,
                _ => CoverageUnit::Event,
            },
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("covered", Value::Unsigned(self.covered));
        fields.field("count", Value::Unsigned(self.count));
        fields.field("event", Value::Unsigned(self.event.into()));
        let unit = match self.unit {
            CoverageUnit::Event => "event",
            CoverageUnit::CpuTime => "cpu_time",
            CoverageUnit::UserTime => "user_time",
        };
        fields.field("unit", Value::Text(unit.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Flat;

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
            assert_eq!(
                SampleCoverage::parse(&bytes, Endian::NATIVE).unwrap(),
                coverage
            );
            assert!(SampleCoverage::parse(&bytes[..20], Endian::NATIVE).is_err());
            let said = Flat::of(|fields| coverage.visit(fields));
            assert_eq!(said[..2], ["covered=3", "count=4"]);
            assert!(said.iter().any(|field| field.contains(name)), "{said:?}");
        }
    }
}
