//! The text of an instruction of 64-bit ARM, as `objdump` has it.

use std::fmt::Write as _;

use yaxpeax_arm::armv8::a64::{Instruction, Opcode, Operand};

use super::registers;
use super::word::Word;

/// Whose numbers are decimal: positions and counts of bits, and elements; also with a `2`, for upper halves.
const DECIMAL: &[&str] = &[
    "bfc", "bfi", "bfxil", "cmeq", "cmge", "cmgt", "cmle", "cmlt", "ext", "extr", "fcadd", "fcmla",
    "fcvtzs", "fcvtzu", "ror", "rshrn", "sbfiz", "sbfx", "scvtf", "shl", "shll", "shrn", "sli",
    "sqrshrn", "sqrshrun", "sqshl", "sqshlu", "sqshrn", "sqshrun", "sri", "srshr", "srsra",
    "sshll", "sshr", "ssra", "sys", "sysl", "tbnz", "tbz", "ubfiz", "ubfx", "ucvtf", "udf",
    "uqrshrn", "uqshl", "uqshrn", "urshr", "ursra", "ushll", "ushr", "usra", "xar", "lsl", "lsr",
    "asr",
];

/// Words before a number that is decimal, too.
const SHIFTS: &[&str] = &[
    "lsl ", "lsr ", "asr ", "ror ", "msl ", "sxtb ", "sxth ", "sxtw ", "sxtx ", "uxtb ", "uxth ",
    "uxtw ", "uxtx ",
];

/// The text of an instruction.
pub(super) fn text(word: Word, decoded: &Instruction) -> String {
    let raw = decoded.to_string();
    let (mnemonic, operands) = raw.split_once(' ').unwrap_or((&raw, ""));
    let mut mnemonic = mnemonic.to_owned();
    let mut operands = numbers(word.address, &mnemonic, operands);
    edit(word, decoded, &mut mnemonic, &mut operands);
    if !operands.is_empty() {
        let blanks = 7usize.saturating_sub(mnemonic.len()).max(1);
        mnemonic.extend(std::iter::repeat_n(' ', blanks));
        mnemonic.push_str(&operands);
    }
    mnemonic
}

/// Where `objdump` writes in another way than the library.
fn edit(word: Word, decoded: &Instruction, mnemonic: &mut String, operands: &mut String) {
    for (theirs, condition) in [("hs", "cs"), ("lo", "cc")] {
        if let Some(name) = mnemonic
            .strip_suffix(theirs)
            .filter(|name| name.ends_with('.'))
        {
            *mnemonic = format!("{name}{condition}");
        }
        if let Some(rest) = operands
            .strip_suffix(theirs)
            .filter(|rest| rest.ends_with(", "))
        {
            *operands = format!("{rest}{condition}");
        }
    }
    if let Some(extended) = word.extended_register() {
        let kept = if matches!(mnemonic.as_str(), "cmp" | "cmn") {
            1
        } else {
            2
        };
        let mut parts: Vec<&str> = operands.split(", ").take(kept).collect();
        parts.push(&extended);
        *operands = parts.join(", ");
    } else if SHIFTS
        .iter()
        .any(|shift| operands.ends_with(shift.trim_end()))
        && !operands.ends_with(']')
    {
        operands.push_str(" #0");
    }
    if word.has_idle_extension() {
        *operands = operands.replace(" #0]", "]");
    } else if word.has_idle_shift() && !operands.contains(" #") {
        let shift = if operands.contains("xt") { "" } else { ", lsl" };
        *operands = operands.replace(']', &format!("{shift} #0]"));
    }
    match decoded.opcode {
        Opcode::USHLL | Opcode::USHLL2 | Opcode::SSHLL | Opcode::SSHLL2 => {
            if let Some(rest) = operands.strip_suffix(", #0") {
                *operands = rest.to_owned();
                *mnemonic = mnemonic.replace("shll", "xtl");
            }
        }
        Opcode::DUP
            if matches!(
                decoded.operands.first(),
                Some(Operand::SIMDRegisterElements(..))
            ) =>
        {
            "dup".clone_into(mnemonic);
        }
        Opcode::HINT => registers::hint(mnemonic, operands),
        Opcode::MRS => registers::system(operands),
        Opcode::MSR => {
            // The library has but three bits of the register's number.
            let to = operands.split(", ").next().unwrap_or_default();
            *operands = format!("{to}, {}", word.last_register());
            registers::system(operands);
        }
        Opcode::SYS(_) | Opcode::SYSL(_) => registers::operation(mnemonic, operands),
        _ => {}
    }
    if mnemonic.starts_with("fcm") {
        *operands = operands.replace("#0.000000000000000000e+00", "#0.0");
    }
    if mnemonic.starts_with("prf") && operands.starts_with("0x") {
        let (operation, rest) = operands.split_once(',').unwrap_or((operands, ""));
        let number = u8::from_str_radix(operation.trim_start_matches("0x"), 16).unwrap_or_default();
        *operands = format!("#0x{number:02x},{rest}");
    }
    lists(operands);
}

/// The operands with their numbers as `objdump` has them.
fn numbers(address: u64, mnemonic: &str, operands: &str) -> String {
    let stem = mnemonic.strip_suffix('2').unwrap_or(mnemonic);
    let is_decimal = DECIMAL.contains(&stem);
    let mut text = String::with_capacity(operands.len());
    let mut rest = operands;
    while let Some(at) = rest.find(['#', '$']) {
        let (before, number) = rest.split_at(at);
        text.push_str(before);
        let end = number.find([',', ']', '}']).unwrap_or(number.len());
        let (number, after) = number.split_at(end);
        let is_decimal =
            is_decimal || text.contains('[') || SHIFTS.iter().any(|shift| text.ends_with(shift));
        write_number(address, is_decimal, number, &mut text);
        rest = after;
    }
    text.push_str(rest);
    text
}

/// Writes `#0x10`, `$+0x10`, or `#1.5`.
fn write_number(address: u64, is_decimal: bool, number: &str, text: &mut String) {
    let hex = |prefix: &str| u64::from_str_radix(number.strip_prefix(prefix)?, 16).ok();
    // Into a text, writing does not fail.
    let _ = if let Some(value) = hex("$+0x") {
        write!(text, "{:x}", address.wrapping_add(value))
    } else if let Some(value) = hex("$-0x") {
        write!(text, "{:x}", address.wrapping_sub(value))
    } else if let Some(value) = hex("#0x").filter(|_| is_decimal) {
        write!(text, "#{value}")
    } else if let Some(value) = hex("#-0x").filter(|_| is_decimal) {
        write!(text, "#-{value}")
    } else if let Some(Ok(value)) = number
        .strip_prefix('#')
        .filter(|digits| digits.contains('.'))
        .map(str::parse::<f64>)
    {
        let (mantissa, exponent) = format!("{value:.18e}")
            .split_once('e')
            .map(|(m, e)| (m.to_owned(), e.parse().unwrap_or(0)))
            .unwrap_or_default();
        let exponent: i32 = exponent;
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(text, "#{mantissa}e{sign}{:02}", exponent.abs())
    } else {
        write!(text, "{number}")
    };
}

/// `{v0.4s-v2.4s}`, where the library lists more than two registers that follow each other.
fn lists(operands: &mut String) {
    let Some((before, rest)) = operands.split_once('{') else {
        return;
    };
    let Some((list, after)) = rest.split_once('}') else {
        return;
    };
    let registers: Vec<&str> = list.split(", ").collect();
    let number = |register: &str| -> Option<u8> {
        register.strip_prefix('v')?.split('.').next()?.parse().ok()
    };
    if let [first, .., last] = registers.as_slice()
        && registers.len() > 2
        && number(first) < number(last)
    {
        *operands = format!("{before}{{{first}-{last}}}{after}");
    }
}
