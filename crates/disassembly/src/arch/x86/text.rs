//! The text of an x86 instruction, as `objdump` has it.

use iced_x86::{
    Code, CodeSize, FormatMnemonicOptions, Formatter as _, FormatterOptions, FormatterOutput,
    FormatterTextKind, GasFormatter, Instruction, IntelFormatter, MemorySizeOptions, Mnemonic,
    Register,
};

use super::parts::Parts;
use super::prefixes::{self, Prefixed};
use super::{att, intel};
use crate::Syntax;

/// Writes instructions in one syntax.
pub(super) struct Writer {
    formatter: Formatter,
    text: Text,
}

/// One of the library's.
enum Formatter {
    Att(Box<GasFormatter>),
    Intel(Box<IntelFormatter>),
}

/// What has been written of an instruction.
#[derive(Default)]
struct Text(String);

impl FormatterOutput for Text {
    fn write(&mut self, text: &str, kind: FormatterTextKind) {
        let text = match kind {
            // Targets of jumps are without it.
            FormatterTextKind::LabelAddress | FormatterTextKind::FunctionAddress => {
                text.strip_prefix("0x").unwrap_or(text)
            }
            _ => text,
        };
        self.0.push_str(text);
    }
}

impl Writer {
    pub(super) fn new(syntax: Syntax) -> Self {
        let formatter = match syntax {
            Syntax::Att => {
                let mut formatter = Box::new(GasFormatter::new());
                set(formatter.options_mut());
                Formatter::Att(formatter)
            }
            Syntax::Intel => {
                let mut formatter = Box::new(IntelFormatter::new());
                set(formatter.options_mut());
                formatter.options_mut().set_uppercase_keywords(true);
                formatter
                    .options_mut()
                    .set_memory_size_options(MemorySizeOptions::Always);
                Formatter::Intel(formatter)
            }
        };
        let text = Text::default();
        Self { formatter, text }
    }

    /// The text of an instruction.
    pub(super) fn text(&mut self, prefixed: &Prefixed<'_>) -> String {
        let decoded = prefixed.decoded;
        let text = &mut self.text;
        text.0.clear();
        prefixes::write(prefixed, &mut text.0);
        let start = text.0.len();
        let (formatter, edit): (&mut dyn iced_x86::Formatter, fn(&Prefixed<'_>, &mut Parts)) =
            match &mut self.formatter {
                Formatter::Att(formatter) => (formatter.as_mut(), att::edit),
                Formatter::Intel(formatter) => (formatter.as_mut(), intel::edit),
            };
        format(formatter, decoded, text);
        let mut parts = Parts {
            mnemonic: text.0.split_off(start),
            operands: String::new(),
        };
        if formatter.operand_count(decoded) > 0 {
            let mut operands = Text::default();
            formatter.format_all_operands(decoded, &mut operands);
            parts.operands = operands.0;
        }
        edit(prefixed, &mut parts);
        text.0.push_str(&parts.mnemonic);
        if !parts.operands.is_empty() {
            let blanks = 7usize.saturating_sub(text.0.len()).max(1);
            text.0.extend(std::iter::repeat_n(' ', blanks));
            text.0.push_str(&parts.operands);
        }
        text.0.as_str().to_owned()
    }
}

/// Writes mnemonic and operands behind the prefixes.
fn format(formatter: &mut dyn iced_x86::Formatter, decoded: &Instruction, text: &mut Text) {
    let options = formatter.options_mut();
    options.set_always_show_segment_register(
        decoded.is_string_instruction()
            || decoded.code() == Code::Xlat_m8
            || decoded.code_size() == CodeSize::Code32
                && decoded.segment_prefix() != Register::None,
    );
    options.set_always_show_scale(
        decoded.memory_index() != Register::None && decoded.code() != Code::Xlat_m8,
    );
    options.set_show_zero_displacements(decoded.memory_displ_size() != 0);
    options.set_use_pseudo_ops(!has_more_operands(decoded));
    formatter.format_mnemonic_options(decoded, text, FormatMnemonicOptions::NO_PREFIXES);
}

/// Whether the library leaves out operands that `objdump` has.
fn has_more_operands(decoded: &Instruction) -> bool {
    decoded.mnemonic() == Mnemonic::Imul
        || decoded.op0_register() == Register::ST1
        || decoded.op1_register() == Register::ST1
}

/// Numbers and blanks as `objdump` has them.
fn set(options: &mut FormatterOptions) {
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_small_hex_numbers_in_decimal(false);
    options.set_add_leading_zero_to_hex_numbers(false);
    options.set_leading_zeros(false);
    options.set_branch_leading_zeros(false);
    options.set_signed_memory_displacements(true);
    options.set_rip_relative_addresses(true);
    options.set_show_branch_size(false);
}
