//! One instruction.

use std::ops::Range;

/// How x86 instructions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Syntax {
    /// As `objdump` and GCC do: sources first, registers with `%`.
    #[default]
    Att,
    /// As Intel does: destination first.
    Intel,
}

/// Where execution goes on after an instruction. Addresses are of the same kind as the code's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Flow {
    /// At the next one.
    #[default]
    Next,
    /// Elsewhere, always; `None` if a register or memory says where.
    Jump(Option<u64>),
    /// Elsewhere, or at the next one.
    Branch(Option<u64>),
    /// In a function, then at the next one.
    Call(Option<u64>),
    /// At the caller.
    Return,
    /// Nowhere: it traps, or its bytes do not decode.
    Stop,
}

/// What an instruction refers to by an address that is part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The address: where it jumps to, or the data that it names relative to the program counter.
    pub address: u64,
    /// Whether it is read from memory there, and what was read is where execution goes on (`call *x(%rip)`).
    pub is_pointer: bool,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Where it is.
    pub address: u64,
    /// How many bytes it has, 1 at least.
    pub len: u8,
    /// Mnemonic with operands, as `objdump` has it, without the names of addresses.
    pub text: String,
    /// Where execution goes on.
    pub flow: Flow,
    /// What it refers to, if anything.
    pub reference: Option<Reference>,
    /// Whether its bytes are an instruction; else they are shown as they are.
    pub is_valid: bool,
}

impl AsRef<Self> for Instruction {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Instruction {
    /// Where in the text the address that is referred to stands as a number, as the targets of jumps do:
    /// `4016a0` in `jne    4016a0`. `None` where the text has another number in its place, such as
    /// `0x2ee3(%rip)`.
    pub fn written_address(&self) -> Option<Range<usize>> {
        let address = self.reference?.address;
        let start = self.text.rfind([' ', ',', '\t'])? + 1;
        let last = self.text.get(start..)?;
        let digits = last.strip_prefix("0x").unwrap_or(last);
        let is_it = u64::from_str_radix(digits, 16) == Ok(address);
        is_it.then_some(start..self.text.len())
    }
}
