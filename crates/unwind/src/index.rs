//! Where in a section the description of each function is.

use gimli::{BaseAddresses, CieOrFde, EhFrameHdr, EndianSlice, LittleEndian, UnwindOffset};
use gimli::{Pointer, UnwindContext, UnwindSection};

/// Bytes of a section, as gimli reads them.
pub(crate) type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// What a thread needs to read descriptions.
pub(crate) type Scratch = UnwindContext<usize>;

/// A function's description: where its code begins, from the image's lowest address, and where in
/// the section it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) start: u32,
    pub(crate) offset: u32,
}

/// The descriptions of one section by address.
#[derive(Debug, Default)]
pub(crate) struct Index {
    entries: Vec<Entry>,
}

impl Index {
    /// Sorts; of several for one address the first stands.
    fn new(mut entries: Vec<Entry>) -> Self {
        if !entries.is_sorted_by_key(|entry| entry.start) {
            entries.sort_by_key(|entry| entry.start);
        }
        entries.dedup_by_key(|entry| entry.start);
        Self { entries }
    }

    /// As `.eh_frame_hdr` lists them; `None` if there is no list in it, or not a usable one.
    pub(crate) fn of_header(header: &[u8], bases: &BaseAddresses, base: u64) -> Option<Self> {
        let header = EhFrameHdr::new(header, LittleEndian).parse(bases, 8).ok()?;
        let table = header.table()?;
        let Pointer::Direct(frames) = header.eh_frame_ptr() else {
            return None;
        };
        let mut iter = table.iter(bases);
        let mut entries = Vec::new();
        while let Ok(Some((start, at))) = iter.next() {
            let (Pointer::Direct(start), Pointer::Direct(at)) = (start, at) else {
                return None;
            };
            entries.extend(entry(start, base, at.checked_sub(frames)?));
        }
        (!entries.is_empty()).then(|| Self::new(entries))
    }

    /// By reading all of the section. What comes after damage is not found.
    pub(crate) fn of_section<'a, S>(section: &S, bases: &BaseAddresses, base: u64) -> Self
    where
        S: UnwindSection<Bytes<'a>>,
    {
        let mut entries = Vec::new();
        let mut all = section.entries(bases);
        while let Ok(Some(next)) = all.next() {
            let CieOrFde::Fde(partial) = next else {
                continue;
            };
            let Ok(fde) = partial.parse(S::cie_from_offset) else {
                continue;
            };
            // Functions that the linker dropped are left at address 0.
            if fde.len() > 0 && (fde.initial_address() != 0 || base == 0) {
                entries.extend(entry(fde.initial_address(), base, fde.offset() as u64));
            }
        }
        Self::new(entries)
    }

    /// The last description that begins at or before an address, with its number.
    #[inline]
    pub(crate) fn find(&self, address: u32) -> Option<(u32, Entry)> {
        let n = self.entries.partition_point(|entry| entry.start <= address);
        let at = n.checked_sub(1)?;
        Some((u32::try_from(at).ok()?, *self.entries.get(at)?))
    }

    pub(crate) fn size_bytes(&self) -> usize {
        self.entries.len() * size_of::<Entry>()
    }

    /// Where the description after one begins.
    pub(crate) fn next_start(&self, number: u32) -> Option<u32> {
        let next = self.entries.get(number as usize + 1)?;
        Some(next.start)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Code that lies 4 GiB or more after the image's start is ignored.
fn entry(start: u64, base: u64, offset: u64) -> Option<Entry> {
    Some(Entry {
        start: u32::try_from(start.checked_sub(base)?).ok()?,
        offset: u32::try_from(offset).ok()?,
    })
}

/// An offset in a section, for gimli.
pub(crate) fn offset_of<O: UnwindOffset>(entry: Entry) -> O {
    O::from(entry.offset as usize)
}
