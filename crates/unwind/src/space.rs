//! What a walk asks of the process whose stack it is.

use crate::UnwindTable;
use rprof_base::{Avma, CodeAddress};

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

/// Whether a return address is in code.
pub(crate) fn is_code(space: &impl AddressSpace, pc: u64) -> bool {
    let call = CodeAddress::Return(Avma(pc)).lookup();
    !matches!(space.find(call.0), Mapped::Nothing)
}
