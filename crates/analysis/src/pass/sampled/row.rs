//! A sample while threads put them together.

/// One sample; those of a chunk are in the file's order.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampledRow {
    pub(super) time_ns: u64,
    pub(super) weight: u64,
    /// [`NO_NODE`] if it counts for totals only; [`AWAITED`] while its stack is not known.
    pub(super) node: u32,
    /// Its thread's number where it was read.
    pub(super) thread: u32,
    pub(super) event: u16,
    pub(super) cpu: Option<u16>,
}

/// Instead of a node, where there is none.
pub(super) const NO_NODE: u32 = u32::MAX;

/// Instead of a node that comes later.
pub(super) const AWAITED: u32 = u32::MAX - 1;

/// The rows of a chunk.
#[derive(Debug, Default)]
pub(super) struct ChunkRows {
    pub(super) chunk: usize,
    pub(super) rows: Vec<SampledRow>,
    /// Those before it have their stacks.
    next: usize,
}

impl ChunkRows {
    /// None of a chunk.
    pub(super) fn of(chunk: usize) -> Self {
        Self {
            chunk,
            ..Self::default()
        }
    }

    /// Says the node of the first row that awaits one.
    #[inline]
    pub(super) fn set_next(&mut self, node: u32) {
        let rest = self.rows.iter_mut().skip(self.next);
        let mut n_skipped = 0;
        for row in rest {
            n_skipped += 1;
            if row.node == AWAITED {
                row.node = node;
                break;
            }
        }
        self.next += n_skipped;
    }
}
