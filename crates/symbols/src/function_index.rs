//! All functions of an image, small: for who asks again and again, and does not want to read the file each time.

use crate::symbolized::Frame;
use crate::table::{Symbol, Table};
use crate::{Demangling, demangle};
use std::num::NonZeroU32;

/// Which function is where in an image, as far as symbols alone tell.
///
/// What is not in it may have a name all the same: where symbols lie in each other, and next to what nothing calls.
#[derive(Debug)]
pub struct FunctionIndex {
    /// By address.
    functions: Vec<Indexed>,
    /// As they are in the file.
    names: Vec<u8>,
    /// `None` for names that are readable.
    demangling: Option<Demangling>,
}

/// Addresses that have one answer.
#[derive(Clone, Copy, Debug)]
struct Indexed {
    /// As places are asked for.
    at: u64,
    /// As frames have it.
    start: u64,
    /// Bytes.
    len: u32,
    size: Option<NonZeroU32>,
    name: u32,
    name_len: u32,
}

/// A function of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedFunction {
    /// The first address, and how many bytes from there on it is the answer for.
    pub at: u64,
    /// See there.
    pub len: u32,
    /// The frame at the first address; its name has no number.
    pub frame: Frame,
    /// Readable.
    pub name: String,
}

/// The most bytes that names may take: of more, there is no index.
const MOST_NAMES: usize = 32 << 20;

impl FunctionIndex {
    /// Takes all symbols of an image. `place` is how a symbol's start is asked for, and how a frame has it; `None` if not
    /// at all.
    pub(crate) fn of(
        table: &Table<'_>,
        demangling: Option<Demangling>,
        place: impl Fn(&Symbol<'_>) -> Option<(u64, u64)>,
    ) -> Option<Self> {
        let (mut functions, mut names) = (Vec::new(), Vec::new());
        for (symbol, end) in table.alone() {
            let Some((at, start)) = place(symbol) else {
                continue;
            };
            let Ok(len) = u32::try_from(end - symbol.start) else {
                continue;
            };
            if names.len() + symbol.name.len() > MOST_NAMES {
                return None;
            }
            functions.push(Indexed {
                at,
                start,
                len,
                size: symbol.size(),
                name: u32::try_from(names.len()).ok()?,
                name_len: u32::try_from(symbol.name.len()).ok()?,
            });
            names.extend_from_slice(symbol.name);
        }
        functions.sort_by_key(|one| one.at);
        functions.shrink_to_fit();
        names.shrink_to_fit();
        Some(Self {
            functions,
            names,
            demangling,
        })
    }

    /// Bytes that it takes.
    pub fn n_bytes(&self) -> usize {
        self.names.len() + size_of_val(self.functions.as_slice())
    }

    /// The function at an address.
    pub fn find(&self, address: u64) -> Option<IndexedFunction> {
        let after = self.functions.partition_point(|one| one.at <= address);
        let one = self.functions.get(after.checked_sub(1)?)?;
        if address - one.at >= u64::from(one.len) {
            return None;
        }
        let name = self.names.get(one.name as usize..)?;
        let name = name.get(..one.name_len as usize)?;
        Some(IndexedFunction {
            at: one.at,
            len: one.len,
            frame: Frame {
                name: 0,
                start: one.start,
                offset: 0,
                size: one.size,
                is_inlined: false,
                line: None,
            },
            name: match self.demangling {
                Some(demangling) => demangling.of(name),
                None => demangle::shown(name),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const NAMES: [&[u8]; 4] = [b"one", b"_two", b"__restore_rt", b"__pfx_four"];

    fn symbol((start, size, name, binding): (u64, u64, usize, u8)) -> Symbol<'static> {
        Symbol {
            start,
            end: if size == 0 { u64::MAX } else { start + size },
            has_size: size != 0,
            name: NAMES[name],
            binding,
            in_module: false,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn what_is_in_it_is_what_the_table_says(
            all in vec((0u64..64, 0u64..12, 0..NAMES.len(), 0u8..3), 0..30),
        ) {
            let table = Table::new(all.into_iter().map(symbol).collect());
            let at = |symbol: &Symbol<'_>| Some((symbol.start + 1000, symbol.start));
            let index = FunctionIndex::of(&table, None, at).unwrap();
            for address in 0..100 {
                let Some(found) = index.find(address + 1000) else {
                    continue;
                };
                let first = found.at - 1000;
                prop_assert!((first..first + u64::from(found.len)).contains(&address));
                let named = table.find(address).unwrap();
                prop_assert_eq!(named.name, found.name.as_bytes());
                prop_assert_eq!(named.start, found.frame.start);
                prop_assert_eq!(named.size(), found.frame.size);
            }
        }
    }

    #[test]
    fn functions_that_stand_alone_are_in_it() {
        let table = Table::new(vec![symbol((10, 10, 0, 1)), symbol((30, 5, 1, 1))]);
        let index = FunctionIndex::of(&table, None, |symbol| Some((symbol.start, symbol.start)));
        let index = index.unwrap();
        let name = |address| index.find(address).map(|found| found.name);
        assert_eq!(name(9), None);
        assert_eq!(name(19).as_deref(), Some("one"));
        assert_eq!(name(20), None);
        assert_eq!(name(34).as_deref(), Some("_two"));
    }
}
