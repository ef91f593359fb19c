//! The functions of a file, by name or pattern.

use super::place::Place;
use crate::probes::error::ProbeError;
use rprof_base::Svma;
use rprof_base::{glob_matches, is_glob};
use rprof_events::{Suggestions, suggest};
use rprof_images::{Elf, ElfFunction};
use std::collections::BTreeMap;

struct Function {
    size: u64,
    is_indirect: bool,
}

/// Where the functions of this name, or of this pattern, are: each address once.
pub(super) fn places(elf: &Elf, wanted: &str, offset: u64) -> Result<Vec<Place>, ProbeError> {
    let path = || elf.path().to_owned();
    let mut found = BTreeMap::new();
    let mut any = false;
    elf.for_each_function(&mut |function| {
        any = true;
        let ElfFunction {
            name, is_indirect, ..
        } = function;
        let is_wanted = match is_glob(wanted) {
            true => !is_indirect && glob_matches(wanted, name),
            false => name == wanted,
        };
        if is_wanted {
            let size = function.size;
            let found = found.entry(function.address.0);
            found.or_insert((name.to_owned(), Function { size, is_indirect }));
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
        if function.is_indirect {
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
    elf.for_each_function(&mut |function| {
        names.insert(function.name.to_owned());
    });
    suggest(wanted, names)
}
