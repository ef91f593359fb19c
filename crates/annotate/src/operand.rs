//! An instruction's text with the names of the addresses in it.

use rprof_disassembly::Instruction;
use rprof_profile::code::{CodePart, ReferenceName};
use rprof_untrusted::printable;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The text as objdump has it: addresses in it with their name behind them, data relative to the program counter as
/// a comment with its address.
pub(crate) fn named<'a>(
    instruction: &'a Instruction,
    names: &BTreeMap<u64, ReferenceName>,
    parts: &[CodePart],
) -> Cow<'a, str> {
    let text = &instruction.text;
    // Of an instruction without a text nothing is shown.
    let Some(reference) = instruction.reference.filter(|_| !text.is_empty()) else {
        return Cow::Borrowed(text);
    };
    let address = reference.address;
    let name = names.get(&address).map(shown);
    let name = name.or_else(|| own(address, parts));
    let name = name.map_or_else(String::new, |name| format!(" <{name}>"));
    match instruction.written_address() {
        Some(_) if name.is_empty() => Cow::Borrowed(text),
        Some(_) => Cow::Owned(format!("{text}{name}")),
        None => Cow::Owned(format!("{text}        # {address:x}{name}")),
    }
}

/// `symbol`, or `symbol+0x10`.
fn shown(name: &ReferenceName) -> String {
    let symbol = printable(&name.symbol);
    match name.offset {
        0 => symbol.into_owned(),
        offset => format!("{symbol}+{offset:#x}"),
    }
}

/// What an address in the function itself is called.
fn own(address: u64, parts: &[CodePart]) -> Option<String> {
    let offset = |part: &CodePart| address.checked_sub(part.address);
    let is_in = |part: &&CodePart| offset(part).is_some_and(|at| at < part.bytes.len() as u64);
    let part = parts.iter().find(is_in)?;
    Some(shown(&ReferenceName {
        symbol: part.symbol.clone(),
        offset: offset(part)?,
    }))
}
