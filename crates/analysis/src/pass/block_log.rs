//! Counts of numbered things by block of time, small enough for millions of things.
//!
//! Samples come nearly in order of time. So a thread counts one block at a time in place, and what a block counted is
//! written down, a few bytes for each thing, when samples of another one come.

use rprof_profile::SampleCount;
use std::borrow::Cow;

/// What numbered things counted, by block.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockLog {
    /// The block at hand.
    block: u32,
    /// What was counted in it, by number.
    current: Vec<SampleCount>,
    /// The numbers that have something there.
    touched: Vec<u32>,
    /// What other blocks counted.
    finished: Vec<u8>,
    /// Where that of each is; what was counted in one block may come in parts.
    parts: Vec<LogPart>,
}

/// What was written down of a block at once.
#[derive(Clone, Copy, Debug)]
struct LogPart {
    block: u32,
    n_entries: u32,
    start: usize,
}

impl BlockLog {
    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        let counted = size_of_val(&*self.current) + size_of_val(&*self.touched);
        counted + self.finished.len() + size_of_val(&*self.parts)
    }

    /// Puts what was written down in the order of blocks.
    pub(super) fn sort(&mut self) {
        self.parts.sort_by_key(|part| part.block);
    }

    /// Counts samples of a thing.
    #[inline]
    pub(super) fn add(&mut self, number: u32, block: u32, count: SampleCount) {
        if block != self.block {
            self.finish_block();
            self.block = block;
        }
        let at = number as usize;
        if self.current.len() <= at {
            self.current.resize(at + 1, SampleCount::default());
        }
        let sum = &mut self.current[at];
        if sum.samples == 0 {
            self.touched.push(number);
        }
        sum.add(count);
    }

    #[cold]
    fn finish_block(&mut self) {
        if self.touched.is_empty() {
            return;
        }
        self.parts.push(LogPart {
            block: self.block,
            n_entries: u32::try_from(self.touched.len()).unwrap_or(u32::MAX),
            start: self.finished.len(),
        });
        for number in self.touched.drain(..) {
            let count = std::mem::take(&mut self.current[number as usize]);
            put(&mut self.finished, number.into());
            put(&mut self.finished, count.samples);
            put(&mut self.finished, count.weight);
        }
    }

    /// All of a thing together, by number.
    pub(super) fn totals(&self) -> Cow<'_, [SampleCount]> {
        if self.parts.is_empty() {
            return Cow::Borrowed(&self.current);
        }
        let mut totals = self.current.clone();
        for &part in &self.parts {
            self.for_each_in(part, &mut |number, count| {
                totals[number as usize].add(count)
            });
        }
        Cow::Owned(totals)
    }

    /// Calls `visit` with each number and what was counted of it in a block, which may come in parts. The log is sorted.
    pub(super) fn for_each_of(&self, block: u32, mut visit: impl FnMut(u32, SampleCount)) {
        let first = self.parts.partition_point(|part| part.block < block);
        let parts = self.parts.iter().skip(first);
        for &part in parts.take_while(|part| part.block == block) {
            self.for_each_in(part, &mut visit);
        }
        let current = self.touched.iter().filter(|_| self.block == block);
        for &number in current {
            visit(number, self.current[number as usize]);
        }
    }

    /// Calls `visit` with each number, block and what was counted there.
    pub(super) fn for_each(&self, mut visit: impl FnMut(u32, u32, SampleCount)) {
        for &part in &self.parts {
            self.for_each_in(part, &mut |number, count| visit(number, part.block, count));
        }
        for &number in &self.touched {
            visit(number, self.block, self.current[number as usize]);
        }
    }

    fn for_each_in(&self, part: LogPart, visit: &mut impl FnMut(u32, SampleCount)) {
        let mut left = self.finished.get(part.start..).unwrap_or_default();
        for _ in 0..part.n_entries {
            let number = u32::try_from(take(&mut left)).unwrap_or(u32::MAX);
            let samples = take(&mut left);
            let weight = take(&mut left);
            visit(number, SampleCount { samples, weight });
        }
    }
}

/// Writes a number down, seven bits to a byte; the highest bit says that more follow.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// Takes the next number.
fn take(left: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let Some((&byte, rest)) = left.split_first() else {
            break;
        };
        *left = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn what_is_counted_is_what_was_added(
            added in proptest::collection::vec((0..20u32, 0..4u32, any::<u64>()), 0..200)
        ) {
            let mut log = BlockLog::default();
            let mut expected: BTreeMap<(u32, u32), SampleCount> = BTreeMap::new();
            let mut totals: BTreeMap<u32, SampleCount> = BTreeMap::new();
            for (number, block, weight) in added {
                log.add(number, block, SampleCount::one(weight));
                expected.entry((number, block)).or_default().add(SampleCount::one(weight));
                totals.entry(number).or_default().add(SampleCount::one(weight));
            }
            let mut found: BTreeMap<(u32, u32), SampleCount> = BTreeMap::new();
            log.sort();
            for block in 0..4 {
                log.for_each_of(block, |number, count| found.entry((number, block)).or_default().add(count));
            }
            prop_assert_eq!(found, expected);
            for (number, total) in (0..).zip(&*log.totals()) {
                prop_assert_eq!(*total, totals.get(&number).copied().unwrap_or_default());
            }
        }
    }
}
