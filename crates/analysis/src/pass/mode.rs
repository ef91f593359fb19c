//! What a table counts.

/// What a table counts: perf's sort mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SortMode {
    /// Samples, by what their events count.
    #[default]
    Normal,
    /// Each branch of a sample's branch stack: it counts as one, and it is where it led to.
    Branch,
    /// Samples, by what the access to memory cost: by their weights.
    Memory,
}
