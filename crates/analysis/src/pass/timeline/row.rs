//! A sample of a timeline while threads put them together.

/// One sample; the order of its first fields is the order of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub(super) time_ns: u64,
    pub(super) offset: u64,
    pub(super) event: u32,
    pub(super) thread: u32,
    /// [`NONE`] if there is no stack.
    pub(super) node: u32,
    /// [`NONE`] if it is not known.
    pub(super) cpu: u32,
    pub(super) weight: u64,
}

/// For what is not there, in rows.
pub(super) const NONE: u32 = u32::MAX;
