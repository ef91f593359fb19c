//! Where blanks stand, and what values are in.

/// Where blanks stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonLayout {
    /// Nowhere: `{"a":1,"b":2}`.
    Compact,
    /// Around colons and behind commas, as perf does it: `{"a" : 1, "b" : 2}`.
    Spaced,
    /// Each value on a line of its own, two blanks further in than what it is in.
    Indented,
}

/// What values are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonContainer {
    /// Values with names.
    Object,
    /// Values without names.
    List,
}

/// What stands before the next value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// Nothing, or its name.
    Nothing,
    /// The bracket of the object or list that it is in.
    Bracket,
    /// Another value.
    Value,
}
