//! Frames that are no code: functions of an interpreter, say. Each has an address in an image of its own (`[python]`),
//! which is mapped where no program can map anything, and whose names the recording brings along (SYMBOLS). So a call
//! chain is a list of addresses still: every reader of the format takes it, and those that know the section name it.

use crate::feature::{AddressName, EmbeddedNames, SymbolAddress, SymbolFrame, SymbolImage};
use rprof_abi::record::{FileIdentity, Inode, Mmap2};
use rprof_base::{Avma, Interner};

/// A function that is no code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SyntheticFunction {
    /// Its name, as it is to be shown.
    pub name: Vec<u8>,
    /// Where in the source: the file and the line, from 1.
    pub line: Option<(Vec<u8>, u32)>,
}

/// An image of such functions.
#[derive(Clone, Debug)]
pub struct SyntheticImage {
    name: &'static [u8],
    functions: Interner<u32, SyntheticFunction>,
}

/// Bytes of a function: the address before one that is returned to is in it, too.
const FUNCTION_BYTES: u64 = 16;

impl SyntheticImage {
    /// Where such images are mapped: no address of x86-64, 64-bit ARM or 64-bit RISC-V, however many levels their page
    /// tables have, and below the markers of call chains.
    pub const START: Avma = Avma(1 << 60);

    /// Bytes of each image.
    const LEN: u64 = 1 << 34;

    /// An image with a name in brackets.
    pub fn new(name: &'static [u8]) -> Self {
        Self {
            name,
            functions: Interner::default(),
        }
    }

    /// The address that stands for a function in call chains, wherever in them; `None` if there are too many.
    pub fn address(&mut self, function: SyntheticFunction) -> Option<Avma> {
        let number = u64::from(self.functions.intern(function));
        let offset = number * FUNCTION_BYTES + 1;
        (offset < Self::LEN).then_some(Avma(Self::START.0 + offset))
    }

    /// The mapping of a process in whose chains such addresses are; it comes before them.
    pub fn mapping(&self, pid: i32) -> Mmap2<'static> {
        Mmap2 {
            pid,
            tid: pid,
            addr: Self::START.0,
            len: Self::LEN,
            pgoff: 0,
            identity: FileIdentity::Inode(Inode::default()),
            prot: 5,
            flags: 2,
            filename: self.name,
        }
    }

    /// The names, as the section that goes into the file.
    pub fn names(&self) -> EmbeddedNames {
        let mut names = EmbeddedNames::default();
        let mut strings: Interner<u32, Vec<u8>> = Interner::default();
        let mut image = SymbolImage {
            path: strings.intern(self.name.to_vec()),
            ..SymbolImage::default()
        };
        for (number, function) in (0u32..).zip(self.functions.values()) {
            names.frames.push(SymbolFrame {
                caller: None,
                name: strings.intern(function.name.clone()),
                line: function
                    .line
                    .as_ref()
                    .map(|(file, line)| (strings.intern(file.clone()), *line)),
            });
            let start = u64::from(number) * FUNCTION_BYTES;
            image.addresses.extend([0, 1].map(|offset| SymbolAddress {
                address: start + offset,
                name: Some(AddressName {
                    frame: number,
                    start,
                    offset,
                }),
            }));
        }
        names.images.push(image);
        names.strings = strings.into_values();
        names
    }
}
