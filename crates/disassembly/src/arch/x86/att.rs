//! Where `objdump` writes AT&T's syntax in another way than the library.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use super::mode::Mode;
use super::parts::{Parts, shifts_by_one};
use super::prefixes::{Prefixed, hint};
use super::sib;

/// Makes it `objdump`'s text.
pub(super) fn edit(prefixed: &Prefixed<'_>, parts: &mut Parts) {
    let decoded = prefixed.decoded;
    if let Some(scale) = sib::idle_index(prefixed) {
        idle_index(prefixed, scale, parts);
    }
    if let Some(hint) = hint(decoded) {
        parts.mnemonic.push_str(hint);
    }
    if shifts_by_one(decoded) {
        parts.without_first("$0x1,");
    }
    match decoded.mnemonic() {
        Mnemonic::Call | Mnemonic::Jmp if decoded.is_call_far() || decoded.is_jmp_far() => {
            parts.operands = parts.operands.replace(",$", ",$0x");
        }
        Mnemonic::Call | Mnemonic::Jmp | Mnemonic::Push | Mnemonic::Pop
            if decoded.op0_kind() == OpKind::Memory =>
        {
            without_width(prefixed, parts);
        }
        Mnemonic::Reservednop => reserved_nop(decoded, parts),
        Mnemonic::Retf | Mnemonic::Iret | Mnemonic::Iretd => without_suffix('l', parts),
        Mnemonic::Sal => parts.mnemonic = parts.mnemonic.replace("sal", "shl"),
        Mnemonic::In | Mnemonic::Out => parts.operands = parts.operands.replace("%dx", "(%dx)"),
        Mnemonic::Insb
        | Mnemonic::Insw
        | Mnemonic::Insd
        | Mnemonic::Outsb
        | Mnemonic::Outsw
        | Mnemonic::Outsd => {
            parts.operands = parts.operands.replace("%dx", "(%dx)");
        }
        Mnemonic::Mov if has_debug_register(decoded) => {
            parts.operands = parts.operands.replace("%dr", "%db")
        }
        Mnemonic::Fneni | Mnemonic::Fndisi => parts.mnemonic.push_str("(8087 only)"),
        Mnemonic::Fnsetpm | Mnemonic::Frstpm => parts.mnemonic.push_str("(287 only)"),
        _ => {}
    }
}

/// Of those that do nothing yet, the register is not written.
fn reserved_nop(decoded: &Instruction, parts: &mut Parts) {
    let width = match decoded.op1_register().size() {
        _ if decoded.op0_kind() != OpKind::Memory => "",
        2 => "w",
        8 => "q",
        _ => "l",
    };
    parts.mnemonic = format!("nop{width}");
    if let Some((_, rest)) = parts.operands.split_once(',') {
        parts.operands = rest.to_owned();
    }
}

/// Of the width that they have without saying so.
fn without_width(prefixed: &Prefixed<'_>, parts: &mut Parts) {
    let is_far = parts.mnemonic.starts_with("lcall") || parts.mnemonic.starts_with("ljmp");
    match prefixed.mode {
        _ if is_far => without_suffix('l', parts),
        Mode::Bits64 => without_suffix('q', parts),
        Mode::Bits32 => without_suffix('l', parts),
    }
}

fn without_suffix(suffix: char, parts: &mut Parts) {
    let name = parts.mnemonic.strip_suffix(suffix).unwrap_or_default();
    if !matches!(name, "" | "cal" | "lcal") {
        parts.mnemonic.truncate(name.len());
    }
}

fn has_debug_register(decoded: &Instruction) -> bool {
    decoded.op0_register().is_dr() || decoded.op1_register().is_dr()
}

/// `(%rcx,%riz,2)`, where the library has `(%rcx,)`.
fn idle_index(prefixed: &Prefixed<'_>, scale: u32, parts: &mut Parts) {
    let name = if prefixed.mode == Mode::Bits64 {
        "%riz"
    } else {
        "%eiz"
    };
    let decoded = prefixed.decoded;
    let operands = &parts.operands;
    let replaced = match decoded.memory_base() {
        Register::None => None,
        _ => operands.rfind(')').map(|end| {
            let (before, after) = operands.split_at(end);
            let before = before.strip_suffix(',').unwrap_or(before);
            format!("{before},{name},{scale}{after}")
        }),
    };
    if let Some(replaced) = replaced {
        parts.operands = replaced;
    }
}
