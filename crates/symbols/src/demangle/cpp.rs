//! C++ names (Itanium ABI), however deep they nest.

use super::Bounded;
use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// What names of programs stay below: read on the stack that is there.
const USUAL_DEPTH: u32 = 96;

/// Deeper ones are read on a stack of their own, with so much for a level.
const STACK_BYTES_PER_LEVEL: usize = 2048;

/// Levels that each byte of a name may open.
const LEVELS_PER_BYTE: usize = 8;

/// Beyond that a name stays as it is: half a gigabyte of stack, of which only what is used counts.
const DEEPEST: usize = 1 << 18;

/// Arguments of what was named before (`S_I..E`): the parser tries two readings of each, one in the
/// other, so in broken names the time doubles with every one. Deep names may have so many.
const MAX_BRANCHES: usize = 4;

/// The readable form, if it is a C++ name.
pub(super) fn readable(text: &str, is_full: bool) -> Option<String> {
    // Compilers append suffixes to clones (.cold, .part.0, .isra.0); perf leaves them out.
    let core = text.split_once('.').map_or(text, |(core, _)| core);
    let name = match read(core, is_full, USUAL_DEPTH) {
        Ok(name) => name,
        Err(Failure::NotMangled) => return None,
        Err(Failure::TooDeep) if n_branches(core) > MAX_BRANCHES => return None,
        Err(Failure::TooDeep) => read_deep(core, is_full)?,
    };
    // Of an empty argument pack a comma is left.
    let name = match is_full {
        true => &name,
        false => without_qualifiers(&name),
    };
    Some(name.replace(", >", ">"))
}

#[derive(Debug)]
enum Failure {
    NotMangled,
    TooDeep,
}

fn read(core: &str, is_full: bool, depth: u32) -> Result<String, Failure> {
    let options = ParseOptions::default().recursion_limit(depth);
    let symbol = match Symbol::new_with_options(core, &options) {
        Ok(symbol) => symbol,
        Err(cpp_demangle::error::Error::TooMuchRecursion) => return Err(Failure::TooDeep),
        Err(_) => return Err(Failure::NotMangled),
    };
    let options = DemangleOptions::new().recursion_limit(depth);
    let options = match is_full {
        true => options,
        false => options.no_params().no_return_type(),
    };
    let mut out = Bounded::default();
    match symbol.structured_demangle(&mut out, &options) {
        // What repeats parts of itself grows beyond all bounds: the rest is left.
        Ok(()) => Ok(out.text),
        Err(_) if out.is_full => Ok(out.text),
        Err(_) => Err(Failure::TooDeep),
    }
}

/// How often arguments may follow something that was named before.
fn n_branches(core: &str) -> usize {
    let pairs = core.as_bytes().windows(2);
    let letters = |letter| {
        matches!(
            letter,
            b'_' | b't' | b'a' | b'b' | b's' | b'i' | b'o' | b'd'
        )
    };
    pairs
        .filter(|pair| matches!(pair, [before, b'I'] if letters(*before)))
        .count()
}

/// On a thread whose stack is deep enough for whatever a name of this length can nest.
fn read_deep(core: &str, is_full: bool) -> Option<String> {
    let levels = core.len().saturating_mul(LEVELS_PER_BYTE).min(DEEPEST);
    let depth = u32::try_from(levels).ok()?;
    let thread = std::thread::Builder::new().stack_size(levels * STACK_BYTES_PER_LEVEL);
    std::thread::scope(|scope| {
        let read = || read(core, is_full, depth).ok();
        thread.spawn_scoped(scope, read).ok()?.join().ok()?
    })
}

/// What stands behind a method's parameters goes with them, as in perf.
fn without_qualifiers(mut name: &str) -> &str {
    // `operator T const` would be a conversion.
    let is_conversion = name
        .rsplit_once("operator ")
        .is_some_and(|(_, of)| !of.contains("::"));
    if is_conversion {
        return name;
    }
    let qualifiers = [" const", " volatile", " &&", " &"];
    while let Some(shorter) = qualifiers
        .iter()
        .find_map(|qualifier| name.strip_suffix(qualifier))
    {
        name = shorter;
    }
    name
}
