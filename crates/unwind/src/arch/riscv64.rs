//! 64-bit RISC-V. Source: RISC-V ELF psABI, 1.0, "DWARF Register Numbers", "Integer Calling Convention" and
//! "Frame Pointer Convention"; of instructions, RISC-V Unprivileged ISA, "RV32I", "C" extension.

use super::{
    Arch, Call, LONGEST_CALL, PltStubs, Sampled, SignalReturn, bits, first_word, same_numbers,
};
use gimli::Vendor;
use rprof_abi::Machine;
use rprof_abi::registers::riscv;

/// The machine.
pub(crate) struct Riscv64;

const RA: u16 = 1;
const SP: u16 = 2;
const FP: u16 = 8;

impl Arch for Riscv64 {
    const MACHINE: Machine = Machine::Riscv64;
    const SP: u16 = SP;
    const FP: u16 = FP;
    const RETURN: u16 = RA;
    const HAS_LINK_REGISTER: bool = true;
    /// Without `s11`, which the fewest functions save: those are evaluated.
    const TRACKED: &'static [u16] = &[FP, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, RA];
    const CALLEE_SAVED: u64 = bits(&[SP, FP, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27]);
    const FRAME_RECORD: i64 = -16;

    /// Samples have DWARF's numbers, with the program counter where DWARF has a register that is 0.
    const SAMPLED: Sampled = Sampled {
        pc: riscv::PC,
        others: &same_numbers::<31>(1),
    };
    const VENDOR: Vendor = Vendor::Default;
    /// `li a7, 139; ecall`. Before the registers: what is known of the signal (128 bytes), flags, a link
    /// and the signal stack's description, a signal mask of 128 bytes, and padding; the program counter
    /// is the first (`struct rt_sigframe`, arch/riscv/kernel/signal.c; `struct ucontext` and `struct
    /// sigcontext`, arch/riscv/include/uapi/asm, v6.12).
    const SIGNAL: SignalReturn = SignalReturn {
        code: &[0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0],
        pc: 128 + 176,
        at: 128 + 176 + 8,
        registers: &[
            1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
            25, 26, 27, 28, 29, 30, 31,
        ],
    };
    const GO_ENTRY: &'static str = "_rt0_riscv64_linux";
    const CODE_ALIGN: usize = 2;
    const DECODES_FRAMES: bool = false;

    #[inline]
    fn strip(word: u64) -> u64 {
        word
    }

    /// None of them pushes.
    fn plt_stubs(_: &[u8]) -> PltStubs {
        PltStubs::default()
    }

    /// JAL, AUIPC with JALR, JALR and C.JALR, where they link to `ra`.
    fn call_before(avma: u64, code: &[u8; LONGEST_CALL]) -> Call {
        let [a, b, c, d, e, f, g, h] = *code;
        let [first, last] = [[a, b, c, d], [e, f, g, h]].map(u32::from_le_bytes);
        if last & 0xfff == 0x0ef {
            let to = i64::from(jal_distance(last));
            Call::To(avma.wrapping_sub(4).wrapping_add_signed(to))
        } else if last & 0xf_ffff == 0x80e7 && first & 0xfff == 0x097 {
            let high = i64::from((first & !0xfff).cast_signed());
            let low = i64::from(last.cast_signed() >> 20);
            Call::To(avma.wrapping_sub(8).wrapping_add_signed(high + low))
        } else if last & 0x7fff == 0x00e7 || is_short_call(u16::from_le_bytes([g, h])) {
            Call::Somewhere
        } else {
            Call::None
        }
    }

    /// JALR and C.JALR.
    fn indirect_call(code: &[u8]) -> Option<u64> {
        let is_call = |word: u32| word & 0x7fff == 0x00e7;
        let short = code.first_chunk().copied().map(u16::from_le_bytes)?;
        if is_short_call(short) {
            Some(2)
        } else {
            first_word(code).is_some_and(is_call).then_some(4)
        }
    }

    /// `auipc t3`, as linkers make their stubs.
    fn is_jump_stub(code: &[u8]) -> bool {
        first_word(code).is_some_and(|word| word & 0xfff == 0xe17)
    }
}

/// How far a JAL goes: 20 bits with their sign, out of order.
fn jal_distance(word: u32) -> i32 {
    let sign = word.cast_signed() >> 31 << 20;
    let bits = word & 0xf_f000 | word >> 9 & 0x800 | word >> 20 & 0x7fe;
    sign | bits.cast_signed()
}

/// Whether it is C.JALR; without a register it would be C.EBREAK.
fn is_short_call(short: u16) -> bool {
    short & 0xf07f == 0x9002 && short != 0x9002
}
