//! Functions that compilers split: the part that is seldom run lies elsewhere, under a name of its own.

use foldhash::HashMap;
use rprof_images::{ElfFunction, Located, MAX_CODE};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

/// A function, or a part of one, as symbols have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Its name, mangled.
    pub(super) symbol: String,
    pub(super) address: u64,
    pub(super) size: u64,
}

/// What compilers append to the name of a cold part.
const COLD: &str = ".cold";

/// The function of a cold part: GCC and LLVM append `.cold`, with a number before GCC 9. A `.part.N` is a function of
/// its own, which callers call.
pub(super) fn base_of_cold(name: &str) -> Option<&str> {
    // From the end: files have hundreds of thousands of names.
    let unnumbered = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let unnumbered = unnumbered.strip_suffix('.').unwrap_or(unnumbered);
    let base = unnumbered.strip_suffix(COLD)?;
    (!base.is_empty()).then_some(base)
}

/// More parts of a function are not joined with it: compilers make one, some two.
const MOST_PARTS: usize = 8;

/// The cold parts of an image's functions, as far as it is certain whose they are: a function has only those whose
/// name and whose own name nothing else has. The others are functions by themselves.
#[derive(Debug, Default)]
pub(super) struct ColdParts {
    /// By where a function begins: its parts, in order.
    of_functions: HashMap<u64, Vec<Part>>,
    /// By where a part begins: the function's start and size.
    functions: HashMap<u64, (u64, u64)>,
    /// All cold parts, joined or not: where each begins and ends, and its suffix.
    suffixes: BTreeMap<u64, (u64, String)>,
    /// By where a function begins: parts that may be its own, and were not joined.
    left_out: HashMap<u64, LeftOut>,
}

/// Cold parts that may be a function's, or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// The name of the first, mangled.
    pub(super) first: String,
    /// How many there are.
    pub(super) n: usize,
}

/// Functions of one name; of more than these, not all are told which parts may be theirs.
const MOST_NAMESAKES: usize = 16;

/// Functions that have cold parts, by their name: where each of them is.
type Bases = HashMap<String, Vec<NamedRange>>;

/// Where what has a name is, and whether nothing else has it.
struct NamedRange {
    address: u64,
    size: u64,
    is_alone: bool,
}

impl ColdParts {
    pub(super) fn of(located: &Located) -> Self {
        let mut cold: HashMap<String, NamedRange> = HashMap::default();
        let mut bases = Bases::default();
        for file in located.files() {
            file.for_each_function_with(COLD, &mut |function| {
                if let Some(base) = base_of_cold(function.name) {
                    if !bases.contains_key(base) {
                        bases.insert(base.to_owned(), Vec::new());
                    }
                    note(cold.entry(function.name.to_owned()), &function);
                }
            });
        }
        if cold.is_empty() {
            return Self::default();
        }
        for_each(located, &mut |function| {
            if let Some(places) = bases.get_mut(function.name) {
                let new = NamedRange::of(&function);
                let is_known = places.iter().any(|place| place.address == new.address);
                if !is_known && places.len() < MOST_NAMESAKES {
                    places.push(new);
                }
            }
        });
        let mut cold: Vec<(String, NamedRange)> = cold.into_iter().collect();
        cold.sort_unstable_by(|a, b| (a.1.address, &a.0).cmp(&(b.1.address, &b.0)));
        let mut parts = Self::default();
        for (symbol, place) in cold {
            parts.add(symbol, &place, &bases);
        }
        parts
    }

    fn add(&mut self, symbol: String, place: &NamedRange, bases: &Bases) {
        let Some(base) = base_of_cold(&symbol) else {
            return;
        };
        let end = place.address.saturating_add(place.size);
        let suffix = symbol.get(base.len()..).unwrap_or_default().to_owned();
        self.suffixes.entry(place.address).or_insert((end, suffix));
        // What has several names is joined by the first.
        if self.functions.contains_key(&place.address) {
            return;
        }
        let bases = bases.get(base).map_or(&[][..], Vec::as_slice);
        let own = match bases {
            [only] if place.is_alone && self.is_possible(only, place) => only,
            several => return self.leave_out(&symbol, several),
        };
        let (address, size) = (place.address, place.size);
        self.functions.insert(address, (own.address, own.size));
        self.of_functions
            .entry(own.address)
            .or_default()
            .push(Part {
                symbol,
                address,
                size,
            });
    }

    /// Whether a part does not overlap the function and its other parts, and all together are no more than compilers
    /// make.
    fn is_possible(&self, base: &NamedRange, part: &NamedRange) -> bool {
        let own = self.of_function(base.address);
        let before = own.last();
        let before = before.map_or(0, |part| part.address.saturating_add(part.size));
        let end = part.address.saturating_add(part.size);
        let base_end = base.address.saturating_add(base.size);
        let is_apart = part.address >= before && (end <= base.address || part.address >= base_end);
        let sum = own.iter().fold(base.size, |sum, part| sum + part.size);
        let is_small = sum.saturating_add(part.size) <= MAX_CODE && own.len() < MOST_PARTS;
        part.size > 0 && is_apart && is_small
    }

    fn leave_out(&mut self, symbol: &str, bases: &[NamedRange]) {
        for base in bases {
            let new = || LeftOut {
                first: symbol.to_owned(),
                n: 0,
            };
            self.left_out.entry(base.address).or_insert_with(new).n += 1;
        }
    }

    /// Parts that may be those of the function that begins at an address, and were not joined with it.
    pub(super) fn left_out(&self, start: u64) -> Option<&LeftOut> {
        self.left_out.get(&start)
    }

    /// The parts of a function that begins at an address.
    pub(super) fn of_function(&self, start: u64) -> &[Part] {
        self.of_functions.get(&start).map_or(&[], Vec::as_slice)
    }

    /// Where the function of a part begins, and its size.
    pub(super) fn function(&self, part: u64) -> Option<(u64, u64)> {
        self.functions.get(&part).copied()
    }

    /// A readable name of what is at an address: that of a cold part has its suffix, too.
    pub(super) fn complete(&self, mut name: String, address: u64) -> String {
        let found = self.suffixes.range(..=address).next_back();
        if let Some((start, (end, suffix))) = found
            && (address == *start || address < *end)
            && base_of_cold(&name).is_none()
            && !name.contains("[clone .cold")
        {
            name += suffix;
        }
        name
    }
}

impl NamedRange {
    fn of(function: &ElfFunction<'_>) -> Self {
        Self {
            address: function.address.0,
            size: function.size,
            is_alone: true,
        }
    }
}

fn note(entry: Entry<'_, String, NamedRange>, function: &ElfFunction<'_>) {
    entry
        .and_modify(|place| place.is_alone &= place.address == function.address.0)
        .or_insert_with(|| NamedRange::of(function));
}

/// All functions that the files of an image name.
pub(super) fn for_each(located: &Located, visit: &mut dyn FnMut(ElfFunction<'_>)) {
    located
        .files()
        .for_each(|file| file.for_each_function(visit));
}

/// Functions of an image with one of these names (mangled), each with the first of its names.
pub(super) fn named(located: &Located, is_wanted: &dyn Fn(&str) -> bool) -> Vec<Part> {
    let mut found = Vec::new();
    for_each(located, &mut |function| {
        if is_wanted(function.name) {
            found.push(Part {
                symbol: function.name.to_owned(),
                address: function.address.0,
                size: function.size,
            });
        }
    });
    found.sort_by_key(|one| (one.address, Reverse(one.size)));
    found.dedup_by_key(|one| one.address);
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
        assert_eq!(base_of_cold("f.cold.1.cold"), Some("f.cold.1"));
        for other in [
            "f",
            ".cold",
            "f.colder",
            "f.part.0",
            "f.cold.x",
            "f.cold.1.2",
        ] {
            assert_eq!(base_of_cold(other), None, "{other}");
        }
    }
}
