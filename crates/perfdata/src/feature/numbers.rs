//! Sections that are one number: TOTAL_MEM, CLOCKID, DIR_FORMAT, CLN_SIZE, COMMAND.

use super::section::{DescribedObject, Section};
use rprof_abi::{Cursor, Endian, Fields, Value, WireError, wire};

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

wire! {
    /// CLOCKID: the recording's clock.
    #[derive(Copy)]
    pub struct ClockId in "clock resolution" {
        /// Its resolution, nanoseconds.
        pub resolution_ns: u64,
    }

    /// DIR_FORMAT: the recording is a directory.
    #[derive(Copy)]
    pub struct DirFormat in "directory version" {
        /// Version of its form.
        pub version: u64,
    }

    /// CLN_SIZE: a line of the caches.
    #[derive(Copy)]
    pub struct CacheLine in "cache line size" {
        /// Its bytes.
        pub bytes: u32,
    }

    /// COMMAND, rprof's own: the process that the recorded command was.
    #[derive(Copy)]
    pub struct Command in "command" {
        /// Its process id.
        pub pid: u32,
    }
}

impl DescribedObject for ClockId {}
impl DescribedObject for DirFormat {}
impl DescribedObject for CacheLine {}
impl DescribedObject for Command {}
