//! A text in parts, while it is made `objdump`'s.

use iced_x86::{Instruction, OpKind};

/// The text behind the prefixes.
pub(super) struct Parts {
    pub(super) mnemonic: String,
    pub(super) operands: String,
}

impl Parts {
    /// Another name.
    pub(super) fn rename(&mut self, mnemonic: &str) {
        mnemonic.clone_into(&mut self.mnemonic);
    }

    /// Takes off what the operands begin with.
    pub(super) fn without_first(&mut self, first: &str) {
        if let Some(rest) = self.operands.strip_prefix(first) {
            self.operands = rest.to_owned();
        }
    }
}

/// Whether an operand is memory that an address or registers name.
pub(super) fn has_memory(decoded: &Instruction) -> bool {
    decoded.op_kinds().any(|kind| kind == OpKind::Memory)
}
