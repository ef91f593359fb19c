//! Registers of a sample.

use crate::text;
use rprof_abi::Registers;
use rprof_abi::registers::{RegisterTable, abi};

/// Appends which kind of task it is, and each register with its value in hexadecimal.
pub(crate) fn append(
    registers: Option<&Registers<'_>>,
    table: Option<&RegisterTable>,
    out: &mut Vec<u8>,
) {
    let Some(registers) = registers.filter(|registers| registers.abi != abi::NONE) else {
        return;
    };
    out.extend_from_slice(b" ABI:");
    text::decimal(out, registers.abi, 0);
    out.push(b' ');
    for number in 0..u64::BITS {
        if let Some(value) = registers.value(number) {
            let name = table.and_then(|table| table.name(number));
            text::right(out, name.unwrap_or("unknown"), 5);
            out.extend_from_slice(b":0x");
            text::hex(out, value, 0);
            out.push(b' ');
        }
    }
}
