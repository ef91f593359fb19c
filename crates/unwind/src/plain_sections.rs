//! An image as plain bytes: for who has read it, or made it, without the other crates.

use crate::arch::Arch;
use crate::section::Section;
use crate::{TableError, UnwindTable};
use gimli::BaseAddresses;
use rprof_abi::{Machine, for_machine};
use rprof_base::Svma;
use rprof_images::{FdeIndex, FrameEncoding, FrameSection};
use rprof_untrusted::{Budget, Limits};

/// The sections of an image of a 64-bit, little-endian machine, decompressed. All addresses are as in the file (SVMA).
#[derive(Clone, Debug)]
pub struct UnwindSections {
    /// The image's lowest address: functions are looked up from here on, up to 4 GiB.
    pub base: u64,
    /// Where `.text` begins, if pointers may be relative to it.
    pub text: Option<u64>,
    /// `.eh_frame`.
    pub eh_frame: Option<LoadedSection>,
    /// `.eh_frame_hdr`: with it not all of `.eh_frame` has to be read first.
    pub eh_frame_hdr: Option<LoadedSection>,
    /// `.debug_frame`, of the image or of its debug file. It is asked where `.eh_frame` says nothing.
    pub debug_frame: Option<Vec<u8>>,
    /// The most memory that is made of the sections, bytes. Compiled rows are forgotten where it is too little, and
    /// compiled again.
    pub max_bytes: u64,
}

/// A section that is in memory while the program runs.
#[derive(Clone, Debug)]
pub struct LoadedSection {
    /// Where it begins (SVMA).
    pub address: u64,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// Bytes for what is made of the sections of one image: enough for those of Chromium.
const MAX_BYTES: u64 = 96 << 20;

impl Default for UnwindSections {
    /// None; up to 96 MiB.
    fn default() -> Self {
        Self {
            base: 0,
            text: None,
            eh_frame: None,
            eh_frame_hdr: None,
            debug_frame: None,
            max_bytes: MAX_BYTES,
        }
    }
}

impl UnwindTable {
    /// Reads the descriptions in sections that are at hand.
    ///
    /// # Errors
    /// [`TableError`]; never [`TableError::Machine`].
    pub fn from_sections(machine: Machine, sections: UnwindSections) -> Result<Self, TableError> {
        let budget = Budget::new(Limits::of_memory(sections.max_bytes));
        let base = Svma(sections.base);
        let indexed = for_machine!(machine, A => sections.indexed::<A>());
        if indexed.is_empty() {
            return Err(TableError::NoSection);
        }
        Self::described(machine, base, indexed, &budget)
    }
}

impl UnwindSections {
    fn indexed<A: Arch>(self) -> Vec<Section> {
        let (base, encoding) = (Svma(self.base), FrameEncoding::LITTLE_64);
        let listed = self.eh_frame_hdr.and_then(|header| {
            FdeIndex::from_header(&header.bytes, Svma(header.address), base, encoding)
        });
        let eh_frame = self.eh_frame.and_then(|section| {
            let mut bases = BaseAddresses::default().set_eh_frame(section.address);
            if let Some(text) = self.text {
                bases = bases.set_text(text);
            }
            FrameSection::eh_frame(section.bytes.into(), bases, encoding).indexed(listed, base)
        });
        let debug_frame = self.debug_frame.and_then(|bytes| {
            FrameSection::debug_frame(bytes.into(), encoding).indexed(None, base)
        });
        let sections = [eh_frame, debug_frame].into_iter().flatten();
        sections.map(Section::new::<A>).collect()
    }
}
