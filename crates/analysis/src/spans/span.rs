//! One span.

use rprof_machine::Key;
use rprof_untrusted::Untrusted;

/// A span of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The number of its name.
    pub(crate) name: u32,
    pub(crate) tid: i32,
    pub(crate) start: Key,
    /// The first moment after it.
    pub(crate) end: Key,
    /// How long it took, nanoseconds; as far as it is known, if it did not end.
    pub(crate) ns: u64,
    pub(crate) is_ended: bool,
}

/// What a sample's span is called, and how long it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedSpan<'a> {
    /// Its name.
    pub name: &'a Untrusted<String>,
    /// When it began, nanoseconds.
    pub start_ns: u64,
    /// How long it took, nanoseconds; as far as it is known, if it did not end.
    pub ns: u64,
}
