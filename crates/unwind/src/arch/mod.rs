//! What differs between machines: numbers of registers, and what calls do to them.

pub(crate) mod aarch64;
pub(crate) mod x86_64;

pub(crate) use aarch64::Aarch64;
pub(crate) use x86_64::X86_64;

/// A machine whose stacks can be walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// 64-bit ARM, little-endian.
    Aarch64,
}

impl Machine {
    /// The machine with this name in `uname -m`, as recordings have it.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "x86_64" => Some(Self::X86_64),
            "aarch64" => Some(Self::Aarch64),
            _ => None,
        }
    }

    /// The machine that runs this program.
    pub const fn native() -> Option<Self> {
        if cfg!(target_arch = "x86_64") {
            Some(Self::X86_64)
        } else if cfg!(all(target_arch = "aarch64", target_endian = "little")) {
            Some(Self::Aarch64)
        } else {
            None
        }
    }
}

/// Registers saved by a frame are at most so many.
pub(crate) const MAX_SLOTS: usize = 12;

/// Numbers are DWARF's.
pub(crate) trait Arch {
    /// The machine.
    const MACHINE: Machine;
    /// Stack pointer.
    const SP: u16;
    /// Frame pointer.
    const FP: u16;
    /// The column of the return address.
    const RETURN: u16;
    /// Whether calls leave the return address in that register, and not on the stack.
    const HAS_LINK: bool;
    /// What a compact rule can say to be saved, in the order of its slots; [`Self::RETURN`] is
    /// the last.
    const SAVED: &'static [u16];
    /// Bit set of what survives a call.
    const KEPT: u64;

    /// An address without what else its word holds.
    fn strip(word: u64) -> u64;
}

/// A set of registers as bits.
pub(crate) const fn bits(numbers: &[u16]) -> u64 {
    let mut bits = 0;
    let mut at = 0;
    while at < numbers.len() {
        bits |= 1 << numbers[at];
        at += 1;
    }
    bits
}

const _: () = assert!(X86_64::SAVED.len() <= MAX_SLOTS && Aarch64::SAVED.len() <= MAX_SLOTS);
