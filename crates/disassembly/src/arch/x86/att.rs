//! Where `objdump` writes AT&T's syntax in another way than the library.

use iced_x86::{Mnemonic, OpKind, Register};

use super::mode::Mode;
use super::parts::Parts;
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
    if prefixed.shifts_by_one() {
        parts.without_first("$0x1,");
    }
    match decoded.mnemonic() {
        Mnemonic::Call | Mnemonic::Jmp | Mnemonic::Push | Mnemonic::Pop
            if decoded.op0_kind() == OpKind::Memory =>
        {
            without_width(prefixed, parts);
        }
        Mnemonic::Call | Mnemonic::Jmp if decoded.is_call_far() || decoded.is_jmp_far() => {
            parts.operands = parts.operands.replace(",$", ",$0x");
        }
        Mnemonic::Iretd => without_suffix('l', parts),
        Mnemonic::Sal => parts.mnemonic = parts.mnemonic.replace("sal", "shl"),
        _ if prefixed.has_port() => parts.operands = parts.operands.replace("%dx", "(%dx)"),
        _ => {}
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
