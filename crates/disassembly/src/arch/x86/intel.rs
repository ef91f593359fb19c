//! Where `objdump` writes Intel's syntax in another way than the library.

use iced_x86::{Code, Instruction, Mnemonic, Register};

use super::mode::Mode;
use super::parts::{Parts, has_memory};
use super::prefixes::Prefixed;
use super::sib;

/// Makes it `objdump`'s text.
pub(super) fn edit(prefixed: &Prefixed<'_>, parts: &mut Parts) {
    let decoded = prefixed.decoded;
    memory(prefixed, parts);
    if decoded.code().is_string_instruction() {
        string(parts);
    }
    if parts.mnemonic.starts_with('f') {
        stack(decoded, parts);
    }
    if prefixed.shifts_by_one()
        && let Some(rest) = parts.operands.strip_suffix("0x1")
    {
        parts.operands = format!("{rest}1");
    }
    match decoded.mnemonic() {
        Mnemonic::Mov if decoded.code() == Code::Mov_r64_imm64 => parts.rename("movabs"),
        Mnemonic::Mov
            if decoded.op0_register().is_segment_register() && decoded.op1_register().is_gpr() =>
        {
            // Of the register, all is read.
            let full = decoded.op1_register().full_register32();
            let wide = format!("{full:?}").to_lowercase();
            parts.operands = match parts.operands.split_once(',') {
                Some((segment, _)) => format!("{segment},{wide}"),
                None => wide,
            };
        }
        _ if parts.mnemonic.starts_with("prefetch_") => parts.rename("prefetch"),
        Mnemonic::Movmskps | Mnemonic::Movmskpd if decoded.op0_register().is_gpr64() => {
            if let Some((_, from)) = parts.operands.split_once(',') {
                let to = format!("{:?}", decoded.op0_register()).to_lowercase();
                parts.operands = format!("{to},{from}");
            }
        }
        Mnemonic::Lddqu => parts.operands = parts.operands.replace("XMMWORD PTR ", ""),
        Mnemonic::Iretd => parts.rename("iret"),
        Mnemonic::Pushfd | Mnemonic::Pushfq => parts.rename("pushf"),
        Mnemonic::Popfd | Mnemonic::Popfq => parts.rename("popf"),
        Mnemonic::Sal => parts.rename("shl"),
        Mnemonic::Sha256rnds2 | Mnemonic::Pblendvb | Mnemonic::Blendvps | Mnemonic::Blendvpd
            if decoded.op_count() == 2 && !parts.operands.ends_with(",xmm0") =>
        {
            parts.operands.push_str(",xmm0");
        }
        _ => {}
    }
}

/// The memory operand.
fn memory(prefixed: &Prefixed<'_>, parts: &mut Parts) {
    let decoded = prefixed.decoded;
    if let Some(scale) = sib::idle_index(prefixed) {
        let name = if prefixed.mode == Mode::Bits64 {
            "riz"
        } else {
            "eiz"
        };
        let base = format!("{:?}", decoded.memory_base()).to_lowercase();
        parts.operands =
            parts
                .operands
                .replacen(&format!("[{base}"), &format!("[{base}+{name}*{scale}"), 1);
    } else if decoded.memory_base() == Register::None && decoded.memory_index() == Register::None {
        absolute(parts);
    } else if decoded.is_ip_rel_memory_operand() {
        backwards(decoded, parts);
    }
    if prefixed.is_offset() {
        if prefixed.mode == Mode::Bits64 {
            parts.rename("movabs");
        }
        if let Some((before, after)) = parts.operands.split_once(" PTR ") {
            let first = before
                .rsplit_once(',')
                .map(|(first, _)| format!("{first},"))
                .unwrap_or_default();
            parts.operands = format!("{first}{after}");
        }
    }
    if decoded.is_broadcast() {
        parts.operands = parts.operands.replace(" PTR ", " BCST ");
        if let Some((before, rest)) = parts.operands.split_once("{1to")
            && let Some((_, after)) = rest.split_once('}')
        {
            parts.operands = format!("{before}{after}");
        }
    }
    // Elements chosen by a mask of their own.
    if decoded.is_vsib() && decoded.has_op_mask() {
        let mask = format!("{:?}", decoded.op_mask()).to_lowercase();
        parts.operands = parts
            .operands
            .replacen(&format!(",{mask},"), &format!("{{{mask}}},"), 1);
        if let Some(rest) = parts.operands.strip_suffix(&format!(",{mask}")) {
            parts.operands = format!("{rest}{{{mask}}}");
        }
    }
}

/// An address without registers: `ds:0x10` and not `[0x10]`, `fs:0x28` and not `fs:[0x28]`.
fn absolute(parts: &mut Parts) {
    let Some((before, rest)) = parts.operands.split_once("[0x") else {
        return;
    };
    let Some((digits, after)) = rest.split_once(']') else {
        return;
    };
    let segment = if before.ends_with(':') { "" } else { "ds:" };
    parts.operands = format!("{before}{segment}0x{digits}{after}");
}

/// Memory before the program counter is as far away as it is, without sign.
fn backwards(decoded: &Instruction, parts: &mut Parts) {
    let distance = decoded
        .memory_displacement64()
        .wrapping_sub(decoded.next_ip());
    let Some((before, rest)) = parts.operands.split_once("[rip-0x") else {
        return;
    };
    let Some((_, after)) = rest.split_once(']') else {
        return;
    };
    parts.operands = format!("{before}[rip+{distance:#x}]{after}");
}

/// The width of strings is in their operands, all of which are written.
fn string(parts: &mut Parts) {
    // Its last letter is the width.
    parts.mnemonic.pop();
    let accumulator = match parts.operands.as_bytes().first() {
        Some(b'B') => "al",
        Some(b'W') => "ax",
        Some(b'D') => "eax",
        _ => "rax",
    };
    match parts.mnemonic.as_str() {
        "stos" => parts.operands = format!("{},{accumulator}", parts.operands),
        "scas" | "lods" => parts.operands = format!("{accumulator},{}", parts.operands),
        _ => {}
    }
}

/// The top of the stack is not written where it is the only one that can be meant.
fn stack(decoded: &Instruction, parts: &mut Parts) {
    let has_one = matches!(
        decoded.mnemonic(),
        Mnemonic::Fld
            | Mnemonic::Fst
            | Mnemonic::Fstp
            | Mnemonic::Fxch
            | Mnemonic::Fucom
            | Mnemonic::Fucomp
            | Mnemonic::Fcom
            | Mnemonic::Fcomp
    );
    if has_memory(decoded) || has_one {
        let operands = parts
            .operands
            .strip_prefix("st,")
            .unwrap_or(&parts.operands);
        parts.operands = operands.strip_suffix(",st").unwrap_or(operands).to_owned();
    }
}
