//! How far around an address the same symbol is the answer: for who asks again and again, and remembers.

use crate::table::{Entry, Table};
use rprof_base::Svma;
use std::ops::Range;

/// The nearest places around addresses where symbols begin or end.
#[derive(Debug)]
pub(crate) struct Boundaries {
    /// Sorted, each once.
    asked: Vec<u64>,
    /// By address: up to where, and from where on, there is none.
    before: Vec<u64>,
    after: Vec<u64>,
}

impl Boundaries {
    pub(crate) fn new(addresses: &[Option<Svma>]) -> Self {
        let mut asked: Vec<u64> = addresses.iter().flatten().map(|one| one.0).collect();
        asked.sort_unstable();
        asked.dedup();
        Self {
            before: vec![0; asked.len()],
            after: vec![u64::MAX; asked.len()],
            asked,
        }
    }

    /// Learns of a symbol.
    pub(crate) fn see(&mut self, entry: &Entry<'_>) {
        // One before a symbol may be the symbol's, too.
        self.add(entry.start.saturating_sub(1));
        self.add(entry.start);
        self.add(entry.end);
    }

    fn add(&mut self, boundary: u64) {
        let at = self.asked.partition_point(|&address| address < boundary);
        if let Some(before) = self.before.get_mut(at) {
            *before = (*before).max(boundary);
        }
        if let Some(after) = at.checked_sub(1).and_then(|at| self.after.get_mut(at)) {
            *after = (*after).min(boundary);
        }
    }

    /// All symbols have been seen.
    pub(crate) fn finish(&mut self) {
        let mut last = 0;
        for before in &mut self.before {
            last = last.max(*before);
            *before = last;
        }
        let mut next = u64::MAX;
        for after in self.after.iter_mut().rev() {
            next = next.min(*after);
            *after = next;
        }
    }

    /// Addresses around one that is asked, and it, for which a table of wanted symbols has the same answer; `None` if that
    /// cannot be told.
    pub(crate) fn around(&self, table: &Table<'_>, address: u64) -> Option<Range<u64>> {
        let answer = table.find(address)?;
        // Where a symbol without a size ends depends on others, and on unwind tables.
        if !answer.has_size || table.last_before(address) != Some(answer) {
            return None;
        }
        let at = self.asked.binary_search(&address).ok()?;
        Some(*self.before.get(at)?..*self.after.get(at)?)
    }
}

/// The same of a table that has all symbols, none of which has a size: up to the next one.
pub(crate) fn in_list(table: &Table<'_>, address: u64) -> Option<Range<u64>> {
    let answer = table.find(address)?;
    if table.last_before(address) != Some(answer) {
        return None;
    }
    let next = table.first_after(address);
    let end = next.map_or(answer.end, |next| {
        answer.end.min(next.start.saturating_sub(1))
    });
    Some(answer.start..end).filter(|range| range.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const NAMES: [&[u8]; 4] = [b"one", b"_two", b"__restore_rt", b"__pfx_four"];

    fn entry((start, size, name, binding): (u64, u64, usize, u8)) -> Entry<'static> {
        Entry {
            start,
            end: if size == 0 { 70 } else { start + size },
            has_size: size != 0,
            name: NAMES[name],
            binding,
            in_module: false,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn all_around_an_address_has_its_answer(
            all in vec((0u64..64, 0u64..12, 0..NAMES.len(), 0u8..3), 0..30),
            asked in vec(0u64..80, 0..6),
            ends in vec(0u64..80, 0..4),
        ) {
            let mut all: Vec<Entry<'_>> = all.into_iter().map(entry).collect();
            let addresses: Vec<Option<Svma>> = asked.iter().map(|&one| Some(Svma(one))).collect();
            let mut boundaries = Boundaries::new(&addresses);
            all.iter().for_each(|entry| boundaries.see(entry));
            boundaries.finish();
            // As unwind tables have it, of which boundaries know nothing.
            for entry in all.iter_mut().filter(|entry| !entry.has_size) {
                let end = ends.iter().copied().filter(|&end| end > entry.start).min();
                entry.end = entry.end.min(end.unwrap_or(u64::MAX));
            }
            let table = Table::new(all);
            for address in asked {
                let Some(around) = boundaries.around(&table, address) else {
                    continue;
                };
                prop_assert!(around.contains(&address));
                for other in around.start..around.end.min(100) {
                    prop_assert_eq!(table.find(other), table.find(address), "{} {}", other, address);
                }
            }
        }

        #[test]
        fn in_a_list_all_up_to_the_next_symbol_has_one_answer(
            all in vec((0u64..64, 0..NAMES.len(), 0u8..3), 0..30),
            asked in vec(0u64..80, 0..6),
        ) {
            let of_list = |(start, name, binding)| Entry {
                end: u64::MAX,
                ..entry((start, 0, name, binding))
            };
            let table = Table::new(all.into_iter().map(of_list).collect());
            for address in asked {
                let Some(around) = in_list(&table, address) else {
                    continue;
                };
                for other in around.start..around.end.min(100) {
                    prop_assert_eq!(table.find(other), table.find(address), "{} {}", other, address);
                }
            }
        }
    }
}
