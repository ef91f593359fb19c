//! 64-bit ARM. Source: DWARF for the Arm 64-bit Architecture, 4.1; Procedure Call Standard, 6.1.

use super::{Arch, Machine, bits};
use rprof_abi::registers::arm64;

/// The machine.
pub(crate) struct Aarch64;

const FP: u16 = 29;
const LINK: u16 = 30;
const SP: u16 = 31;

impl Arch for Aarch64 {
    const MACHINE: Machine = Machine::Aarch64;
    const SP: u16 = SP;
    const FP: u16 = FP;
    const RETURN: u16 = LINK;
    const HAS_LINK: bool = true;
    const SAVED: &'static [u16] = &[FP, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, LINK];
    const KEPT: u64 = bits(&[19, 20, 21, 22, 23, 24, 25, 26, 27, 28, FP, SP]);

    /// Return addresses may be signed: pointer authentication keeps its code in the bits that
    /// user addresses (48 bits wide) do not use.
    #[inline]
    fn strip(word: u64) -> u64 {
        word & ((1 << 48) - 1)
    }
}

/// The program counter's number in samples.
pub(crate) const PERF_PC: u32 = arm64::PC;

/// The other registers' numbers in samples, and DWARF's: the same.
pub(crate) const PERF: &[(u32, u16)] = &{
    let mut numbers = [(0, 0); 32];
    let mut at = 0u16;
    while at < 32 {
        numbers[at as usize] = (at as u32, at);
        at += 1;
    }
    numbers
};
