//! SAMPLE_TIME, CLOCKID, CLOCK_DATA: when, and by which clock.

use super::section::{DescribedObject, SectionObject};
use rprof_abi::{Cursor, Encoder, Endian, Fields, Value, WireError, wire};

wire! {
    /// Times of the first and the last sample.
    #[derive(Copy)]
    pub struct SampleTime in "sample time" {
        /// Nanoseconds of the recording's clock.
        pub first_ns: u64,
        /// Nanoseconds of the recording's clock.
        pub last_ns: u64,
    }
}

impl DescribedObject for SampleTime {}

/// The recording's clock and wall time, read at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockData {
    /// `CLOCK_*`.
    pub clockid: u32,
    /// Wall time, nanoseconds since 1970.
    pub wall_ns: u64,
    /// The recording's clock at that moment, nanoseconds.
    pub clock_ns: u64,
}

impl ClockData {
    /// Appends the section.
    pub fn encode(self, encoder: &mut Encoder<'_>) {
        encoder.u32(1); // version
        encoder.u32(self.clockid);
        encoder.u64(self.wall_ns);
        encoder.u64(self.clock_ns);
    }
}

impl SectionObject for ClockData {
    fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(section, endian);
        cursor.u32("clock data version")?;
        Ok(Self {
            clockid: cursor.u32("clock data")?,
            wall_ns: cursor.u64("clock data")?,
            clock_ns: cursor.u64("clock data")?,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("clockid", Value::Unsigned(self.clockid.into()));
        fields.field("wall_ns", Value::Unsigned(self.wall_ns));
        fields.field("clock_ns", Value::Unsigned(self.clock_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ORDERS, bytes};

    #[test]
    fn times_round_trip_and_short_ones_are_errors() {
        let clocks = ClockData {
            clockid: 1,
            wall_ns: 2,
            clock_ns: 3,
        };
        for endian in ORDERS {
            let section = bytes(endian, |encoder| clocks.encode(encoder));
            assert_eq!(ClockData::parse(&section, endian), Ok(clocks));
            assert!(ClockData::parse(&section[..23], endian).is_err());
        }
    }
}
