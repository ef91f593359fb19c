//! What gimli reads descriptions with.

use gimli::{EndianSlice, LittleEndian, UnwindContext};

/// Bytes of a section, as gimli reads them.
pub(crate) type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// What a thread needs to read descriptions.
pub(crate) type Scratch = UnwindContext<usize>;
