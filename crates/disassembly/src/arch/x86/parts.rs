//! A text in parts, while it is made `objdump`'s.

use iced_x86::{Code, Instruction};

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

/// Whether it is the form of a shift without a number.
pub(super) fn shifts_by_one(decoded: &Instruction) -> bool {
    matches!(
        decoded.code(),
        Code::Rol_rm8_1
            | Code::Ror_rm8_1
            | Code::Rcl_rm8_1
            | Code::Rcr_rm8_1
            | Code::Shl_rm8_1
            | Code::Shr_rm8_1
            | Code::Sal_rm8_1
            | Code::Sar_rm8_1
            | Code::Rol_rm16_1
            | Code::Ror_rm16_1
            | Code::Rcl_rm16_1
            | Code::Rcr_rm16_1
            | Code::Shl_rm16_1
            | Code::Shr_rm16_1
            | Code::Sal_rm16_1
            | Code::Sar_rm16_1
            | Code::Rol_rm32_1
            | Code::Ror_rm32_1
            | Code::Rcl_rm32_1
            | Code::Rcr_rm32_1
            | Code::Shl_rm32_1
            | Code::Shr_rm32_1
            | Code::Sal_rm32_1
            | Code::Sar_rm32_1
            | Code::Rol_rm64_1
            | Code::Ror_rm64_1
            | Code::Rcl_rm64_1
            | Code::Rcr_rm64_1
            | Code::Shl_rm64_1
            | Code::Shr_rm64_1
            | Code::Sal_rm64_1
            | Code::Sar_rm64_1
    )
}
