//! What a walk asks of the process whose stack it is.

use crate::UnwindTable;
use rprof_base::{Avma, CodeAddress};
use std::ops::Range;

/// What is mapped where in one process at one moment.
pub trait AddressSpace {
    /// A number that is equal only for equal mappings: what was found out for an address is kept
    /// under it.
    fn number(&self) -> u32;

    /// What an address points to.
    fn find(&self, avma: u64) -> Mapped<'_>;

    /// Reads code that nothing describes from an address on; returns how many bytes could be read.
    fn code(&self, avma: u64, into: &mut [u8]) -> usize {
        let _ = (avma, into);
        0
    }
}

/// What an address points to.
#[derive(Clone, Copy, Debug)]
pub enum Mapped<'t> {
    /// To nothing that is known as code.
    Nothing,
    /// To code without any description: made at run time, or its file is missing.
    Code {
        /// The caller's number of the image.
        image: u32,
        /// Whether it is a file's: compilers at run time keep frame pointers everywhere or nowhere,
        /// files have single functions that keep none.
        is_file: bool,
    },
    /// To an image whose frames are described.
    Image {
        /// The caller's number of the image.
        image: u32,
        /// The description.
        table: &'t UnwindTable,
        /// What is to be taken from an AVMA to get the SVMA (wrapping).
        bias: u64,
    },
}

/// The images of one process, at addresses that do not overlap.
#[derive(Clone, Debug)]
pub struct ImageMap<'t> {
    number: u32,
    images: Vec<LoadedImage<'t>>,
}

/// An image where a process has it.
#[derive(Clone, Debug)]
pub struct LoadedImage<'t> {
    /// Where its code is (AVMA).
    pub range: Range<u64>,
    /// What is to be taken from an AVMA to get the SVMA (wrapping).
    pub bias: u64,
    /// What it says about its frames; `None` if its file is missing.
    pub table: Option<&'t UnwindTable>,
}

impl<'t> ImageMap<'t> {
    /// Images, which have the numbers of their places in the list. `number` must be another one for each map that an
    /// [`Unwinder`](crate::Unwinder) sees.
    pub fn new(number: u32, images: Vec<LoadedImage<'t>>) -> Self {
        Self { number, images }
    }
}

impl AddressSpace for ImageMap<'_> {
    fn number(&self) -> u32 {
        self.number
    }

    fn find(&self, avma: u64) -> Mapped<'_> {
        let found = (0..)
            .zip(&self.images)
            .find(|(_, one)| one.range.contains(&avma));
        let Some((image, &LoadedImage { bias, table, .. })) = found else {
            return Mapped::Nothing;
        };
        match table {
            Some(table) => Mapped::Image { image, table, bias },
            None => Mapped::Code {
                image,
                is_file: true,
            },
        }
    }
}

/// Whether a return address is in code.
pub(crate) fn is_code(space: &impl AddressSpace, pc: u64) -> bool {
    let call = CodeAddress::Return(Avma(pc)).lookup();
    !matches!(space.find(call.0), Mapped::Nothing)
}
