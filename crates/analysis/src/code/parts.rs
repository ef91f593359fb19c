//! Functions that compilers split: the part that is seldom run lies elsewhere, under a name of its own.

use rprof_images::{ElfFunction, Located};

/// A part of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Its name, mangled.
    pub(super) symbol: String,
    pub(super) address: u64,
    pub(super) size: u64,
}

/// The function of a cold part: GCC and LLVM append `.cold`, with a number before GCC 9. A `.part.N` is a function of
/// its own, which callers call.
pub(super) fn base_of_cold(name: &str) -> Option<&str> {
    let at = name.rfind(".cold")?;
    let (base, suffix) = name.split_at_checked(at)?;
    let rest = suffix.strip_prefix(".cold")?;
    let is_number = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit());
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    (!base.is_empty() && is_number(rest)).then_some(base)
}

/// The cold parts of a function that begins at an address; none if two functions have its name, since then it is not
/// certain whose they are.
pub(super) fn cold_parts(located: &Located, start: u64) -> Vec<Part> {
    let mut names: Vec<String> = Vec::new();
    let mut cold: Vec<Part> = Vec::new();
    for_each(located, &mut |function| {
        if function.address.0 == start {
            names.push(function.name.to_owned());
        } else if function.size > 0 && base_of_cold(function.name).is_some() {
            cold.push(Part {
                symbol: function.name.to_owned(),
                address: function.address.0,
                size: function.size,
            });
        }
    });
    let is_own = |part: &Part| {
        let base = base_of_cold(&part.symbol);
        base.is_some_and(|base| names.iter().any(|name| name == base))
    };
    cold.retain(is_own);
    if cold.is_empty() {
        return cold;
    }
    cold.sort_by_key(|part| part.address);
    cold.dedup_by_key(|part| part.address);
    let mut is_alone = true;
    for_each(located, &mut |function| {
        is_alone &= function.address.0 == start || !names.iter().any(|name| name == function.name);
    });
    let has_twin = |one: &Part| {
        let mut others = cold.iter().filter(|other| other.address != one.address);
        others.any(|other| other.symbol == one.symbol)
    };
    match is_alone && !cold.iter().any(has_twin) {
        true => cold,
        false => Vec::new(),
    }
}

/// All functions that the files of an image name.
pub(super) fn for_each(located: &Located, visit: &mut dyn FnMut(ElfFunction<'_>)) {
    located
        .files()
        .for_each(|file| file.for_each_function(visit));
}

/// Functions of an image with one of these names (mangled): start and size.
pub(super) fn named(located: &Located, is_wanted: &dyn Fn(&str) -> bool) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for_each(located, &mut |function| {
        if is_wanted(function.name) {
            found.push((function.address.0, function.size));
        }
    });
    found.sort_unstable();
    found.dedup_by_key(|&mut (start, _)| start);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cold_parts_are_told_by_their_suffix() {
        assert_eq!(base_of_cold("f.cold"), Some("f"));
        assert_eq!(base_of_cold("_Z1fv.part.0.cold"), Some("_Z1fv.part.0"));
        assert_eq!(base_of_cold("f.cold.17"), Some("f"));
        for other in ["f", ".cold", "f.colder", "f.part.0", "f.cold.x"] {
            assert_eq!(base_of_cold(other), None, "{other}");
        }
    }
}
