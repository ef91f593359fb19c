//! The byte that scales an index, where it names none: `objdump` shows that it is there.

use iced_x86::{EncodingKind, Instruction, Register};

use super::prefixes::Prefixed;

/// The scale of an index that is no register, where `objdump` writes it: `%riz` and its factor.
pub(super) fn idle_index(prefixed: &Prefixed<'_>) -> Option<u32> {
    let decoded = prefixed.decoded;
    if decoded.memory_index() != Register::None || decoded.is_ip_rel_memory_operand() {
        return None;
    }
    let sib = byte(prefixed)?;
    let (scale, base) = (sib >> 6, sib & 7);
    // The stack pointer cannot do without this byte, nor can an address without base.
    let has_base = decoded.memory_base() != Register::None;
    (scale != 0 || has_base && base != 4).then_some(1 << scale)
}

/// The byte, if the instruction has one.
pub(super) fn byte(prefixed: &Prefixed<'_>) -> Option<u8> {
    let opcode = prefixed.opcode();
    let modrm = match (opcode, prefixed.decoded.code().encoding()) {
        ([0x0f, 0x38 | 0x3a, ..], _) => 3,
        ([0x0f, ..], _) => 2,
        // Of prefixes that hold a part of the opcode, where they are not instructions of their own.
        ([0x62, ..], EncodingKind::EVEX) => 5,
        ([0xc4 | 0x8f, ..], EncodingKind::VEX | EncodingKind::XOP) => 4,
        ([0xc5, ..], EncodingKind::VEX) => 3,
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
