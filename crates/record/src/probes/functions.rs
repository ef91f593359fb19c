//! The functions of a file, by name or pattern.

use super::place::Place;
use crate::probes::error::ProbeError;
use rprof_base::Svma;
use rprof_events::{Suggestions, glob_matches, is_glob, suggest};
use rprof_images::{Elf, SymbolTable};
use std::collections::BTreeMap;

/// `STT_FUNC`, `STT_GNU_IFUNC` of the ELF specification and its GNU extensions.
const FUNC: u8 = 2;
const IFUNC: u8 = 10;

struct Function {
    size: u64,
    kind: u8,
}

/// Where the functions of this name, or of this pattern, are: each address once.
pub(super) fn places(elf: &Elf, wanted: &str, offset: u64) -> Result<Vec<Place>, ProbeError> {
    let path = || elf.path().to_owned();
    let mut found = BTreeMap::new();
    let mut any = false;
    for_each(elf, &mut |name, address, function| {
        any = true;
        let is_wanted = match is_glob(wanted) {
            true => function.kind == FUNC && glob_matches(wanted, name),
            false => name == wanted,
        };
        if is_wanted {
            found.entry(address).or_insert((name.to_owned(), function));
        }
    });
    if found.is_empty() {
        return Err(match any {
            true => ProbeError::NoFunction {
                function: wanted.to_owned(),
                path: path(),
                suggestions: close_to(elf, wanted),
            },
            false => ProbeError::NoSymbols { path: path() },
        });
    }
    let mut places = Vec::new();
    for (address, (name, function)) in found {
        if function.kind == IFUNC {
            let (function, path) = (name, path());
            return Err(ProbeError::Indirect { function, path });
        }
        if offset > 0 && offset >= function.size.max(1) && function.size > 0 {
            let (function, size) = (name, function.size);
            return Err(ProbeError::Beyond {
                function,
                size,
                offset,
            });
        }
        let address = Svma(address.wrapping_add(offset));
        places.push(Place::at(elf, Some(name), address, None)?);
    }
    Ok(places)
}

fn close_to(elf: &Elf, wanted: &str) -> Suggestions {
    let mut names = std::collections::BTreeSet::new();
    for_each(elf, &mut |name, _, _| {
        names.insert(name.to_owned());
    });
    suggest(wanted, names)
}

/// Symbols of functions, in both tables: programs without debug symbols still say what others may call.
fn for_each(elf: &Elf, visit: &mut dyn FnMut(&str, u64, Function)) {
    for table in [SymbolTable::Static, SymbolTable::Dynamic] {
        // A table that is absent or damaged has nothing to say.
        let _ = elf.for_each_symbol(table, |symbol| {
            let is_function = symbol.in_code && matches!(symbol.kind, FUNC | IFUNC);
            let (true, Ok(name)) = (is_function, std::str::from_utf8(symbol.name)) else {
                return;
            };
            // `name@@VERSION`
            let name = name.split('@').next().unwrap_or_default();
            let (size, kind) = (symbol.size, symbol.kind);
            visit(name, symbol.address.0, Function { size, kind });
        });
    }
}
