//! What differs between machines: numbers of registers, what calls do to them, and code.

pub(crate) mod aarch64;
mod parts;
pub(crate) mod riscv64;
pub(crate) mod x86_64;

pub use parts::{Call, LONGEST_CALL};
pub(crate) use parts::{Does, PltStubs, Pushes, Sampled, SignalReturn, same_numbers};

use gimli::Vendor;
use rprof_abi::Machine;

/// The most registers that a frame can save.
pub(crate) const MAX_SLOTS: usize = 12;

/// One machine. Numbers of registers are DWARF's.
pub(crate) trait Arch {
    /// The machine.
    const MACHINE: Machine;
    /// Stack pointer.
    const SP: u16;
    /// Frame pointer.
    const FP: u16;
    /// The column of the return address.
    const RETURN: u16;
    /// Whether that is a link register: calls leave the return address there, and not on the stack.
    const HAS_LINK_REGISTER: bool;
    /// The registers that a compact rule tracks, in the order of its slots; [`Self::RETURN`] is
    /// the last.
    const TRACKED: &'static [u16];
    /// The callee-saved registers, as bits.
    const CALLEE_SAVED: u64;
    /// From where the frame pointer leads to the caller's, which the return address follows.
    const FRAME_RECORD: i64;
    /// Registers as samples have them.
    const SAMPLED: Sampled;
    /// Whose instructions descriptions may use.
    const VENDOR: Vendor;
    /// Signal frames.
    const SIGNAL: SignalReturn;
    /// The function of Go's runtime that programs begin with.
    const GO_ENTRY: &'static str;
    /// Instructions begin at multiples of this.
    const CODE_ALIGN: usize;
    /// Whether prologues and epilogues are decoded: then the last five functions are not those of the trait.
    const DECODES_FRAMES: bool;

    /// An address without what else its word holds.
    fn strip(word: u64) -> u64;

    /// The stubs in a section `.plt`.
    fn plt_stubs(code: &[u8]) -> PltStubs;

    /// The call at the end of code, before an address (AVMA).
    fn call_before(avma: u64, code: &[u8; LONGEST_CALL]) -> Call;

    /// Bytes of the call through a register that code begins with, if it does.
    fn indirect_call(code: &[u8]) -> Option<u64>;

    /// Whether code is a jump through a table: what it leads to cannot be told from it.
    fn is_jump_stub(code: &[u8]) -> bool;

    /// Where the address is that a stub jumps to, or a call at the end of code calls, if that can be told (AVMA).
    fn jump_slot(_avma: u64, _code: &[u8]) -> Option<u64> {
        None
    }

    /// Bytes from the stack pointer up to the frame pointer in a function whose code this is, if its begin says so.
    fn frame_bytes(_code: &[u8]) -> Option<u64> {
        None
    }

    /// The instruction that code begins with, if epilogues have such, and its bytes.
    fn epilogue(_code: &[u8]) -> Option<(usize, Does)> {
        None
    }

    /// Whether code goes on, with nothing that moves the stack pointer, to where a frame begins: the
    /// return address is what the stack pointer leads to.
    fn is_before_frame(_code: &[u8]) -> bool {
        false
    }

    /// Whether an instruction of one byte pushes the frame pointer.
    fn pushes_frame_pointer(_instruction: u8) -> bool {
        false
    }

    /// Whether code makes the stack pointer the frame pointer.
    fn makes_frame(_code: &[u8]) -> bool {
        false
    }

    /// Whether the code of a function, from its start to where it is, has moved the stack pointer by
    /// no more than the push of a frame pointer.
    fn is_start(_code: &[u8]) -> bool {
        false
    }
}

/// The instruction that code begins with, of machines whose instructions have four bytes.
pub(crate) fn first_word(code: &[u8]) -> Option<u32> {
    code.first_chunk().copied().map(u32::from_le_bytes)
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
