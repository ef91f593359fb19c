//! The byte that scales an index, where it names none: `objdump` shows that it is there.

use iced_x86::{Instruction, Register};

use super::prefixes::Prefixed;

/// The scale of an index that is no register, where `objdump` writes it: `%riz` and its factor.
pub(super) fn idle_index(prefixed: &Prefixed<'_>) -> Option<u32> {
    let decoded = prefixed.decoded;
    if decoded.memory_index() != Register::None || decoded.is_ip_rel_memory_operand() {
        return None;
    }
    let sib = of(prefixed)?;
    let (scale, base) = (sib >> 6, sib & 7);
    // The stack pointer cannot do without this byte, nor can an address without base.
    let has_base = decoded.memory_base() != Register::None;
    (scale != 0 || has_base && base != 4).then_some(1 << scale)
}

/// The byte, if the instruction has one.
pub(super) fn of(prefixed: &Prefixed<'_>) -> Option<u8> {
    let opcode = prefixed.opcode();
    let modrm = match *opcode {
        [0x0f, 0x38 | 0x3a, ..] => 3,
        [0x0f, ..] => 2,
        // Of prefixes that hold a part of the opcode, where they are not instructions of their own.
        [0x62, ..] if is_evex(prefixed.decoded) => 5,
        [0xc4 | 0x8f, ..] if is_vex(prefixed.decoded) => 4,
        [0xc5, ..] if is_vex(prefixed.decoded) => 3,
        _ => 1,
    };
    let byte = *opcode.get(modrm)?;
    let has_sib = byte >> 6 != 3 && byte & 7 == 4 && addresses_are_wide(prefixed.decoded);
    has_sib.then(|| opcode.get(modrm + 1).copied()).flatten()
}

/// Not of 16 bits, which have no such byte.
fn addresses_are_wide(decoded: &Instruction) -> bool {
    let base = decoded.memory_base();
    !base.is_gpr16() && !decoded.memory_index().is_gpr16() && decoded.memory_displ_size() != 2
}

fn is_evex(decoded: &Instruction) -> bool {
    use iced_x86::EncodingKind;
    decoded.code().encoding() == EncodingKind::EVEX
}

fn is_vex(decoded: &Instruction) -> bool {
    use iced_x86::EncodingKind;
    matches!(
        decoded.code().encoding(),
        EncodingKind::VEX | EncodingKind::XOP
    )
}
