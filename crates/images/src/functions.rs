//! Functions of a file, under the names that people write.

use crate::{Elf, ElfSymbol, SymbolTable};
use rprof_base::Svma;
use std::ops::Range;

/// `STT_FUNC`, `STT_GNU_IFUNC` of the ELF specification and its GNU extensions.
const FUNC: u8 = 2;
const IFUNC: u8 = 10;

/// A symbol of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElfFunction<'a> {
    /// Its name, mangled, without the version (`name@@VERSION`).
    pub name: &'a str,
    /// Its address.
    pub address: Svma,
    /// Bytes; 0 if it does not say.
    pub size: u64,
    /// It is what chooses a function at start (GNU ifunc).
    pub is_indirect: bool,
}

impl<'a> ElfFunction<'a> {
    /// `None` if the name is no text.
    fn of(symbol: ElfSymbol<'a>) -> Option<Self> {
        let name = std::str::from_utf8(symbol.name).ok()?;
        Some(Self {
            name: name.split('@').next().unwrap_or_default(),
            address: symbol.address,
            size: symbol.size,
            is_indirect: symbol.kind == IFUNC,
        })
    }
}

impl Elf {
    /// Symbols of functions, in both tables: programs without debug symbols still say what others may call.
    pub fn for_each_function(&self, visit: &mut dyn FnMut(ElfFunction<'_>)) {
        for table in [SymbolTable::Static, SymbolTable::Dynamic] {
            // A table that is absent or damaged has nothing to say.
            let _ = self.for_each_wanted_symbol(table, is_function, |symbol| {
                ElfFunction::of(symbol).into_iter().for_each(&mut *visit);
            });
        }
    }

    /// The same of functions with `part` in their names. All strings are searched as one text: most files have no such
    /// name, and to look at each takes ten times as long.
    pub fn for_each_function_with(&self, part: &str, visit: &mut dyn FnMut(ElfFunction<'_>)) {
        for table in [SymbolTable::Static, SymbolTable::Dynamic] {
            let strings = self.symbol_strings(table).unwrap_or_default();
            let places = StringsWith::new(strings, part);
            if places.is_empty() {
                continue;
            }
            let _ = self.for_each_wanted_by_place(
                table,
                |symbol, start| is_function(symbol) && places.have(start),
                |symbol| {
                    let function = ElfFunction::of(symbol);
                    let function = function.filter(|function| function.name.contains(part));
                    function.into_iter().for_each(&mut *visit);
                },
            );
        }
    }
}

fn is_function(symbol: &ElfSymbol<'_>) -> bool {
    symbol.in_code && matches!(symbol.kind, FUNC | IFUNC)
}

/// Where the strings of a table are that have a text in them.
#[derive(Debug)]
enum StringsWith {
    /// In order.
    Within(Vec<Range<usize>>),
    /// Anywhere: the strings are no text that could be searched, or too many have it.
    Anywhere,
}

/// Strings whose places are kept: 1 MiB of them.
const MOST_STRINGS: usize = 1 << 16;

impl StringsWith {
    fn new(strings: &[u8], part: &str) -> Self {
        let Ok(text) = std::str::from_utf8(strings) else {
            return Self::Anywhere;
        };
        let mut within: Vec<Range<usize>> = Vec::new();
        for (at, _) in text.match_indices(part) {
            if within.last().is_some_and(|last| at < last.end) {
                continue;
            }
            if within.len() == MOST_STRINGS {
                return Self::Anywhere;
            }
            let (before, from) = strings.split_at(at);
            let start = before.iter().rposition(|&byte| byte == 0);
            let len = from.iter().position(|&byte| byte == 0);
            let end = len.map_or(strings.len(), |len| at + len);
            within.push(start.map_or(0, |before| before + 1)..end);
        }
        Self::Within(within)
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::Within(within) if within.is_empty())
    }

    /// Whether one of them begins there, or around it: linkers put names into the ends of others.
    fn have(&self, start: usize) -> bool {
        match self {
            Self::Within(within) => {
                let after = within.partition_point(|one| one.end <= start);
                within.get(after).is_some_and(|one| one.start <= start)
            }
            Self::Anywhere => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_untrusted::Budget;

    #[test]
    fn functions_with_a_part_in_their_names_are_those_among_all() {
        let path = std::env::current_exe().unwrap();
        let elf = Elf::open(&path, &Budget::default()).unwrap();
        for part in ["StringsWith", "drop", "a name has no blanks"] {
            let (mut all, mut found) = (Vec::new(), Vec::new());
            elf.for_each_function(&mut |function| {
                if function.name.contains(part) {
                    all.push((function.address, function.name.to_owned()));
                }
            });
            elf.for_each_function_with(part, &mut |function| {
                found.push((function.address, function.name.to_owned()));
            });
            assert_eq!(found, all, "{part}");
            assert_eq!(found.is_empty(), part.contains(' '), "{part}");
        }
    }

    #[test]
    fn names_may_begin_within_strings_that_have_a_part() {
        let strings = b"\0f.cold\0xf.cold.1.cold\0cold\0g.cold";
        let places = StringsWith::new(strings, ".cold");
        let have = (0..strings.len()).filter(|&start| places.have(start));
        let expected = (1..7).chain(8..22).chain(28..34);
        assert_eq!(have.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        assert!(StringsWith::new(b"\0f\0", ".cold").is_empty());
        assert!(StringsWith::new(b"\xff\0f", ".cold").have(2));
        assert!(!StringsWith::new(b"", ".cold").have(0));
        let many = b"f.cold\0".repeat(MOST_STRINGS);
        assert!(!StringsWith::new(&many, ".cold").have(many.len()));
        let more = [&many[..], b"g.cold\0"].concat();
        assert!(StringsWith::new(&more, ".cold").have(more.len()));
    }
}
