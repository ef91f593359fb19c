//! Static data in memory, as mappings alone tell of it.

use crate::FileOffset;

/// How far an address is behind code that the same object may have: what the object's file says of static data, it says
/// of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DataPlace {
    /// Where in its file the mapping of the code begins.
    pub code: FileOffset,
    /// Bytes from the beginning of that mapping to the address.
    pub distance: u64,
    /// What is mapped at the address.
    pub mapped: DataMapping,
}

/// What data is mapped from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DataMapping {
    /// The object's file, from there.
    File(FileOffset),
    /// No file.
    Memory,
    /// Not recorded: many recordings only have mappings of code.
    Unknown,
}
