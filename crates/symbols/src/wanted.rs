//! Which of a file's symbols can be the answer for an address that is asked. Large files have
//! hundreds of thousands of others, which would all be sorted and kept in memory.

use crate::table::Symbol;
use foldhash::HashSet;
use rprof_base::Svma;

/// Chooses symbols in two rounds over all of them.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Addresses that are asked, sorted.
    asked: Vec<u64>,
    /// Where symbols begin that cover one of them: aliases compete, whatever they cover.
    starts: HashSet<u64>,
    /// Symbols without a size: where each begins, and the next one that is known to follow, where it
    /// ends.
    sizeless: Vec<(u64, u64)>,
    has_seen: bool,
}

impl Wanted {
    pub(crate) fn new(addresses: &[Option<Svma>]) -> Self {
        let mut asked: Vec<u64> = addresses.iter().flatten().map(|one| one.0).collect();
        asked.sort_unstable();
        Self {
            asked,
            starts: HashSet::default(),
            sizeless: Vec::new(),
            has_seen: false,
        }
    }

    /// The first round: learns of a symbol.
    pub(crate) fn see(&mut self, symbol: &Symbol<'_>) {
        self.has_seen = true;
        if !symbol.has_size {
            self.sizeless.push((symbol.start, u64::MAX));
            self.starts.insert(symbol.start);
        }
        // What begins right after an address may be its symbol, too.
        let from = symbol.start.saturating_sub(1);
        let first = self.asked.partition_point(|&address| address < from);
        let first = self.asked.get(first);
        if first.is_some_and(|&address| address < symbol.end) {
            self.starts.insert(symbol.start);
        }
    }

    /// Whether there were any symbols.
    pub(crate) fn has_seen(&self) -> bool {
        self.has_seen
    }

    /// Between the rounds.
    pub(crate) fn sort(&mut self) {
        self.sizeless.sort_unstable();
        self.sizeless.dedup();
        let mut next = u64::MAX;
        for (start, end) in self.sizeless.iter_mut().rev() {
            *end = next;
            next = *start;
        }
    }

    /// The second round: whether a symbol is to be in the table.
    pub(crate) fn takes(&mut self, symbol: &Symbol<'_>) -> bool {
        let start = symbol.start;
        let before = self.sizeless.partition_point(|&(from, _)| from < start);
        let before = before.checked_sub(1);
        let ends = before.and_then(|before| self.sizeless.get_mut(before));
        let is_next = ends.is_some_and(|(_, next)| {
            let is_nearer = start < *next;
            *next = start.min(*next);
            is_nearer
        });
        is_next || self.starts.contains(&start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const NAMES: [&[u8]; 6] = [
        b"one",
        b"_two",
        b"three",
        b"__restore_rt",
        b"four_four",
        b"",
    ];

    fn symbol((start, size, name, binding): (u64, u64, usize, u8)) -> Symbol<'static> {
        Symbol {
            start,
            end: match size {
                // The end of its section.
                0 => 70,
                size => start + size,
            },
            has_size: size != 0,
            name: NAMES[name],
            binding,
            in_module: false,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn answers_are_those_of_all_symbols(
            all in vec((0u64..64, 0u64..12, 0..NAMES.len(), 0u8..3), 0..30),
            addresses in vec(0u64..80, 0..6),
        ) {
            let all: Vec<Symbol<'_>> = all.into_iter().map(symbol).collect();
            let asked: Vec<Option<Svma>> = addresses.iter().map(|&one| Some(Svma(one))).collect();
            let mut wanted = Wanted::new(&asked);
            all.iter().for_each(|symbol| wanted.see(symbol));
            wanted.sort();
            let some: Vec<Symbol<'_>> = all.iter().copied().filter(|one| wanted.takes(one)).collect();
            prop_assert_eq!(wanted.has_seen(), !all.is_empty());
            let (all, some) = (Table::new(all), Table::new(some));
            for address in addresses {
                prop_assert_eq!(some.find(address), all.find(address), "{}", address);
            }
        }
    }
}
