//! A sample while threads put them together.

use super::columns::{Numbers, Times};
use crate::Error;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SampledRow {
    pub(super) time_ns: u64,
    /// [`NO_NODE`] if it counts for totals only; [`AWAITED`] while its stack is not known.
    pub(super) node: u32,
    /// Its thread's number where it was read.
    pub(super) thread: u32,
    /// What it counts for, or with the highest bit, which one of the chunk's large weights that is.
    pub(super) weight: u32,
    pub(super) event: u16,
    /// [`NO_CPU`] if it is not known.
    pub(super) cpu: u16,
}

/// Instead of a node, where there is none.
pub(super) const NO_NODE: u32 = u32::MAX;

/// Instead of a node that comes later.
pub(super) const AWAITED: u32 = u32::MAX - 1;

/// Instead of a node, of a stack without any location.
pub(super) const EMPTY: u32 = u32::MAX - 2;

/// Instead of a CPU.
pub(super) const NO_CPU: u16 = u16::MAX;

/// Marks large weights.
const IS_LARGE: u32 = 1 << 31;

/// The rows of a chunk: while it is read, in the file's order; when it is finished, in columns and in that of time.
#[derive(Debug, Default)]
pub(super) struct ChunkRows {
    pub(super) chunk: usize,
    /// Which thread read it.
    pub(super) part: usize,
    /// Those that are read.
    pub(super) rows: Vec<SampledRow>,
    /// Where each is in the file; empty if that is not asked for.
    pub(super) offsets: Vec<u64>,
    large_weights: Vec<u64>,
    /// Rows before it have their stacks.
    next: usize,
    done: RowColumns,
}

/// Rows in ten bytes each, as most recordings have them: there may be millions.
#[derive(Debug, Default)]
struct RowColumns {
    times_ns: Times,
    nodes: Vec<u32>,
    /// Numbers of `sources`.
    source_of: Numbers,
    sources: Interner<u32, RowSource, RandomState>,
    /// Empty while all rows have the weight of the first.
    weights: Vec<u32>,
    first_weight: u32,
}

/// What many rows of a chunk have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RowSource {
    thread: u32,
    event: u16,
    cpu: u16,
}

impl RowColumns {
    fn of(rows: impl ExactSizeIterator<Item = SampledRow>) -> Self {
        let n = rows.len();
        let mut columns = Self {
            times_ns: Times::with_capacity(n),
            nodes: Vec::with_capacity(n),
            source_of: Numbers::with_capacity(n),
            ..Self::default()
        };
        rows.for_each(|row| columns.push(row));
        columns
    }

    fn push(&mut self, row: SampledRow) {
        let n_before = self.times_ns.len();
        self.times_ns.push(row.time_ns);
        self.nodes.push(row.node);
        self.source_of.push(self.sources.intern(RowSource {
            thread: row.thread,
            event: row.event,
            cpu: row.cpu,
        }));
        if n_before == 0 {
            self.first_weight = row.weight;
        } else if self.weights.is_empty() && row.weight != self.first_weight {
            self.weights = vec![self.first_weight; n_before];
        }
        if !self.weights.is_empty() {
            self.weights.push(row.weight);
        }
    }

    #[inline]
    fn row(&self, at: usize) -> Option<SampledRow> {
        let source = self.sources.get(self.source_of.get(at)?)?;
        Some(SampledRow {
            time_ns: self.times_ns.get(at)?,
            node: *self.nodes.get(at)?,
            thread: source.thread,
            weight: self.weights.get(at).copied().unwrap_or(self.first_weight),
            event: source.event,
            cpu: source.cpu,
        })
    }
}

impl ChunkRows {
    /// None of a chunk, with room for some.
    pub(super) fn of(chunk: usize, rows: Vec<SampledRow>) -> Self {
        Self {
            chunk,
            rows,
            ..Self::default()
        }
    }

    /// How many rows there are, when it is finished.
    pub(super) fn len(&self) -> usize {
        self.done.times_ns.len()
    }

    /// Rows within a range, when it is finished.
    pub(super) fn within(&self, range: Range<usize>) -> impl Iterator<Item = SampledRow> {
        range.filter_map(|at| self.done.row(at))
    }

    /// Where the sample of a row is in the file, when it is finished, if that is asked for.
    #[inline]
    pub(super) fn offset(&self, at: usize) -> u64 {
        self.offsets.get(at).copied().unwrap_or(0)
    }

    /// Forgets rows that are not such.
    pub(super) fn retain(&mut self, mut is_such: impl FnMut(&Self, &SampledRow) -> bool) {
        let rows = (0..self.len()).zip(self.within(0..self.len()));
        let rows = rows.filter(|(_, row)| is_such(self, row));
        let (kept, rows): (Vec<usize>, Vec<SampledRow>) = rows.unzip();
        if !self.offsets.is_empty() {
            self.offsets = kept.iter().map(|&at| self.offsets[at]).collect();
        }
        self.done = RowColumns::of(rows.into_iter());
    }

    /// A weight as rows have it.
    #[inline]
    pub(super) fn add_weight(&mut self, weight: u64) -> u32 {
        match u32::try_from(weight) {
            Ok(small) if small < IS_LARGE => small,
            _ => {
                self.large_weights.push(weight);
                let number = u32::try_from(self.large_weights.len() - 1);
                number.unwrap_or(u32::MAX) | IS_LARGE
            }
        }
    }

    /// What a row counts for.
    #[inline]
    pub(super) fn weight(&self, row: &SampledRow) -> u64 {
        if row.weight < IS_LARGE {
            return row.weight.into();
        }
        let number = (row.weight & !IS_LARGE) as usize;
        self.large_weights.get(number).copied().unwrap_or(0)
    }

    /// Says the node of the first row that awaits one.
    #[inline]
    pub(super) fn set_next(&mut self, node: u32) {
        while let Some(row) = self.rows.get_mut(self.next) {
            self.next += 1;
            if row.node == AWAITED {
                row.node = node;
                return;
            }
        }
    }

    /// Puts rows in order of time; those of one time stay in the file's. Returns the room that they had.
    pub(super) fn finish(&mut self) -> Vec<SampledRow> {
        let mut rows = std::mem::take(&mut self.rows);
        if !self.offsets.is_empty() {
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by_key(|&at| rows[at].time_ns);
            self.offsets = order.into_iter().map(|at| self.offsets[at]).collect();
        }
        rows.sort_by_key(|row| row.time_ns);
        self.done = RowColumns::of(rows.drain(..));
        rows
    }
}

/// Calls `take` with the rows of all chunks in order of time, a range at a time; those of one time come in the file's
/// order. Chunks must be finished, and in the file's order. What is taken is freed.
pub(super) fn for_each_in_order(
    mut chunks: Vec<ChunkRows>,
    mut take: impl FnMut(&ChunkRows, Range<usize>) -> Result<(), Error>,
) -> Result<(), Error> {
    let time = |chunk: &ChunkRows, at: usize| chunk.done.times_ns.get(at);
    let firsts = chunks.iter().enumerate();
    let firsts = firsts.filter_map(|(nth, chunk)| Some((time(chunk, 0)?, nth)));
    let mut heap: BinaryHeap<Reverse<(u64, usize)>> = firsts.map(Reverse).collect();
    let mut taken = vec![0; chunks.len()];
    while let Some(Reverse((_, nth))) = heap.pop() {
        let chunk = &chunks[nth];
        let begin = taken[nth];
        let times = &chunk.done.times_ns;
        let end = match heap.peek() {
            Some(&Reverse(other)) => times.first_other(begin, |time| (time, nth) < other),
            None => times.len(),
        };
        take(chunk, begin..end)?;
        taken[nth] = end;
        match time(chunk, end) {
            Some(time) => heap.push(Reverse((time, nth))),
            None => chunks[nth] = ChunkRows::default(),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(time_ns: u64, weight: u32) -> SampledRow {
        SampledRow {
            time_ns,
            node: NO_NODE,
            thread: 0,
            weight,
            event: 0,
            cpu: NO_CPU,
        }
    }

    fn chunk(nth: usize, times: &[(u64, u64)]) -> ChunkRows {
        let mut chunk = ChunkRows::of(nth, Vec::new());
        for &(time_ns, weight) in times {
            let weight = chunk.add_weight(weight);
            chunk.rows.push(row(time_ns, weight));
        }
        chunk.finish();
        chunk
    }

    proptest! {
        #[test]
        fn chunks_come_as_if_all_were_sorted(
            chunks in prop::collection::vec(prop::collection::vec((0u64..20, any::<u64>()), 0..20), 0..5)
        ) {
            let mut expected: Vec<(u64, u64)> = chunks.concat();
            expected.sort_by_key(|&(time, _)| time);
            let chunks = chunks.iter().enumerate().map(|(nth, times)| chunk(nth, times));
            let mut found = Vec::new();
            for_each_in_order(chunks.collect(), |chunk, range| {
                found.extend(chunk.within(range).map(|row| (row.time_ns, chunk.weight(&row))));
                Ok(())
            }).unwrap();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn finished_rows_are_what_was_read(
            rows in prop::collection::vec((0u64..9, 0u32..3, 0u16..3, 0u32..3), 0..20), limit in 0u32..3
        ) {
            let rows = rows.into_iter().map(|(time, thread, cpu, weight)| SampledRow {
                thread,
                cpu,
                event: cpu / 2,
                node: thread + weight,
                ..row(time, weight)
            });
            let mut chunk = ChunkRows::of(0, rows.collect());
            chunk.offsets = (0..).step_by(8).take(chunk.rows.len()).collect();
            let mut expected: Vec<(SampledRow, u64)> =
                chunk.rows.iter().copied().zip(chunk.offsets.iter().copied()).collect();
            expected.sort_by_key(|(row, _)| row.time_ns);
            let found = |chunk: &ChunkRows| -> Vec<(SampledRow, u64)> {
                let offsets = (0..chunk.len()).map(|at| chunk.offset(at));
                chunk.within(0..chunk.len()).zip(offsets).collect()
            };
            chunk.finish();
            prop_assert_eq!(found(&chunk), expected.clone());
            chunk.retain(|_, row| row.weight > limit);
            expected.retain(|(row, _)| row.weight > limit);
            prop_assert_eq!(found(&chunk), expected);
        }
    }

    #[test]
    fn stacks_are_of_rows_that_await_one() {
        let rows = [AWAITED, NO_NODE, AWAITED].map(|node| SampledRow { node, ..row(1, 1) });
        let mut rows = ChunkRows::of(0, rows.into());
        rows.set_next(7);
        rows.set_next(8);
        rows.set_next(9);
        let nodes: Vec<u32> = rows.rows.iter().map(|row| row.node).collect();
        assert_eq!(nodes, [7, NO_NODE, 8]);
    }
}
