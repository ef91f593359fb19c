//! SAMPLE_TIME, CLOCKID, CLOCK_DATA: when, and by which clock.

use rprof_abi::{Cursor, Encoder, Endian, WireError};

/// Times of the first and the last sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleTime {
    /// Nanoseconds of the recording's clock.
    pub first_ns: u64,
    /// Nanoseconds of the recording's clock.
    pub last_ns: u64,
}

impl SampleTime {
    /// Appends the section.
    pub fn encode(self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.first_ns);
        encoder.u64(self.last_ns);
    }

    /// Reads the section.
    ///
    /// # Errors
    /// [`WireError`] if it is short.
    pub fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(section, endian);
        Ok(Self {
            first_ns: cursor.u64("sample time")?,
            last_ns: cursor.u64("sample time")?,
        })
    }
}

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
