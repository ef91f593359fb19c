//! The text of an x86 instruction, as `objdump` has it.

use iced_x86::{
    Formatter as _, FormatterOptions, FormatterOutput, FormatterTextKind, GasFormatter,
    IntelFormatter,
};

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
    pub(super) fn of(syntax: Syntax) -> Self {
        let formatter = match syntax {
            Syntax::Att => {
                let mut formatter = Box::new(GasFormatter::new());
                set(formatter.options_mut());
                Formatter::Att(formatter)
            }
            Syntax::Intel => {
                let mut formatter = Box::new(IntelFormatter::new());
                set(formatter.options_mut());
                Formatter::Intel(formatter)
            }
        };
        let text = Text::default();
        Self { formatter, text }
    }

    /// The text of an instruction whose bytes are `_bytes`.
    pub(super) fn text(&mut self, decoded: &iced_x86::Instruction, _bytes: &[u8]) -> String {
        self.text.0.clear();
        match &mut self.formatter {
            Formatter::Att(formatter) => formatter.format(decoded, &mut self.text),
            Formatter::Intel(formatter) => formatter.format(decoded, &mut self.text),
        }
        let text = self.text.0.as_str();
        match text.strip_prefix("callq  ") {
            Some(operands) => format!("call   {operands}"),
            None => text.to_owned(),
        }
    }
}

/// Numbers and blanks as `objdump` has them.
fn set(options: &mut FormatterOptions) {
    options.set_first_operand_char_index(7);
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
