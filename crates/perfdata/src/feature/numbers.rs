//! Sections that are one number: TOTAL_MEM, CLOCKID, DIR_FORMAT, CLN_SIZE, COMMAND.

use super::section::{Section, SectionObject};
use rprof_abi::{Cursor, Endian, Fields, Value, WireError};

/// TOTAL_MEM: the memory of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TotalMem {
    /// KiB.
    pub kib: u64,
}

impl Section for TotalMem {
    fn parse_section(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let kib = Cursor::new(section, endian).u64("memory size")?;
        Ok(Self { kib })
    }

    fn describe(&self, name: &str, fields: &mut dyn Fields) {
        fields.field(&format!("{name}_kib"), Value::Unsigned(self.kib));
    }
}

/// CLOCKID: the recording's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockId {
    /// Its resolution, nanoseconds.
    pub resolution_ns: u64,
}

impl SectionObject for ClockId {
    fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let resolution_ns = Cursor::new(section, endian).u64("clock resolution")?;
        Ok(Self { resolution_ns })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("resolution_ns", Value::Unsigned(self.resolution_ns));
    }
}

/// DIR_FORMAT: the recording is a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirFormat {
    /// Version of its form.
    pub version: u64,
}

impl SectionObject for DirFormat {
    fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let version = Cursor::new(section, endian).u64("directory version")?;
        Ok(Self { version })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("version", Value::Unsigned(self.version));
    }
}

/// CLN_SIZE: a line of the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLine {
    /// Its bytes.
    pub bytes: u32,
}

impl SectionObject for CacheLine {
    fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let bytes = Cursor::new(section, endian).u32("cache line size")?;
        Ok(Self { bytes })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("bytes", Value::Unsigned(self.bytes.into()));
    }
}

/// COMMAND, rprof's own: the process that the recorded command was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Its process id.
    pub pid: u32,
}

impl SectionObject for Command {
    fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let pid = Cursor::new(section, endian).u32("command")?;
        Ok(Self { pid })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("pid", Value::Unsigned(self.pid.into()));
    }
}
