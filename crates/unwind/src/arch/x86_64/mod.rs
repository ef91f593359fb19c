//! x86-64. Source: System V ABI, AMD64 supplement, 3.6.2 (DWARF numbers) and 3.2.1 (calls).

use super::{Arch, Machine, bits};
use rprof_abi::registers::x86;

/// The machine.
pub(crate) struct X86_64;

const RBX: u16 = 3;
const RBP: u16 = 6;
const RSP: u16 = 7;
const RETURN: u16 = 16;

impl Arch for X86_64 {
    const MACHINE: Machine = Machine::X86_64;
    const SP: u16 = RSP;
    const FP: u16 = RBP;
    const RETURN: u16 = RETURN;
    const HAS_LINK: bool = false;
    const SAVED: &'static [u16] = &[RBP, RBX, 12, 13, 14, 15, RETURN];
    const KEPT: u64 = bits(&[RBX, RBP, RSP, 12, 13, 14, 15]);

    #[inline]
    fn strip(word: u64) -> u64 {
        word
    }
}

/// The program counter's number in samples.
pub(crate) const PERF_PC: u32 = x86::IP;

/// The other registers' numbers in samples, and DWARF's.
pub(crate) const PERF: &[(u32, u16)] = &[
    (x86::AX, 0),
    (x86::DX, 1),
    (x86::CX, 2),
    (x86::BX, RBX),
    (x86::SI, 4),
    (x86::DI, 5),
    (x86::BP, RBP),
    (x86::SP, RSP),
    (x86::R8, 8),
    (x86::R9, 9),
    (x86::R10, 10),
    (x86::R11, 11),
    (x86::R12, 12),
    (x86::R13, 13),
    (x86::R14, 14),
    (x86::R15, 15),
];
