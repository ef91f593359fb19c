//! Address ranges as a persistent set: every change gives a new root, old roots stay valid and
//! share what did not change. A fork costs nothing, a mapping O(log n), and what was there before
//! nothing again: equal sets have equal roots.
//!
//! [`Editor`] makes sets, [`Ranges`] finds addresses in them.

mod editor;
mod unique;

pub(crate) use editor::Editor;

use crate::ImageId;

/// One mapped range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// First address (AVMA).
    pub(crate) start: u64,
    /// First address behind it.
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
    fn from(self, start: u64) -> Self {
        Self {
            start,
            pgoff: self.pgoff.wrapping_add(start - self.start),
            ..self
        }
    }

    /// The part before `end`.
    fn until(self, end: u64) -> Self {
        Self { end, ..self }
    }

    /// Whether all of `part` is mapped by this range just so.
    fn holds(self, part: Self) -> bool {
        self.start <= part.start
            && part.end <= self.end
            && self.from(part.start).until(part.end) == part
    }

    /// Whether `next` maps what follows.
    fn goes_on_with(self, next: Self) -> bool {
        self.end == next.start && self.until(next.end).from(next.start) == next
    }
}

/// A set of ranges that do not overlap. 0 is the empty one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Root(pub(crate) u32);

const NIL: u32 = 0;

/// A range, the ranges below it and those above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    range: Range,
    left: u32,
    right: u32,
}

impl Node {
    fn leaf(range: Range) -> Self {
        Self {
            range,
            left: NIL,
            right: NIL,
        }
    }
}

/// All nodes of all sets, each once.
#[derive(Debug)]
pub(crate) struct Ranges {
    nodes: Vec<Node>,
}

impl Default for Ranges {
    fn default() -> Self {
        let nothing = Range {
            start: 0,
            end: 0,
            pgoff: 0,
            image: ImageId(u32::MAX),
            is_code: false,
            backing: Backing::File,
        };
        Self {
            nodes: vec![Node::leaf(nothing)],
        }
    }
}

impl Ranges {
    /// All ranges of a set, in no order.
    pub(crate) fn all(&self, root: Root) -> impl Iterator<Item = Range> {
        let mut open = vec![root.0];
        std::iter::from_fn(move || {
            loop {
                let at = open.pop()?;
                if at != NIL {
                    let node = &self.nodes[at as usize];
                    open.extend([node.left, node.right]);
                    return Some(node.range);
                }
            }
        })
    }

    /// The range that holds an address.
    #[inline]
    pub(crate) fn find(&self, root: Root, address: u64) -> Option<Range> {
        let mut at = root.0;
        let mut best = NIL;
        while at != NIL {
            let node = &self.nodes[at as usize];
            if node.range.start <= address {
                best = at;
                at = node.right;
            } else {
                at = node.left;
            }
        }
        let range = self.nodes[best as usize].range;
        (best != NIL && address < range.end).then_some(range)
    }
}
