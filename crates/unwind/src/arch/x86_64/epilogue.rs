//! Instructions of epilogues.

use super::{Does, RSP};

/// DWARF's numbers of the registers, by those in instructions.
const REGISTERS: [u16; 16] = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];

/// The instruction at the start of code, if it is one that epilogues have.
///
/// Source: Intel SDM volume 2.
pub(super) fn decode(code: &[u8]) -> Option<(usize, Does)> {
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
