//! A sample while threads put them together.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One sample, in 24 bytes.
#[derive(Clone, Copy, Debug)]
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

/// Instead of a CPU.
pub(super) const NO_CPU: u16 = u16::MAX;

/// Marks large weights.
const IS_LARGE: u32 = 1 << 31;

/// The rows of a chunk: in the file's order, and when it is finished, in that of time.
#[derive(Debug, Default)]
pub(super) struct ChunkRows {
    pub(super) chunk: usize,
    /// Which thread read it.
    pub(super) part: usize,
    pub(super) rows: Vec<SampledRow>,
    large_weights: Vec<u64>,
    /// Rows before it have their stacks.
    next: usize,
}

impl ChunkRows {
    /// None of a chunk, with room for some.
    pub(super) fn of(chunk: usize, room: usize) -> Self {
        Self {
            chunk,
            rows: Vec::with_capacity(room),
            ..Self::default()
        }
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

    /// Puts rows in order of time; those of one time stay in the file's.
    pub(super) fn finish(&mut self) {
        self.rows.sort_by_key(|row| row.time_ns);
        self.rows.shrink_to_fit();
    }
}

/// Calls `take` with the rows of all chunks in order of time, some at a time; those of one time come in the file's
/// order. Chunks must be finished, and in the file's order. What is taken is freed.
pub(super) fn for_each_in_order(
    mut chunks: Vec<ChunkRows>,
    mut take: impl FnMut(&ChunkRows, &[SampledRow]),
) {
    let firsts = chunks.iter().enumerate();
    let firsts = firsts.filter_map(|(nth, chunk)| Some((chunk.rows.first()?.time_ns, nth)));
    let mut heap: BinaryHeap<Reverse<(u64, usize)>> = firsts.map(Reverse).collect();
    let mut taken = vec![0; chunks.len()];
    while let Some(Reverse((_, nth))) = heap.pop() {
        let chunk = &chunks[nth];
        let rest = chunk.rows.get(taken[nth]..).unwrap_or_default();
        let n = match heap.peek() {
            Some(&Reverse(other)) => rest.partition_point(|row| (row.time_ns, nth) < other),
            None => rest.len(),
        };
        let (now, later) = rest.split_at(n);
        take(chunk, now);
        taken[nth] += n;
        match later.first() {
            Some(row) => heap.push(Reverse((row.time_ns, nth))),
            None => chunks[nth] = ChunkRows::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chunk(nth: usize, times: &[(u64, u64)]) -> ChunkRows {
        let mut chunk = ChunkRows::of(nth, 0);
        for &(time_ns, weight) in times {
            let weight = chunk.add_weight(weight);
            chunk.rows.push(SampledRow {
                time_ns,
                node: NO_NODE,
                thread: 0,
                weight,
                event: 0,
                cpu: NO_CPU,
            });
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
            for_each_in_order(chunks.collect(), |chunk, rows| {
                found.extend(rows.iter().map(|row| (row.time_ns, chunk.weight(row))));
            });
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn stacks_are_of_rows_that_await_one() {
        let mut rows = chunk(0, &[(1, 1), (2, 1), (3, 1)]);
        rows.rows[0].node = AWAITED;
        rows.rows[2].node = AWAITED;
        rows.set_next(7);
        rows.set_next(8);
        rows.set_next(9);
        let nodes: Vec<u32> = rows.rows.iter().map(|row| row.node).collect();
        assert_eq!(nodes, [7, NO_NODE, 8]);
    }
}
