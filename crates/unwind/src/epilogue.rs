//! Code that nothing describes, left by its own instructions: what stands between a return address and the
//! function's return takes its frame away. Stubs that were made at run time, such as those that Python
//! calls its functions through for profilers, have nothing else there.

use crate::Registers;
use crate::arch::{Arch, X86_64};
use crate::stack::{Stack, Unread};

/// Bytes of code that are looked at.
pub(crate) const MAX_CODE: usize = 64;

const RBP: u16 = 6;
const RSP: u16 = X86_64::SP;

/// DWARF's numbers of the registers, by those in instructions.
const REGISTERS: [u16; 16] = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];

/// The caller: its registers and where its program counter was.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) registers: Registers,
    pub(crate) slot: u64,
}

/// One instruction of an epilogue; how many bytes it has, and what it does.
#[derive(Debug, PartialEq, Eq)]
enum Does {
    /// The stack pointer goes up.
    Add(i32),
    Pop(u16),
    /// The stack pointer becomes the frame pointer's value.
    FromFramePointer,
    Leave,
    /// Bytes of arguments between the return address and the caller's stack pointer.
    Return(u16),
    /// It writes to a register that a caller's frame may be found by.
    Writes(u16),
    Nothing,
}

/// Goes to the caller by the code that begins at a return address (x86-64). `None` where that is no plain
/// epilogue: no jump, nothing but what is known here.
pub(crate) fn follow(
    mut code: &[u8],
    registers: &Registers,
    stack: &Stack<'_>,
) -> Result<Option<Caller>, Unread> {
    let mut registers = *registers;
    let Some(start) = registers.get(RSP) else {
        return Ok(None);
    };
    let mut sp = start;
    while let Some((len, does)) = decode(code) {
        code = code.get(len..).unwrap_or_default();
        match does {
            Does::Add(bytes) => sp = sp.wrapping_add_signed(bytes.into()),
            Does::Pop(register) => {
                registers.set(register, stack.word(sp)?);
                sp = sp.wrapping_add(8);
            }
            Does::FromFramePointer | Does::Leave => {
                let Some(frame) = registers.get(RBP) else {
                    return Ok(None);
                };
                sp = frame;
                if does == Does::Leave {
                    registers.set(RBP, stack.word(sp)?);
                    sp = sp.wrapping_add(8);
                }
            }
            Does::Writes(register) => registers.forget(register),
            Does::Nothing => {}
            Does::Return(bytes) => {
                let pc = stack.word(sp)?;
                registers.keep(X86_64::KEPT);
                registers.set(RSP, sp.wrapping_add(8 + u64::from(bytes)));
                registers.set_pc(pc);
                let caller = Caller {
                    registers,
                    slot: sp,
                };
                return Ok((sp >= start).then_some(caller));
            }
        }
        if sp < start {
            return Ok(None);
        }
    }
    Ok(None)
}

/// The instruction at the start of code, if it is one that epilogues have.
///
/// Source: Intel SDM volume 2.
fn decode(code: &[u8]) -> Option<(usize, Does)> {
    let byte = |byte: u8| i32::from(byte.cast_signed());
    let word = |bytes: &[u8; 4]| i32::from_le_bytes(*bytes);
    Some(match *code {
        [0xc3, ..] => (1, Does::Return(0)),
        [0xf3, 0xc3, ..] => (2, Does::Return(0)),
        // With the arguments: V8's functions do so.
        [0xc2, a, b, ..] => (3, Does::Return(u16::from_le_bytes([a, b]))),
        [0xc9, ..] => (1, Does::Leave),
        // vzeroupper
        [0xc5, 0xf8, 0x77, ..] => (3, Does::Nothing),
        // add $n, %rsp; lea n(%rsp), %rsp
        [0x48, 0x83, 0xc4, n, ..] => (4, Does::Add(byte(n))),
        [0x48, 0x81, 0xc4, a, b, c, d, ..] => (7, Does::Add(word(&[a, b, c, d]))),
        [0x48, 0x8d, 0x64, 0x24, n, ..] => (5, Does::Add(byte(n))),
        [0x48, 0x8d, 0xa4, 0x24, a, b, c, d, ..] => (8, Does::Add(word(&[a, b, c, d]))),
        // mov %rbp, %rsp
        [0x48, 0x89, 0xec, ..] | [0x48, 0x8b, 0xe5, ..] => (3, Does::FromFramePointer),
        [0x5c, ..] => return None,
        [pop @ 0x58..=0x5f, ..] => (1, Does::Pop(REGISTERS[usize::from(pop - 0x58)])),
        [0x41, pop @ 0x58..=0x5f, ..] => (2, Does::Pop(REGISTERS[usize::from(pop - 0x50)])),
        // mov between registers
        [
            rex @ 0x40..=0x4f,
            op @ (0x89 | 0x8b),
            modrm @ 0xc0..=0xff,
            ..,
        ] => (3, Does::Writes(written(rex, op, modrm)?)),
        [op @ (0x89 | 0x8b), modrm @ 0xc0..=0xff, ..] => (2, Does::Writes(written(0, op, modrm)?)),
        _ => return None,
    })
}

/// The register that a move writes to; `None` for the stack pointer.
fn written(rex: u8, op: u8, modrm: u8) -> Option<u16> {
    let number = match op {
        0x89 => modrm & 7 | (rex & 1) << 3,
        _ => modrm >> 3 & 7 | (rex & 4) << 1,
    };
    let register = REGISTERS[usize::from(number)];
    (register != RSP).then_some(register)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;

    /// A stack of words that are the numbers of their places, from 0x1000 on.
    fn caller(code: &[u8]) -> Option<(u64, u64, Option<u64>)> {
        let bytes: Vec<u8> = (0..64u64).flat_map(u64::to_le_bytes).collect();
        let stack = Stack::new(0x1000, &bytes, true);
        let mut registers = Registers::new(Machine::X86_64, 1);
        registers.set(RSP, 0x1000);
        registers.set(RBP, 0x1050);
        let caller = follow(code, &registers, &stack).unwrap()?;
        let registers = caller.registers;
        Some((registers.pc(), registers.get(RSP)?, registers.get(RBP)))
    }

    #[test]
    fn epilogues_lead_to_the_caller() {
        assert_eq!(caller(&[0xc3]), Some((0, 0x1008, Some(0x1050))));
        assert_eq!(caller(&[0xc2, 0x18, 0]), Some((0, 0x1020, Some(0x1050))));
        let python = [0x48, 0x83, 0xc4, 8, 0xc3];
        assert_eq!(caller(&python), Some((1, 0x1010, Some(0x1050))));
        let pops = [0x48, 0x81, 0xc4, 16, 0, 0, 0, 0x5b, 0x41, 0x5c, 0x5d, 0xc3];
        assert_eq!(caller(&pops), Some((5, 0x1030, Some(4))));
        assert_eq!(caller(&[0xc9, 0xc3]), Some((11, 0x1060, Some(10))));
        let moves = [0x48, 0x89, 0xc3, 0x89, 0xd0, 0x48, 0x89, 0xec, 0x5d, 0xc3];
        assert_eq!(caller(&moves), Some((11, 0x1060, Some(10))));
    }

    #[test]
    fn what_else_code_does_is_not_known() {
        for code in [
            &[][..],
            &[0x48, 0x83, 0xc4],
            &[0xeb, 0, 0xc3],
            &[0xff, 0xd0, 0xc3],
            &[0x5c, 0xc3],
            &[0x48, 0x89, 0xc4, 0xc3],
            &[0x49, 0x8b, 0xe0, 0xc3],
            &[0x48, 0x83, 0xc4, 0xf8, 0xc3],
            &[0x90; 64],
            // Padding behind a call that does not return.
            &[0x90, 0xc3],
            // A function begins: what came before does not return.
            &[0xf3, 0x0f, 0x1e, 0xfa, 0xc3],
        ] {
            assert_eq!(caller(code), None, "{code:x?}");
        }
    }
}
