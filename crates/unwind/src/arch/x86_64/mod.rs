//! x86-64. Source: System V ABI, AMD64 supplement, 3.6.2 (DWARF numbers) and 3.2.1 (calls).

use super::{Arch, bits};

/// The machine.
pub(crate) struct X86_64;

const RBX: u16 = 3;
const RBP: u16 = 6;
const RSP: u16 = 7;
const RETURN: u16 = 16;

impl Arch for X86_64 {
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

/// The program counter's number in samples (`enum perf_event_x86_regs`,
/// arch/x86/include/uapi/asm/perf_regs.h, v6.12).
pub(crate) const PERF_PC: u32 = 8;

/// The other registers' numbers in samples, and DWARF's.
pub(crate) const PERF: &[(u32, u16)] = &[
    (0, 0),
    (1, RBX),
    (2, 2),
    (3, 1),
    (4, 4),
    (5, 5),
    (6, RBP),
    (7, RSP),
    (16, 8),
    (17, 9),
    (18, 10),
    (19, 11),
    (20, 12),
    (21, 13),
    (22, 14),
    (23, 15),
];
