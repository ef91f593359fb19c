//! x86-64. Source: System V ABI, AMD64 supplement, 3.6.2 (DWARF numbers) and 3.2.1 (calls); of
//! instructions, Intel SDM volume 2.

mod epilogue;
mod prologue;

use super::{Arch, Call, Does, LONGEST_CALL, PltStubs, Pushes, Sampled, SignalReturn, bits};
use gimli::Vendor;
use rprof_abi::Machine;
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
    const HAS_LINK_REGISTER: bool = false;
    const TRACKED: &'static [u16] = &[RBP, RBX, 12, 13, 14, 15, RETURN];
    const CALLEE_SAVED: u64 = bits(&[RBX, RBP, RSP, 12, 13, 14, 15]);
    const FRAME_RECORD: i64 = 0;

    const SAMPLED: Sampled = Sampled {
        pc: x86::IP,
        others: &[
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
        ],
    };
    const VENDOR: Vendor = Vendor::Default;
    /// `mov $15, %rax; syscall`. Before the registers: flags, a link and the signal stack's
    /// description (`struct ucontext`, include/uapi/asm-generic/ucontext.h; `struct sigcontext_64`,
    /// arch/x86/include/uapi/asm/sigcontext.h, v6.12).
    const SIGNAL: SignalReturn = SignalReturn {
        code: &[0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05],
        pc: 40 + 16 * 8,
        at: 40,
        registers: &[8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7],
    };
    const GO_ENTRY: &'static str = "_rt0_amd64_linux";
    const CODE_ALIGN: usize = 1;
    const DECODES_FRAMES: bool = true;

    #[inline]
    fn strip(word: u64) -> u64 {
        word
    }

    /// Stubs push a number and jump to the first one, which pushes a word more. In programs without
    /// libraries there is no first stub that the others jump to.
    fn plt_stubs(code: &[u8]) -> PltStubs {
        let Some((first, second)) = code.split_at_checked(STUB_LEN as usize) else {
            return PltStubs::default();
        };
        let at = match (first, second) {
            // `push GOT+8(%rip)`; `jmp *GOT(%rip)`, `push $number`.
            ([0xff, 0x35, ..], [0xff, 0x25, _, _, _, _, 0x68, ..]) => 11,
            // `endbr64`, `push $number`.
            ([0xff, 0x35, ..], [0xf3, 0x0f, 0x1e, 0xfa, 0x68, ..]) => 9,
            _ => return PltStubs::default(),
        };
        let (before, after) = (0, 1);
        PltStubs {
            first_len: STUB_LEN,
            // `push GOT+8(%rip)` has 6 bytes.
            first: Pushes {
                before: 1,
                at: 6,
                after: 2,
            },
            len: STUB_LEN,
            others: Pushes { before, at, after },
        }
    }

    /// CALL (E8 and FF /2).
    fn call_before(avma: u64, code: &[u8; LONGEST_CALL]) -> Call {
        let [.., c3, c4, c5, c6, c7] = *code;
        // FF /2: without or with displacement or index; a prefix may stand before it.
        let is_indirect = |len: usize| {
            let at = LONGEST_CALL - len;
            code[at] == 0xff && code[at + 1] >> 3 & 7 == 2
        };
        if c3 == 0xe8 {
            let to = i32::from_le_bytes([c4, c5, c6, c7]);
            Call::To(avma.wrapping_add_signed(to.into()))
        } else if [2, 3, 4, 6, 7].into_iter().any(is_indirect) {
            Call::Somewhere
        } else {
            Call::None
        }
    }

    /// FF /2 with a register.
    fn indirect_call(code: &[u8]) -> Option<u64> {
        matches!(code, [0xff, 0xd0..=0xd7, ..]).then_some(2)
    }

    /// With or without `endbr64` and `bnd`.
    fn is_jump_stub(code: &[u8]) -> bool {
        matches!(code, [0xff, 0x25, ..] | [0xf3, 0x0f, 0x1e, 0xfa, ..])
    }

    /// FF /4 behind `endbr64` and `bnd`, or FF /2, both with an address relative to what follows.
    fn jump_slot(avma: u64, code: &[u8]) -> Option<u64> {
        let rest = code.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]).unwrap_or(code);
        let rest = rest.strip_prefix(&[0xf2]).unwrap_or(rest);
        let (distance, n_bytes) = match (rest, code) {
            ([0xff, 0x25, a, b, c, d, ..], _) => ([*a, *b, *c, *d], code.len() - rest.len() + 6),
            (_, [.., 0xff, 0x15, a, b, c, d]) => ([*a, *b, *c, *d], code.len()),
            _ => return None,
        };
        let next = avma.wrapping_add(n_bytes as u64);
        Some(next.wrapping_add_signed(i32::from_le_bytes(distance).into()))
    }

    fn frame_bytes(code: &[u8]) -> Option<u64> {
        prologue::frame_bytes(code)
    }

    fn epilogue(code: &[u8]) -> Option<(usize, Does)> {
        epilogue::decode(code)
    }

    fn is_before_frame(code: &[u8]) -> bool {
        prologue::is_before_frame(code)
    }

    fn pushes_frame_pointer(instruction: u8) -> bool {
        instruction == prologue::PUSH
    }

    fn makes_frame(code: &[u8]) -> bool {
        prologue::makes_frame(code)
    }

    fn is_start(code: &[u8]) -> bool {
        prologue::is_start(code)
    }
}

/// Bytes of a stub.
const STUB_LEN: u32 = 16;
