//! `.eh_frame` and `.debug_frame`: which function is where, without names.

use crate::{Elf, FdeIndex, SectionBytes};
use gimli::{
    BaseAddresses, DebugFrame, EhFrame, EhFrameHdr, EndianSlice, RunTimeEndian, UnwindSection,
};
use rprof_base::Svma;
use std::ops::Range;

/// Descriptions that may overlap the one which begins nearest before an address. Compilers and
/// linkers make none that do.
const MOST_OVERLAPPING: usize = 64;

/// One section of frame descriptions.
#[derive(Debug)]
pub struct FrameSection {
    /// Whether it is an `.eh_frame`, not a `.debug_frame`.
    pub is_eh_frame: bool,
    /// Its contents.
    pub bytes: SectionBytes,
    /// What its pointers are relative to.
    pub bases: BaseAddresses,
    /// The functions in it, from the image's lowest address on.
    pub index: FdeIndex,
    encoding: Encoding,
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Encoding {
    endian: RunTimeEndian,
    address_size: u8,
}

impl Elf {
    /// Its lowest address: what functions are counted from.
    pub fn base(&self) -> Svma {
        let addresses = self.segments().iter().map(|segment| segment.address);
        addresses.min().unwrap_or(Svma(0))
    }

    /// `.eh_frame`, if it has one with functions in it.
    pub fn eh_frame(&self) -> Option<FrameSection> {
        let bytes = self.raw_section(".eh_frame")?.decompress()?;
        let start = |name: &str| self.section_range(name).map(|range| range.start.0);
        let mut bases = BaseAddresses::default().set_eh_frame(start(".eh_frame")?);
        if let Some(address) = start(".text") {
            bases = bases.set_text(address);
        }
        let encoding = self.encoding();
        let index = self.listed_functions().unwrap_or_else(|| {
            let mut section = EhFrame::new(&bytes, encoding.endian);
            section.set_address_size(encoding.address_size);
            FdeIndex::of_section(&section, &bases, self.base().0)
        });
        (!index.is_empty()).then_some(FrameSection {
            is_eh_frame: true,
            bytes,
            bases,
            index,
            encoding,
        })
    }

    /// `.debug_frame`, if it has one with functions in it. The image's lowest address may be another
    /// file's: a debug file need not have the segments.
    pub fn debug_frame(&self, base: Svma) -> Option<FrameSection> {
        let bytes = self.raw_section(".debug_frame")?.decompress()?;
        let bases = BaseAddresses::default();
        let encoding = self.encoding();
        let mut section = DebugFrame::new(&bytes, encoding.endian);
        section.set_address_size(encoding.address_size);
        let index = FdeIndex::of_section(&section, &bases, base.0);
        (!index.is_empty()).then_some(FrameSection {
            is_eh_frame: false,
            bytes,
            bases,
            index,
            encoding,
        })
    }

    /// The functions that `.eh_frame_hdr` lists.
    fn listed_functions(&self) -> Option<FdeIndex> {
        let start = self.section_range(".eh_frame_hdr")?.start.0;
        let bytes = self.raw_section(".eh_frame_hdr")?.decompress()?;
        let bases = BaseAddresses::default().set_eh_frame_hdr(start);
        let encoding = self.encoding();
        let header = EhFrameHdr::new(&bytes, encoding.endian);
        FdeIndex::of_header(&header, encoding.address_size, &bases, self.base().0)
    }

    /// For each address where the next function begins that `.eh_frame_hdr` lists, if one does.
    pub fn function_starts(&self) -> Option<impl Fn(Svma) -> Option<Svma>> {
        let base = self.base().0;
        let listed = self.listed_functions()?;
        Some(move |address: Svma| {
            let at = u32::try_from(address.0.checked_sub(base)?).ok()?;
            Some(Svma(base + u64::from(listed.start_after(at)?)))
        })
    }

    fn encoding(&self) -> Encoding {
        Encoding {
            endian: match self.is_little_endian() {
                true => RunTimeEndian::Little,
                false => RunTimeEndian::Big,
            },
            address_size: if self.is_64() { 8 } else { 4 },
        }
    }
}

impl FrameSection {
    /// The function that covers an address of an image with this lowest address: of several, the one
    /// that begins nearest before it.
    pub fn function(&self, base: Svma, address: Svma) -> Option<Range<Svma>> {
        let at = u32::try_from(address.0.checked_sub(base.0)?).ok()?;
        let near = self.index.before(at).take(MOST_OVERLAPPING);
        let mut ranges = near.filter_map(|entry| {
            let range = self.range(entry.offset as usize)?;
            // A list that lies about where functions begin is not believed.
            (range.start.0 == base.0 + u64::from(entry.start)).then_some(range)
        });
        ranges.find(|range| range.contains(&address))
    }

    /// The code that a description is of.
    pub fn range(&self, offset: usize) -> Option<Range<Svma>> {
        let Encoding {
            endian,
            address_size,
        } = self.encoding;
        match self.is_eh_frame {
            true => {
                let mut section = EhFrame::new(&self.bytes, endian);
                section.set_address_size(address_size);
                range_in(&section, &self.bases, offset.into())
            }
            false => {
                let mut section = DebugFrame::new(&self.bytes, endian);
                section.set_address_size(address_size);
                range_in(&section, &self.bases, offset.into())
            }
        }
    }
}

fn range_in<'a, S>(section: &S, bases: &BaseAddresses, offset: S::Offset) -> Option<Range<Svma>>
where
    S: UnwindSection<EndianSlice<'a, RunTimeEndian>>,
{
    let fde = section.fde_from_offset(bases, offset, S::cie_from_offset);
    let fde = fde.ok()?;
    let start = fde.initial_address();
    Some(Svma(start)..Svma(start.checked_add(fde.len())?))
}
