//! The functions of a file, by name or pattern.

use super::location::ProbeLocation;
use crate::error::ProbeError;
use rprof_base::Svma;
use rprof_base::{glob_matches, is_glob};
use rprof_events::{Suggestions, suggest};
use rprof_images::{Elf, ElfFunction};
use rprof_symbols::Demangling;
use std::collections::{BTreeMap, HashMap};

struct Function {
    /// As in the file.
    symbol: String,
    size: u64,
    is_indirect: bool,
}

/// Where the functions of this name, or of this pattern, are: each address once. Names are those of the file, and as
/// they are shown: with parameters, or without.
pub(super) fn places(
    elf: &Elf,
    wanted: &str,
    offset: u64,
) -> Result<Vec<ProbeLocation>, ProbeError> {
    let mut found = by_address(elf, &|symbol| is_named(symbol, wanted));
    if found.is_empty() {
        // What the compiler has made of it alone.
        found = by_address(elf, &|symbol| is_clone(symbol, wanted));
    }
    if found.is_empty() {
        return Err(none_of(elf, wanted));
    }
    let names = readable(found.values().map(|function| &*function.symbol));
    let mut places = Vec::new();
    for ((address, function), name) in found.into_iter().zip(names) {
        if function.is_indirect {
            let path = elf.path().to_owned();
            return Err(ProbeError::Indirect {
                function: name,
                path,
            });
        }
        if offset > 0 && offset >= function.size.max(1) && function.size > 0 {
            return Err(ProbeError::Beyond {
                function: name,
                size: function.size,
                offset,
            });
        }
        let address = Svma(address.wrapping_add(offset));
        places.push(ProbeLocation::at(elf, Some(name), address, None)?);
    }
    Ok(places)
}

fn by_address(elf: &Elf, is_wanted: &dyn Fn(&ElfFunction<'_>) -> bool) -> BTreeMap<u64, Function> {
    let mut found = BTreeMap::new();
    elf.for_each_function(&mut |function| {
        if is_wanted(&function) {
            found.entry(function.address.0).or_insert(Function {
                symbol: function.name.to_owned(),
                size: function.size,
                is_indirect: function.is_indirect,
            });
        }
    });
    found
}

fn is_named(function: &ElfFunction<'_>, wanted: &str) -> bool {
    let fits = |name: &str| {
        if is_glob(wanted) {
            // `operator*` is both.
            !function.is_indirect && glob_matches(wanted, name) || name == wanted
        } else {
            name == wanted
        }
    };
    let as_shown = [Demangling::Short, Demangling::Full];
    fits(function.name)
        || is_mangled(function.name)
            && as_shown
                .iter()
                .any(|how| fits(&how.of(function.name.as_bytes())))
}

/// `name.isra.0`, `name.constprop.0`; not the parts of a function that are seldom reached, which it jumps to.
fn is_clone(function: &ElfFunction<'_>, wanted: &str) -> bool {
    let Some((base, rest)) = function.name.split_once('.') else {
        return false;
    };
    let is_it = base == wanted || Demangling::Short.of(base.as_bytes()) == wanted;
    is_it && !rest.contains("cold")
}

fn is_mangled(symbol: &str) -> bool {
    symbol.starts_with("_Z") || symbol.starts_with("_R")
}

/// Names of functions as they are shown: without parameters, and with them where several would have the same.
pub fn readable<'s>(symbols: impl IntoIterator<Item = &'s str>) -> Vec<String> {
    let symbols: Vec<&str> = symbols.into_iter().collect();
    let short: Vec<String> = symbols
        .iter()
        .map(|symbol| Demangling::Short.of(symbol.as_bytes()))
        .collect();
    let mut counts: HashMap<&str, usize> = HashMap::default();
    for name in &short {
        *counts.entry(name).or_default() += 1;
    }
    let name = |(symbol, name): (&&str, &String)| match counts.get(name.as_str()) {
        Some(1) => name.clone(),
        _ => Demangling::Full.of(symbol.as_bytes()),
    };
    symbols.iter().zip(&short).map(name).collect()
}

/// Why there is none, with names that are near.
fn none_of(elf: &Elf, wanted: &str) -> ProbeError {
    let path = elf.path().to_owned();
    let mut names = std::collections::BTreeSet::new();
    elf.for_each_function(&mut |function| {
        names.insert(Demangling::Short.of(function.name.as_bytes()));
    });
    if names.is_empty() {
        return ProbeError::NoSymbols { path };
    }
    let last_word = |name: &str| name.rsplit("::").next() == wanted.rsplit("::").next();
    let namesakes: Vec<String> = names
        .iter()
        .filter(|name| last_word(name))
        .take(3)
        .cloned()
        .collect();
    ProbeError::NoFunction {
        function: wanted.to_owned(),
        path,
        suggestions: if namesakes.is_empty() {
            suggest(wanted, names)
        } else {
            Suggestions(namesakes)
        },
    }
}
