//! 64-bit ARM. Source: DWARF for the Arm 64-bit Architecture, 4.1; Procedure Call Standard, 6.1; of
//! instructions, Arm ARM.

use super::{
    Arch, Call, LONGEST_CALL, PltStubs, Pushes, Sampled, SignalReturn, bits, first_word,
    same_numbers,
};
use gimli::Vendor;
use rprof_abi::Machine;
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
    const HAS_LINK_REGISTER: bool = true;
    const TRACKED: &'static [u16] = &[FP, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, LINK];
    const CALLEE_SAVED: u64 = bits(&[19, 20, 21, 22, 23, 24, 25, 26, 27, 28, FP, SP]);
    const FRAME_RECORD: i64 = 0;

    /// Samples have DWARF's numbers.
    const SAMPLED: Sampled = Sampled {
        pc: arm64::PC,
        others: &same_numbers::<32>(0),
    };
    const VENDOR: Vendor = Vendor::AArch64;
    /// `mov x8, #139; svc #0`. Before the registers: what is known of the signal (128 bytes), flags, a
    /// link and the signal stack's description, a signal mask of 128 bytes, padding, and the address
    /// of a fault (`struct rt_sigframe`, arch/arm64/kernel/signal.c; `struct sigcontext`,
    /// arch/arm64/include/uapi/asm/sigcontext.h, v6.12).
    const SIGNAL: SignalReturn = SignalReturn {
        code: &[0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4],
        pc: 128 + 176 + 8 + 32 * 8,
        at: 128 + 176 + 8,
        registers: &[
            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
            24, 25, 26, 27, 28, 29, 30, 31,
        ],
    };
    const GO_ENTRY: &'static str = "_rt0_arm64_linux";
    const CODE_ALIGN: usize = 4;
    const DECODES_FRAMES: bool = false;

    /// Return addresses may be signed: pointer authentication keeps its code in the bits that
    /// user addresses (48 bits wide) do not use.
    #[inline]
    fn strip(word: u64) -> u64 {
        word & ((1 << 48) - 1)
    }

    /// The first stub saves the link register.
    fn plt_stubs(code: &[u8]) -> PltStubs {
        let at = match code {
            // `stp x16, x30, [sp, #-16]!`; it may stand after `bti c`.
            [0xf0, 0x7b, 0xbf, 0xa9, ..] => 4,
            [_, _, _, _, 0xf0, 0x7b, 0xbf, 0xa9, ..] => 8,
            _ => return PltStubs::default(),
        };
        let (before, after) = (0, 2);
        PltStubs {
            first_len: 32,
            first: Pushes { before, at, after },
            ..PltStubs::default()
        }
    }

    /// BL and BLR.
    fn call_before(avma: u64, code: &[u8; LONGEST_CALL]) -> Call {
        let [.., a, b, c, d] = *code;
        let word = u32::from_le_bytes([a, b, c, d]);
        if word >> 26 == 0b10_0101 {
            // 26 bits with their sign, in words.
            let to = i64::from((word << 6).cast_signed() >> 6) * 4;
            Call::To(avma.wrapping_sub(4).wrapping_add_signed(to))
        } else if word & 0xfeff_f000 == 0xd63f_0000 {
            // BLR, and its forms with pointer authentication.
            Call::Somewhere
        } else {
            Call::None
        }
    }

    /// BLR.
    fn indirect_call(code: &[u8]) -> Option<u64> {
        (first_word(code)? & 0xffff_fc1f == 0xd63f_0000).then_some(4)
    }

    /// `adrp x16`, as linkers make their stubs.
    fn is_jump_stub(code: &[u8]) -> bool {
        first_word(code).is_some_and(|word| word & 0x9f00_001f == 0x9000_0010)
    }
}
