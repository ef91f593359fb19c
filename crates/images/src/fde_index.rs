//! Where in a section of frame descriptions that of each function is.

use crate::FrameEncoding;
use gimli::{
    BaseAddresses, CieOrFde, CommonInformationEntry, EhFrameHdr, EndianSlice, Endianity, Error,
    Pointer, Reader, UnwindOffset, UnwindSection,
};
use rprof_base::Svma;

/// What descriptions have in common (CIE) takes no more bytes. It is read again for each of them:
/// an enormous one would take an hour.
const MAX_CIE: usize = 4096;

/// Reads CIEs of a section with these bytes.
pub fn cie_of<'a, S, E>(
    bytes: EndianSlice<'a, E>,
) -> impl FnMut(&S, &BaseAddresses, S::Offset) -> gimli::Result<CommonInformationEntry<EndianSlice<'a, E>>>
where
    S: UnwindSection<EndianSlice<'a, E>>,
    E: Endianity,
{
    move |section, bases, at| {
        let mut head = bytes;
        head.skip(UnwindOffset::into(at))?;
        match head.read_initial_length()? {
            (0..=MAX_CIE, _) => section.cie_from_offset(bases, at),
            _ => Err(Error::UnsupportedOffset),
        }
    }
}

/// A function's description (FDE): where its code begins, from the image's lowest address, and where
/// in the section it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FdeEntry {
    /// Where its code begins.
    pub start: u32,
    /// Its offset in the section.
    pub offset: u32,
}

/// The descriptions of one section by address.
#[derive(Debug, Default)]
pub struct FdeIndex {
    entries: Vec<FdeEntry>,
}

impl FdeIndex {
    /// Sorts; of several for one address the first stands.
    fn new(mut entries: Vec<FdeEntry>) -> Self {
        if !entries.is_sorted_by_key(|entry| entry.start) {
            entries.sort_by_key(|entry| entry.start);
        }
        entries.dedup_by_key(|entry| entry.start);
        Self { entries }
    }

    /// As `.eh_frame_hdr` lists them, which is at an address of an image with this lowest address; `None` if there is
    /// no list in it, or not a usable one.
    pub fn from_header(
        bytes: &[u8],
        address: Svma,
        base: Svma,
        encoding: FrameEncoding,
    ) -> Option<Self> {
        let bases = &BaseAddresses::default().set_eh_frame_hdr(address.0);
        let header = EhFrameHdr::new(bytes, encoding.endian);
        let header = header.parse(bases, encoding.address_size).ok()?;
        let table = header.table()?;
        let Pointer::Direct(frames) = header.eh_frame_ptr() else {
            return None;
        };
        let mut entries = Vec::new();
        let mut add = |(start, at): (u64, u64)| -> Option<()> {
            entries.extend(entry(start, base.0, at.checked_sub(frames)?));
            Some(())
        };
        if let Some(mut pairs) = usual_pairs(bytes, address, encoding) {
            pairs.try_for_each(add)?;
        } else {
            let mut iter = table.iter(bases);
            while let Ok(Some((start, at))) = iter.next() {
                let (Pointer::Direct(start), Pointer::Direct(at)) = (start, at) else {
                    return None;
                };
                add((start, at))?;
            }
        }
        (!entries.is_empty()).then(|| Self::new(entries))
    }

    /// By reading all of the section. What comes after damage is not found.
    pub(crate) fn of_section<'a, S, E>(
        section: &S,
        bytes: EndianSlice<'a, E>,
        bases: &BaseAddresses,
        base: u64,
    ) -> Self
    where
        S: UnwindSection<EndianSlice<'a, E>>,
        E: Endianity,
    {
        let mut entries = Vec::new();
        let mut all = section.entries(bases);
        while let Ok(Some(next)) = all.next() {
            let CieOrFde::Fde(partial) = next else {
                continue;
            };
            let Ok(fde) = partial.parse(cie_of(bytes)) else {
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
    pub fn find(&self, address: u32) -> Option<(u32, FdeEntry)> {
        let n = self.entries.partition_point(|entry| entry.start <= address);
        let at = n.checked_sub(1)?;
        Some((u32::try_from(at).ok()?, *self.entries.get(at)?))
    }

    /// Descriptions that begin at or before an address, the nearest first.
    pub(crate) fn before(&self, address: u32) -> impl Iterator<Item = FdeEntry> {
        let n = self.entries.partition_point(|entry| entry.start <= address);
        self.entries.iter().take(n).rev().copied()
    }

    /// Where the next description after an address begins.
    pub(crate) fn start_after(&self, address: u32) -> Option<u32> {
        let n = self.entries.partition_point(|entry| entry.start <= address);
        Some(self.entries.get(n)?.start)
    }

    /// Memory that it takes.
    pub fn size_bytes(&self) -> usize {
        self.entries.len() * size_of::<FdeEntry>()
    }

    /// Where the description after one begins.
    pub fn next_start(&self, number: u32) -> Option<u32> {
        let next = self.entries.get(number as usize + 1)?;
        Some(next.start)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// The table of a header as linkers write it: pairs of words, each as far as it is from the header's address.
fn usual_pairs(
    header: &[u8],
    address: Svma,
    encoding: FrameEncoding,
) -> Option<impl Iterator<Item = (u64, u64)>> {
    /// The version, and how the section's address, the number of pairs and the pairs are written.
    const USUAL: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
    let rest = header.strip_prefix(&USUAL)?;
    let (n_pairs, table) = rest.get(4..)?.split_first_chunk::<4>()?;
    if encoding.address_size != 8 {
        return None;
    }
    let endian = encoding.endian;
    let word = move |bytes: &[u8]| {
        let distance = endian.read_i32(bytes);
        address.0.wrapping_add_signed(distance.into())
    };
    let (pairs, _) = table.as_chunks::<8>();
    let pairs = pairs.iter().take(endian.read_u32(n_pairs) as usize);
    Some(pairs.map(move |pair| {
        let (start, at) = pair.split_at(4);
        (word(start), word(at))
    }))
}

/// Code that lies 4 GiB or more after the image's start is ignored.
fn entry(start: u64, base: u64, offset: u64) -> Option<FdeEntry> {
    Some(FdeEntry {
        start: u32::try_from(start.checked_sub(base)?).ok()?,
        offset: u32::try_from(offset).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a header lists, whose pairs are so encoded: words from the header's address on.
    fn listed(encoding: u8, n_pairs: u32, pairs: &[(i32, i32)]) -> Option<Vec<(u32, u32)>> {
        const HEADER: u64 = 0x40_2000;
        let mut bytes = vec![1, 0x1b, 0x03, encoding];
        // From its own place on: the section begins at 0x403000.
        bytes.extend(0xffc_i32.to_le_bytes());
        bytes.extend(n_pairs.to_le_bytes());
        for word in pairs.iter().flat_map(|&(start, at)| [start, at]) {
            match encoding {
                0x3b => bytes.extend(word.to_le_bytes()),
                _ => bytes.extend(i64::from(word).to_le_bytes()),
            }
        }
        let (address, base) = (Svma(HEADER), Svma(0x40_0000));
        let index = FdeIndex::from_header(&bytes, address, base, FrameEncoding::LITTLE_64)?;
        let entries = index.entries.iter();
        Some(entries.map(|entry| (entry.start, entry.offset)).collect())
    }

    #[test]
    fn pairs_of_the_usual_kind_are_read_as_any_other() {
        let pairs = [(0x100, 0x1018), (-0x100, 0x1000), (0x100, 0x1030)];
        let sorted = vec![(0x1f00, 0), (0x2100, 0x18)];
        assert_eq!(listed(0x3b, 3, &pairs), Some(sorted.clone()));
        assert_eq!(listed(0x3c, 3, &pairs), Some(sorted));
        // Fewer than there are, more than there are, one outside of the section, none.
        for (n, pairs) in [(2, &pairs[..]), (9, &pairs), (1, &[(1, 2)]), (0, &pairs)] {
            assert_eq!(
                listed(0x3b, n, pairs),
                listed(0x3c, n, pairs),
                "{n} {pairs:?}"
            );
        }
    }
}
