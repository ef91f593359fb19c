//! `.eh_frame` and `.debug_frame`: which function is where, without names.

use crate::{Elf, FdeIndex, SectionBytes, cie_of};
use gimli::{BaseAddresses, DebugFrame, EhFrame, EndianSlice, RunTimeEndian, UnwindSection};
use rprof_base::Svma;
use std::ops::Range;

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
    encoding: FrameEncoding,
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameEncoding {
    /// The order of bytes.
    pub endian: RunTimeEndian,
    /// Bytes of an address.
    pub address_size: u8,
}

impl FrameEncoding {
    /// Of 64-bit, little-endian machines.
    pub const LITTLE_64: Self = Self {
        endian: RunTimeEndian::Little,
        address_size: 8,
    };
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
        let section = FrameSection::eh_frame(bytes, bases, self.encoding());
        section.indexed(self.listed_functions(), self.base())
    }

    /// `.debug_frame`, if it has one with functions in it. The image's lowest address may be another
    /// file's: a debug file need not have the segments.
    pub fn debug_frame(&self, base: Svma) -> Option<FrameSection> {
        let bytes = self.raw_section(".debug_frame")?.decompress()?;
        FrameSection::debug_frame(bytes, self.encoding()).indexed(None, base)
    }

    /// The functions that `.eh_frame_hdr` lists.
    fn listed_functions(&self) -> Option<FdeIndex> {
        let start = self.section_range(".eh_frame_hdr")?.start;
        let bytes = self.raw_section(".eh_frame_hdr")?.decompress()?;
        FdeIndex::from_header(&bytes, start, self.base(), self.encoding())
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

    fn encoding(&self) -> FrameEncoding {
        FrameEncoding {
            endian: if self.is_little_endian() {
                RunTimeEndian::Little
            } else {
                RunTimeEndian::Big
            },
            address_size: if self.is_64() { 8 } else { 4 },
        }
    }
}

impl FrameSection {
    /// `.eh_frame` with these contents. Nothing is found in it before it is [`Self::indexed`].
    pub fn eh_frame(bytes: SectionBytes, bases: BaseAddresses, encoding: FrameEncoding) -> Self {
        Self {
            is_eh_frame: true,
            bytes,
            bases,
            index: FdeIndex::default(),
            encoding,
        }
    }

    /// `.debug_frame` with these contents. Nothing is found in it before it is [`Self::indexed`].
    pub fn debug_frame(bytes: SectionBytes, encoding: FrameEncoding) -> Self {
        Self {
            is_eh_frame: false,
            ..Self::eh_frame(bytes, BaseAddresses::default(), encoding)
        }
    }

    /// With its functions, from the image's lowest address on: those that `.eh_frame_hdr` lists, or else all
    /// that are in it. `None` if there are none.
    pub fn indexed(mut self, listed: Option<FdeIndex>, base: Svma) -> Option<Self> {
        self.index = listed.unwrap_or_else(|| self.functions(base));
        (!self.index.is_empty()).then_some(self)
    }

    fn functions(&self, base: Svma) -> FdeIndex {
        let bytes = EndianSlice::new(&self.bytes, self.encoding.endian);
        if self.is_eh_frame {
            FdeIndex::of_section(&self.gimli_eh_frame(), bytes, &self.bases, base.0)
        } else {
            FdeIndex::of_section(&self.gimli_debug_frame(), bytes, &self.bases, base.0)
        }
    }

    fn gimli_eh_frame(&self) -> EhFrame<EndianSlice<'_, RunTimeEndian>> {
        let mut section = EhFrame::new(&self.bytes, self.encoding.endian);
        section.set_address_size(self.encoding.address_size);
        section
    }

    fn gimli_debug_frame(&self) -> DebugFrame<EndianSlice<'_, RunTimeEndian>> {
        let mut section = DebugFrame::new(&self.bytes, self.encoding.endian);
        section.set_address_size(self.encoding.address_size);
        section
    }

    /// The code that a description is of.
    pub fn range(&self, offset: usize) -> Option<Range<Svma>> {
        let bytes = EndianSlice::new(&self.bytes, self.encoding.endian);
        if self.is_eh_frame {
            range_in(&self.gimli_eh_frame(), bytes, &self.bases, offset.into())
        } else {
            range_in(&self.gimli_debug_frame(), bytes, &self.bases, offset.into())
        }
    }
}

fn range_in<'a, S>(
    section: &S,
    bytes: EndianSlice<'a, RunTimeEndian>,
    bases: &BaseAddresses,
    offset: S::Offset,
) -> Option<Range<Svma>>
where
    S: UnwindSection<EndianSlice<'a, RunTimeEndian>>,
{
    let fde = section.fde_from_offset(bases, offset, cie_of(bytes));
    let fde = fde.ok()?;
    let start = fde.initial_address();
    Some(Svma(start)..Svma(start.checked_add(fde.len())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FunctionSearch;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn with_length(mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.resize((bytes.len() + 4).next_multiple_of(8) - 4, 0);
        let len = u32::try_from(bytes.len()).unwrap();
        [&len.to_le_bytes()[..], &bytes].concat()
    }

    /// `.debug_frame` of functions: where each begins, and its length.
    fn debug_frame(functions: &[(u64, u64)], augmentation: &[u8]) -> Vec<u8> {
        // Version 3; factors 1 and -8, return address in register 16.
        let cie = [
            &[0xff, 0xff, 0xff, 0xff, 3],
            augmentation,
            &[0, 1, 0x78, 16],
        ];
        let mut section = with_length(cie.concat());
        for &(start, len) in functions {
            let fde = [&[0; 4][..], &start.to_le_bytes(), &len.to_le_bytes()];
            section.extend(with_length(fde.concat()));
        }
        section
    }

    fn section(bytes: Vec<u8>) -> FrameSection {
        let section = FrameSection::debug_frame(bytes.into(), FrameEncoding::LITTLE_64);
        FrameSection {
            index: section.functions(Svma(0)),
            ..section
        }
    }

    fn function(section: &FrameSection, address: u64) -> Option<(u64, u64)> {
        let range = FunctionSearch::new(section, Svma(0)).function(Svma(address))?;
        Some((range.start.0, range.end.0))
    }

    #[test]
    fn of_functions_that_overlap_the_nearest_start_counts() {
        let functions = [(0x100, 0x100), (0x120, 0x10), (0x150, u64::MAX), (0x300, 8)];
        let section = section(debug_frame(&functions, b""));
        for (address, expected) in [
            (0xff, None),
            (0x100, Some((0x100, 0x200))),
            (0x12f, Some((0x120, 0x130))),
            (0x130, Some((0x100, 0x200))),
            // What would end behind the last address is no function.
            (0x160, Some((0x100, 0x200))),
            (0x200, None),
            (0x307, Some((0x300, 0x308))),
            (0x308, None),
            (u64::MAX, None),
        ] {
            assert_eq!(function(&section, address), expected, "{address:#x}");
        }
    }

    #[test]
    fn descriptions_with_an_enormous_common_part_are_none() {
        let ok = section(debug_frame(&[(0x100, 0x10)], b""));
        assert!(!ok.index.is_empty());
        let augmentation = [&b"z"[..], &b"S".repeat(5000)].concat();
        let functions = vec![(0x100, 0x10); 1000];
        assert!(
            section(debug_frame(&functions, &augmentation))
                .index
                .is_empty()
        );
    }

    proptest! {
        #[test]
        fn what_covers_an_address_is_what_a_search_of_all_finds(
            functions in vec((1u64..500, 1u64..60), 0..40),
            addresses in vec(0u64..600, 1..20),
        ) {
            // Of several with one start, the first stands.
            let mut first: Vec<(u64, u64)> = Vec::new();
            for &(start, len) in &functions {
                if first.iter().all(|&(other, _)| other != start) {
                    first.push((start, len));
                }
            }
            let section = section(debug_frame(&functions, b""));
            let mut search = FunctionSearch::new(&section, Svma(0));
            for address in addresses {
                let covering = first.iter().map(|&(start, len)| (start, start + len));
                let covering = covering.filter(|&(start, end)| (start..end).contains(&address));
                let found = search.function(Svma(address));
                let found = found.map(|range| (range.start.0, range.end.0));
                prop_assert_eq!(found, covering.max());
            }
        }

        #[test]
        fn any_section_and_any_list_have_answers_that_cover(
            bytes in vec(any::<u8>(), 0..300),
            header in vec(any::<u8>(), 0..200),
            addresses in vec(any::<u64>(), 1..20),
            edits in vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
            is_eh_frame: bool,
            is_big: bool,
        ) {
            let encoding = FrameEncoding {
                endian: if is_big { RunTimeEndian::Big } else { RunTimeEndian::Little },
                ..FrameEncoding::LITTLE_64
            };
            let mut damaged = debug_frame(&[(0x100, 0x10), (0x120, 0x20)], b"");
            for (at, byte) in edits {
                let at = at.index(damaged.len());
                damaged[at] = byte;
            }
            let bases = BaseAddresses::default().set_eh_frame(0x40).set_eh_frame_hdr(0x10);
            let listed = FdeIndex::from_header(&header, Svma(0x10), Svma(0), encoding);
            let damaged = section(damaged);
            let any = FrameSection {
                is_eh_frame,
                index: listed.unwrap_or_default(),
                bytes: bytes.into(),
                bases,
                encoding,
            };
            for section in [&damaged, &any] {
                let mut search = FunctionSearch::new(section, Svma(0));
                for address in addresses.iter().copied().chain([0x100, 0x125]).map(Svma) {
                    let function = search.function(address);
                    prop_assert!(function.is_none_or(|range| range.contains(&address)));
                }
            }
        }
    }
}
