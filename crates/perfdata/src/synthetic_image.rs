//! Frames that are no code, or whose code is not known: functions of an interpreter, or of a profile of another tool.
//! Each has an address in an image of its own (`[python]`), which is mapped where no program can map anything, and whose
//! names the recording brings along (SYMBOLS). So a call chain is a list of addresses still: every reader of the format
//! takes it, and those that know the section name it.

use crate::feature::{AddressName, EmbeddedNames, SymbolAddress, SymbolFrame, SymbolImage};
use foldhash::fast::RandomState;
use rprof_abi::Misc;
use rprof_abi::record::{BuildIdBytes, FileIdentity, Inode, Mmap2};
use rprof_base::{Avma, Interner};

/// A function that is no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SyntheticFunction<'n> {
    /// Its name, as it is to be shown.
    pub name: &'n [u8],
    /// Where in the source: the file and the line (0: not known).
    pub line: Option<(&'n [u8], u32)>,
}

/// Where the functions of an image run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyntheticLevel {
    /// In processes.
    User,
    /// In the kernel, whose image is called `[kernel.kallsyms]`, or in a module.
    Kernel,
}

/// What images are told apart by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SyntheticIdentity {
    /// A path, or a name in brackets.
    pub name: Vec<u8>,
    /// The build id of a file.
    pub build_id: Option<BuildIdBytes>,
    /// Where its functions run.
    pub level: SyntheticLevel,
}

/// An image of such functions, and the addresses that it has for them.
#[derive(Clone, Debug)]
struct SyntheticImage {
    identity: SyntheticIdentity,
    /// By address, the innermost frame there; `None` for code without a name.
    addresses: Interner<u32, Option<u32>, RandomState>,
}

/// Images of such functions.
#[derive(Clone, Debug, Default)]
pub struct SyntheticImages {
    strings: Interner<u32, Vec<u8>, RandomState>,
    frames: Interner<u32, SymbolFrame, RandomState>,
    images: Interner<u32, SyntheticImage, RandomState, SyntheticIdentity>,
}

/// Bytes of a function: the address before one that is returned to is in it, too.
const FUNCTION_BYTES: u64 = 16;

/// What the kernel's own image is called.
const KERNEL_NAME: &[u8] = b"[kernel.kallsyms]";

impl SyntheticIdentity {
    /// Of code that is in no file; the name is in brackets.
    pub fn in_brackets(name: &[u8]) -> Self {
        Self {
            name: name.to_vec(),
            build_id: None,
            level: SyntheticLevel::User,
        }
    }

    fn is_kernel_itself(&self) -> bool {
        self.level == SyntheticLevel::Kernel && self.name == KERNEL_NAME
    }

    /// Where the image begins in its file: of a real one, far beyond its end, since no address stands for its code.
    fn file_offset(&self) -> u64 {
        match self.name.first() {
            Some(b'[') => 0,
            _ => 1 << 44,
        }
    }
}

impl SyntheticImages {
    /// Where the first image is mapped: no address of x86-64, 64-bit ARM or 64-bit RISC-V, however many levels their page
    /// tables have, and below the markers of call chains.
    pub const START: Avma = Avma(1 << 60);

    /// Bytes of each image.
    const LEN: u64 = 1 << 34;

    /// Images at most.
    const MOST: u32 = 1 << 26;

    /// The number of an image, new or known; `None` if there are too many.
    pub fn image(&mut self, identity: SyntheticIdentity) -> Option<u32> {
        let number = self
            .images
            .intern_with(identity, |identity| SyntheticImage {
                identity: identity.clone(),
                addresses: Interner::default(),
            });
        (number < Self::MOST).then_some(number)
    }

    /// The number of a frame: of a function, or of one that was inlined into `caller`. At most
    /// [`EmbeddedNames::MAX_DEPTH`] can be at one address.
    pub fn frame(&mut self, caller: Option<u32>, function: SyntheticFunction<'_>) -> u32 {
        let frame = SymbolFrame {
            caller,
            name: self.strings.intern_ref(function.name),
            line: function
                .line
                .map(|(file, line)| (self.strings.intern_ref(file), line)),
        };
        self.frames.intern(frame)
    }

    /// The address that stands for a frame and its callers in call chains, wherever in them; of code without a name if
    /// there is no frame. `None` if there are too many.
    pub fn address(&mut self, image: u32, frame: Option<u32>) -> Option<Avma> {
        let start = self.start(image);
        let addresses = &mut self.images.get_mut(image)?.addresses;
        let offset = u64::from(addresses.intern(frame)) * FUNCTION_BYTES + 1;
        (offset < Self::LEN).then_some(Avma(start + offset))
    }

    /// The mapping of an image: of a process in whose chains its addresses are, or of the kernel, for all. It comes before
    /// them.
    pub fn mapping(&self, image: u32, pid: i32) -> Option<(Misc, Mmap2<'_>)> {
        let identity = &self.images.get(image)?.identity;
        let (mode, pid) = match identity.level {
            SyntheticLevel::User => (Misc::USER, pid),
            SyntheticLevel::Kernel => (Misc::KERNEL, -1),
        };
        let (misc, file) = match identity.build_id {
            Some(id) => (
                Misc(mode.0 | Misc::MMAP_BUILD_ID.0),
                FileIdentity::BuildId(id),
            ),
            None => (mode, FileIdentity::Inode(Inode::default())),
        };
        let map = Mmap2 {
            pid,
            tid: pid,
            addr: self.start(image),
            len: Self::LEN,
            pgoff: identity.file_offset(),
            identity: file,
            prot: 5,
            flags: 2,
            filename: &identity.name,
        };
        Some((misc, map))
    }

    /// Where an image is mapped. The kernel's has all that follows it, and modules lie before it.
    fn start(&self, image: u32) -> u64 {
        let known = self.images.get(image);
        let is_last = known.is_some_and(|image| image.identity.is_kernel_itself());
        let slot = if is_last { Self::MOST } else { image };
        Self::START.0 + u64::from(slot) * Self::LEN
    }

    /// The names, as the section that goes into the file.
    pub fn into_names(mut self) -> EmbeddedNames {
        let mut images = Vec::new();
        for number in (0u32..).take(self.images.len()) {
            let start = self.start(number);
            let Some(image) = self.images.get(number) else {
                continue;
            };
            let identity = &image.identity;
            let is_module =
                identity.level == SyntheticLevel::Kernel && !identity.is_kernel_itself();
            let first = match identity.level {
                SyntheticLevel::User => identity.file_offset(),
                SyntheticLevel::Kernel => start,
            };
            images.push(SymbolImage {
                path: self.strings.intern_ref(&identity.name[..]),
                build_id: identity
                    .build_id
                    .map_or(Vec::new(), |id| id.as_bytes().to_vec()),
                avma: is_module.then_some(start),
                addresses: image.addresses_from(first),
                ..SymbolImage::default()
            });
        }
        EmbeddedNames {
            strings: self.strings.into_values(),
            frames: self.frames.into_values(),
            images,
        }
    }
}

impl SyntheticImage {
    /// What is at its addresses, the first of which is given: two of each function.
    fn addresses_from(&self, first: u64) -> Vec<SymbolAddress> {
        let functions = (0u64..).zip(self.addresses.values());
        let both = functions.flat_map(|(number, frame)| {
            let start = first + number * FUNCTION_BYTES;
            [0, 1].map(|offset| SymbolAddress {
                address: start + offset,
                name: frame.map(|frame| AddressName {
                    frame,
                    start,
                    offset,
                }),
            })
        });
        both.collect()
    }
}
