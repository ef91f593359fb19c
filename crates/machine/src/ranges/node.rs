//! What sets of ranges are made of.

use crate::ImageId;

/// One mapped range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// First address (AVMA).
    pub(crate) start: u64,
    /// First address after it.
    pub(crate) end: u64,
    /// Offset in the file of the first address; for kernel images the address itself.
    pub(crate) pgoff: u64,
    pub(crate) image: ImageId,
    /// Whether it may be executed, as far as the recording says.
    pub(crate) is_code: bool,
    pub(crate) backing: Backing,
}

/// What is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backing {
    /// A file, or kernel code.
    File,
    /// Memory without a file.
    Memory,
    /// Code that a compiler wrote into such memory, and a log has.
    Compiled,
}

impl Range {
    /// The part from `start` on.
    pub(super) fn from(self, start: u64) -> Self {
        Self {
            start,
            pgoff: self.pgoff.wrapping_add(start - self.start),
            ..self
        }
    }

    /// The part before `end`.
    pub(super) fn until(self, end: u64) -> Self {
        Self { end, ..self }
    }

    /// Whether all of `part` is mapped by this range just so.
    pub(super) fn holds(self, part: Self) -> bool {
        self.start <= part.start
            && part.end <= self.end
            && self.from(part.start).until(part.end) == part
    }

    /// Whether `next` maps what follows.
    pub(super) fn goes_on_with(self, next: Self) -> bool {
        self.end == next.start && self.until(next.end).from(next.start) == next
    }
}

/// A set of ranges that do not overlap. 0 is the empty one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Root(pub(crate) u32);

/// The number of no node.
pub(super) const NIL: u32 = 0;

/// A range, the ranges below it and those above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) range: Range,
    pub(super) left: u32,
    pub(super) right: u32,
}

impl Node {
    pub(super) fn leaf(range: Range) -> Self {
        Self {
            range,
            left: NIL,
            right: NIL,
        }
    }
}
