//! C++ names (Itanium ABI), however deep they nest.
//!
//! What is shown is what binutils show (`c++filt --no-verbose`), letter by letter.

mod expressions;
mod fail;
mod names;
mod operators;
mod parser;
mod print;
mod tree;
mod types;

use fail::Fail;
use parser::Parser;
use print::Printer;

/// What names of programs stay below: read on the stack that is there.
const USUAL_DEPTH: u32 = 96;

/// Deeper ones are read on a stack of their own, with so much for a level.
const STACK_BYTES_PER_LEVEL: usize = 2048;

/// Levels that each byte of a name may open.
const LEVELS_PER_BYTE: usize = 8;

/// Beyond that a name stays as it is: half a gigabyte of stack, of which only what is used counts.
const DEEPEST: usize = 1 << 18;

/// The readable form, if it is a C++ name. What stands after a method's parameters goes with them,
/// as in perf.
pub(super) fn readable(text: &str, is_full: bool) -> Option<String> {
    match read(text, is_full, USUAL_DEPTH) {
        Err(Fail::TooDeep) => read_deep(text, is_full),
        name => name.ok(),
    }
}

fn read(text: &str, is_full: bool, levels: u32) -> Result<String, Fail> {
    let (tree, root) = Parser::new(text, levels).read()?;
    Printer::print(&tree, root, is_full, levels)
}

/// On a thread whose stack is deep enough for whatever a name of this length can nest.
fn read_deep(text: &str, is_full: bool) -> Option<String> {
    let levels = text.len().saturating_mul(LEVELS_PER_BYTE).min(DEEPEST);
    let depth = u32::try_from(levels).ok()?;
    let thread = std::thread::Builder::new().stack_size(levels * STACK_BYTES_PER_LEVEL);
    std::thread::scope(|scope| {
        let read = || read(text, is_full, depth).ok();
        thread.spawn_scoped(scope, read).ok()?.join().ok()?
    })
}

#[cfg(test)]
mod tests;
