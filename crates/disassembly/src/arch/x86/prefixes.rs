//! The prefixes that `objdump` has before the mnemonic: those that say something of their own
//! (`lock`, `rep`, `notrack`), and those that change nothing (`data16`, `cs`, `rex.W`).

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use super::mode::{Mode, decoder};
use super::parts::has_memory;
use super::sib;
use crate::Syntax;

/// An instruction with its bytes, whose prefixes are looked at.
pub(super) struct Prefixed<'a> {
    pub(super) mode: Mode,
    pub(super) syntax: Syntax,
    pub(super) decoded: &'a Instruction,
    pub(super) bytes: &'a [u8],
}

/// Writes the prefixes, each with a blank behind it.
pub(super) fn write(prefixed: &Prefixed<'_>, to: &mut String) {
    for (position, &byte) in prefixed.bytes.iter().enumerate() {
        let name = match Prefix::from_byte(byte, prefixed.mode) {
            None => return,
            Some(Prefix::Rex) => match prefixed.rex(position) {
                Some(rex) => {
                    write_rex(rex, to);
                    continue;
                }
                None => None,
            },
            Some(Prefix::Lock) => Some("lock"),
            Some(Prefix::Repeat) => prefixed.repeat(position),
            Some(Prefix::OperandSize) => prefixed.is_unused(position).then_some("data16"),
            Some(Prefix::AddressSize) => {
                let name = match prefixed.mode {
                    Mode::Bits64 => "addr32",
                    Mode::Bits32 => "addr16",
                };
                prefixed.is_unused(position).then_some(name)
            }
            Some(Prefix::Segment(name)) => prefixed.segment(position, name),
        };
        if let Some(name) = name {
            to.push_str(name);
            to.push(' ');
        }
    }
}

/// What a byte before the opcode is.
enum Prefix {
    Rex,
    Lock,
    Repeat,
    OperandSize,
    AddressSize,
    Segment(&'static str),
}

impl Prefix {
    /// `None` if the byte is no prefix: then the instruction proper begins with it.
    fn from_byte(byte: u8, mode: Mode) -> Option<Self> {
        Some(match byte {
            0x40..=0x4f if mode == Mode::Bits64 => Self::Rex,
            0xf0 => Self::Lock,
            0xf2 | 0xf3 => Self::Repeat,
            0x66 => Self::OperandSize,
            0x67 => Self::AddressSize,
            0x26 => Self::Segment("es"),
            0x2e => Self::Segment("cs"),
            0x36 => Self::Segment("ss"),
            0x3e => Self::Segment("ds"),
            0x64 => Self::Segment("fs"),
            0x65 => Self::Segment("gs"),
            _ => return None,
        })
    }
}

impl Prefixed<'_> {
    /// Whether it is the form of a shift without a number.
    pub(super) fn shifts_by_one(&self) -> bool {
        matches!(self.opcode(), [0xd0 | 0xd1, ..])
    }

    /// Whether the memory is named by a number alone, which is in place of all that could name registers.
    pub(super) fn is_offset(&self) -> bool {
        matches!(self.opcode(), [0xa0..=0xa3, ..])
    }

    /// Whether it reads or writes a port.
    pub(super) fn has_port(&self) -> bool {
        matches!(self.opcode(), [0x6c..=0x6f | 0xe4..=0xe7 | 0xec..=0xef, ..])
    }

    /// Whether it compares strings: it is repeated as long as they are equal.
    fn compares_strings(&self) -> bool {
        matches!(self.opcode(), [0xa6 | 0xa7 | 0xae | 0xaf, ..])
    }

    /// The bytes behind the prefixes.
    pub(super) fn opcode(&self) -> &[u8] {
        self.bytes.split_at(self.n_prefixes()).1
    }

    fn n_prefixes(&self) -> usize {
        let mut bytes = self.bytes.iter();
        let end = bytes.position(|&byte| Prefix::from_byte(byte, self.mode).is_none());
        end.unwrap_or(self.bytes.len())
    }

    /// Whether the instruction is the same without the prefix. Of several, the last one counts.
    fn is_unused(&self, position: usize) -> bool {
        let prefix = self.bytes.get(position).copied().unwrap_or_default();
        let (prefixes, opcode) = self.bytes.split_at(self.n_prefixes());
        if prefixes
            .iter()
            .skip(position + 1)
            .any(|&byte| byte == prefix)
        {
            return true;
        }
        let mut bytes: Vec<u8> = prefixes
            .iter()
            .copied()
            .filter(|&byte| byte != prefix)
            .collect();
        bytes.extend_from_slice(opcode);
        let removed = (self.bytes.len() - bytes.len()) as u64;
        let ip = self.decoded.ip().wrapping_add(removed);
        decoder(self.mode, ip, &bytes).decode() == *self.decoded
    }

    /// Whether a prefix for which `is_alike` holds follows that at `position`: only the last one counts.
    fn is_repeated(&self, position: usize, is_alike: fn(&Prefix) -> bool) -> bool {
        let behind = self.bytes.iter().skip(position + 1);
        let mut prefixes = behind.map_while(|&byte| Prefix::from_byte(byte, self.mode));
        prefixes.any(|prefix| is_alike(&prefix))
    }

    /// The prefix of 64-bit mode, if a bit of it has no effect.
    fn rex(&self, position: usize) -> Option<u8> {
        let rex = *self.bytes.get(position)?;
        let is_last = self
            .bytes
            .get(position + 1)
            .is_none_or(|&byte| Prefix::from_byte(byte, self.mode).is_none());
        if !is_last {
            return Some(rex);
        }
        let bits = if rex == 0x40 {
            &[0x40][..]
        } else {
            &[8, 4, 2, 1]
        };
        let mut bits = bits.iter().filter(|&&bit| rex & bit != 0);
        bits.any(|bit| self.has_no_effect(position, rex, *bit))
            .then_some(rex)
    }

    /// Whether the instruction is the same without a bit of this prefix.
    fn has_no_effect(&self, position: usize, rex: u8, bit: u8) -> bool {
        let has_memory = has_memory(self.decoded);
        match bit {
            0x40 => return self.is_unused(position),
            // `objdump` looks at them wherever there may be a base, and an index.
            1 if has_memory && !self.is_offset() => return false,
            2 if has_memory && sib::byte(self).is_some() => return false,
            _ => {}
        }
        let mut bytes = self.bytes.to_vec();
        if let Some(byte) = bytes.get_mut(position) {
            *byte = rex & !bit;
        }
        decoder(self.mode, self.decoded.ip(), &bytes).decode() == *self.decoded
    }

    /// `rep` and its kin, if it is not a part of the opcode.
    fn repeat(&self, position: usize) -> Option<&'static str> {
        let byte = *self.bytes.get(position)?;
        let decoded = self.decoded;
        if self.is_repeated(position, |prefix| matches!(prefix, Prefix::Repeat)) {
            return Some(if byte == 0xf3 { "repz" } else { "repnz" });
        }
        match byte {
            0xf3 if decoded.has_xrelease_prefix() => Some("xrelease"),
            0xf3 if decoded.has_repe_prefix() => Some(
                if decoded.is_string_instruction() && !self.compares_strings() {
                    "rep"
                } else {
                    "repz"
                },
            ),
            0xf2 if decoded.has_xacquire_prefix() => Some("xacquire"),
            0xf2 if decoded.has_repne_prefix() => {
                Some(if is_bound(decoded) { "bnd" } else { "repnz" })
            }
            _ => None,
        }
    }

    /// A segment, if no operand has it.
    fn segment(&self, position: usize, name: &'static str) -> Option<&'static str> {
        if self.is_repeated(position, |prefix| matches!(prefix, Prefix::Segment(_))) {
            return Some(name);
        }
        let decoded = self.decoded;
        if self.syntax == Syntax::Att && hint(decoded).is_some() {
            return None;
        }
        let is_indirect = decoded.is_jmp_near_indirect() || decoded.is_call_near_indirect();
        if name == "ds" && is_indirect {
            return Some("notrack");
        }
        let counts = self.mode == Mode::Bits32 || matches!(name, "fs" | "gs");
        (!counts || !has_chosen_segment(decoded)).then_some(name)
    }
}

/// Whether an operand is memory in a segment that can be chosen.
fn has_chosen_segment(decoded: &Instruction) -> bool {
    decoded.op_kinds().any(|kind| {
        matches!(
            kind,
            OpKind::Memory
                | OpKind::MemorySegSI
                | OpKind::MemorySegESI
                | OpKind::MemorySegRSI
                | OpKind::MemorySegDI
                | OpKind::MemorySegEDI
                | OpKind::MemorySegRDI
        )
    })
}

/// The hint of a prefix whether the branch will be taken.
pub(super) fn hint(decoded: &Instruction) -> Option<&'static str> {
    let is_branch = decoded.is_jcc_short_or_near()
        || decoded.is_jcx_short()
        || decoded.is_loop()
        || decoded.is_loopcc();
    match decoded.segment_prefix() {
        Register::CS if is_branch => Some(",pn"),
        Register::DS if is_branch => Some(",pt"),
        _ => None,
    }
}

/// Whether MPX's prefix applies.
fn is_bound(decoded: &Instruction) -> bool {
    decoded.is_jcc_short_or_near()
        || decoded.is_jmp_short_or_near()
        || decoded.is_jmp_near_indirect()
        || decoded.is_call_near()
        || decoded.is_call_near_indirect()
        || decoded.mnemonic() == Mnemonic::Ret
}

fn write_rex(rex: u8, to: &mut String) {
    to.push_str("rex");
    if rex != 0x40 {
        to.push('.');
    }
    for (bit, letter) in [(8, 'W'), (4, 'R'), (2, 'X'), (1, 'B')] {
        if rex & bit != 0 {
            to.push(letter);
        }
    }
    to.push(' ');
}
