//! What gimli reads descriptions with.

use gimli::{EndianSlice, LittleEndian, UnwindContext, UnwindOffset};
use rprof_images::FdeEntry;

/// Bytes of a section, as gimli reads them.
pub(crate) type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// What a thread needs to read descriptions.
pub(crate) type Scratch = UnwindContext<usize>;

/// An offset in a section, for gimli.
pub(crate) fn offset_of<O: UnwindOffset>(entry: FdeEntry) -> O {
    O::from(entry.offset as usize)
}
