//! Address ranges as a persistent set: every change gives a new root, old roots stay valid and
//! share what did not change. A fork costs nothing, a mapping O(log n).
//!
//! The tree is a treap in an arena: ordered by start address, heap-ordered by a seeded hash of it,
//! so its shape follows from the ranges in it. Each node exists once: equal sets are one tree, and
//! a recording in which the same programs come again and again costs what one of them does. The
//! seed keeps a file made for it from growing a list.

use crate::ImageId;
use rustc_hash::FxBuildHasher;
use std::hash::{BuildHasher, RandomState};

/// One mapped range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Range {
    /// First address (AVMA).
    pub(crate) start: u64,
    /// First address behind it.
    pub(crate) end: u64,
    /// Offset in the file of the first address; for kernel images the address itself.
    pub(crate) pgoff: u64,
    pub(crate) image: ImageId,
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
}

/// A set of ranges that do not overlap. 0 is the empty one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Root(pub(crate) u32);

const NIL: u32 = 0;

/// Marks a node of the change that is being made: not in the arena yet, not unique, and free to
/// be written over.
const SCRATCH: u32 = 1 << 31;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    range: Range,
    left: u32,
    right: u32,
}

/// All nodes of all sets.
#[derive(Debug)]
pub(crate) struct Ranges {
    nodes: Vec<Node>,
    unique: Unique,
    scratch: Vec<Node>,
    seed: u64,
}

impl Default for Ranges {
    fn default() -> Self {
        let nothing = Range {
            start: 0,
            end: 0,
            pgoff: 0,
            image: ImageId(u32::MAX),
        };
        Self {
            nodes: vec![Node {
                range: nothing,
                left: NIL,
                right: NIL,
            }],
            unique: Unique::default(),
            scratch: Vec::new(),
            seed: RandomState::new().hash_one(0),
        }
    }
}

/// Where in the arena each node is: open addressing, at most half full.
#[derive(Debug, Default)]
struct Unique {
    slots: Vec<u32>,
    len: usize,
}

impl Unique {
    fn slot(slots: &[u32], nodes: &[Node], node: &Node) -> usize {
        let mask = slots.len() - 1;
        // The upper bits of this hash are its good ones.
        let hash = FxBuildHasher.hash_one(node) >> 20;
        let mut at = usize::try_from(hash).unwrap_or(0) & mask;
        while slots[at] != NIL && nodes[slots[at] as usize] != *node {
            at = (at + 1) & mask;
        }
        at
    }

    /// The place of a node in the arena, to whose end it goes if it is new.
    fn intern(&mut self, nodes: &mut Vec<Node>, node: Node) -> u32 {
        if self.slots.len() < 2 * (self.len + 1) {
            let mut wider = vec![NIL; (2 * self.slots.len()).max(64)];
            for &old in self.slots.iter().filter(|&&old| old != NIL) {
                let at = Self::slot(&wider, nodes, &nodes[old as usize]);
                wider[at] = old;
            }
            self.slots = wider;
        }
        let at = Self::slot(&self.slots, nodes, &node);
        if self.slots[at] == NIL {
            let next = u32::try_from(nodes.len()).unwrap_or(SCRATCH);
            assert!(next < SCRATCH, "2 billion nodes do not fit into memory");
            self.slots[at] = next;
            self.len += 1;
            nodes.push(node);
        }
        self.slots[at]
    }
}

/// Mixes all bits (splitmix64's finalizer), so that the tree is balanced however mappings come.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

impl Ranges {
    fn node(&self, at: u32) -> Node {
        match at & SCRATCH {
            0 => self.nodes[at as usize],
            _ => self.scratch[(at ^ SCRATCH) as usize],
        }
    }

    /// A new node of the change that is being made.
    fn push(&mut self, node: Node) -> u32 {
        let at = u32::try_from(self.scratch.len()).unwrap_or(NIL) | SCRATCH;
        self.scratch.push(node);
        at
    }

    /// `node` in the place of the one at `at`, which nobody else may refer to any more.
    fn replace(&mut self, at: u32, node: Node) -> u32 {
        if at & SCRATCH == 0 {
            return self.push(node);
        }
        self.scratch[(at ^ SCRATCH) as usize] = node;
        at
    }

    /// Ends a change: its nodes go to the arena, unless they are there already.
    fn commit(&mut self, root: u32) -> Root {
        let root = self.intern(root);
        self.scratch.clear();
        Root(root)
    }

    fn intern(&mut self, at: u32) -> u32 {
        if at & SCRATCH == 0 {
            return at;
        }
        let node = self.node(at);
        let node = Node {
            left: self.intern(node.left),
            right: self.intern(node.right),
            ..node
        };
        self.unique.intern(&mut self.nodes, node)
    }

    /// Forgets what is needed only for changes.
    pub(crate) fn freeze(&mut self) {
        self.unique = Unique::default();
        self.scratch = Vec::new();
        self.nodes.shrink_to_fit();
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

    /// The set with one more range, which cuts those that it covers.
    pub(crate) fn insert(&mut self, root: Root, range: Range) -> Root {
        if range.start >= range.end {
            return root;
        }
        if self.find(root, range.start) == Some(range) {
            return root;
        }
        let (left, right) = self.cut(root.0, range.start, range.end);
        let new = self.push(Node {
            range,
            left: NIL,
            right: NIL,
        });
        let left = self.merge(left, new);
        let root = self.merge(left, right);
        self.commit(root)
    }

    /// The set without the addresses from `start` to `end`.
    pub(crate) fn remove(&mut self, root: Root, start: u64, end: u64) -> Root {
        if start >= end {
            return root;
        }
        let (left, right) = self.cut(root.0, start, end);
        let root = self.merge(left, right);
        self.commit(root)
    }

    /// What is left of a hole, and what is right of it.
    fn cut(&mut self, root: u32, start: u64, end: u64) -> (u32, u32) {
        let (mut left, rest) = self.split(root, start);
        let (covered, mut right) = self.split(rest, end);
        let mut remainder = None;
        if let Some(before) = self.last(left)
            && before.end > start
        {
            left = self.replace_last(
                left,
                Range {
                    end: start,
                    ..before
                },
            );
            remainder = (before.end > end).then(|| before.from(end));
        }
        if let Some(last) = self.last(covered)
            && last.end > end
        {
            remainder = Some(last.from(end));
        }
        if let Some(range) = remainder {
            let node = self.push(Node {
                range,
                left: NIL,
                right: NIL,
            });
            right = self.merge(node, right);
        }
        (left, right)
    }

    /// Splits by start address: below `address`, and from it on.
    fn split(&mut self, at: u32, address: u64) -> (u32, u32) {
        if at == NIL {
            return (NIL, NIL);
        }
        let node = self.node(at);
        if node.range.start < address {
            let (left, right) = self.split(node.right, address);
            (
                self.replace(
                    at,
                    Node {
                        right: left,
                        ..node
                    },
                ),
                right,
            )
        } else {
            let (left, right) = self.split(node.left, address);
            (
                left,
                self.replace(
                    at,
                    Node {
                        left: right,
                        ..node
                    },
                ),
            )
        }
    }

    /// Joins two sets of which the first lies below the second.
    fn merge(&mut self, left: u32, right: u32) -> u32 {
        if left == NIL {
            return right;
        }
        if right == NIL {
            return left;
        }
        let (a, b) = (self.node(left), self.node(right));
        if self.priority(a) >= self.priority(b) {
            let merged = self.merge(a.right, right);
            self.replace(left, Node { right: merged, ..a })
        } else {
            let merged = self.merge(left, b.left);
            self.replace(right, Node { left: merged, ..b })
        }
    }

    /// Different for different starts: mixing loses nothing.
    fn priority(&self, node: Node) -> u64 {
        mix(mix(node.range.start ^ self.seed).wrapping_add(self.seed))
    }

    fn last(&self, mut at: u32) -> Option<Range> {
        let mut last = None;
        while at != NIL {
            let node = self.node(at);
            last = Some(node.range);
            at = node.right;
        }
        last
    }

    fn replace_last(&mut self, at: u32, range: Range) -> u32 {
        let node = self.node(at);
        if node.right == NIL {
            return self.replace(at, Node { range, ..node });
        }
        let right = self.replace_last(node.right, range);
        self.replace(at, Node { right, ..node })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(start: u64, end: u64, image: u32) -> Range {
        Range {
            start,
            end,
            pgoff: start * 10,
            image: ImageId(image),
        }
    }

    #[test]
    fn a_mapping_cuts_the_ones_it_covers_and_old_roots_stay() {
        let mut ranges = Ranges::default();
        let before = ranges.insert(Root(0), range(10, 100, 1));
        let after = ranges.insert(before, range(40, 50, 2));
        let image = |root, at| ranges.find(root, at).map(|found| found.image.0);
        assert_eq!(
            [9, 10, 39, 40, 49, 50, 99, 100].map(|at| image(after, at)),
            [
                None,
                Some(1),
                Some(1),
                Some(2),
                Some(2),
                Some(1),
                Some(1),
                None
            ]
        );
        assert_eq!(image(before, 45), Some(1));
        // The remainder keeps the file's offsets: 50 is 40 into a range that starts at 100.
        assert_eq!(ranges.find(after, 50).unwrap().pgoff, 140);
    }

    #[test]
    fn the_same_mapping_again_is_no_change() {
        let mut ranges = Ranges::default();
        let root = ranges.insert(Root(0), range(10, 20, 1));
        assert_eq!(ranges.insert(root, range(10, 20, 1)), root);
        assert_eq!(ranges.insert(root, range(20, 20, 1)), root);
    }

    #[test]
    fn the_same_ranges_are_the_same_tree_whatever_led_to_them() {
        let mut ranges = Ranges::default();
        let all: Vec<Range> = (0..50).map(|n| range(n * 10, n * 10 + 5, 7)).collect();
        let mut forward = Root(0);
        for &one in &all {
            forward = ranges.insert(forward, one);
        }
        let nodes = ranges.nodes.len();
        let mut backward = ranges.insert(Root(0), range(0, 1000, 1));
        backward = ranges.remove(backward, 0, 2000);
        for &one in all.iter().rev() {
            backward = ranges.insert(backward, one);
        }
        assert_eq!(forward, backward);
        let again = all
            .iter()
            .fold(Root(0), |root, &one| ranges.insert(root, one));
        assert_eq!(forward, again);
        // Repeating it all added nothing but what the way back had for itself.
        assert!(ranges.nodes.len() <= 2 * nodes + 10);
    }

    proptest! {
        #[test]
        fn it_agrees_with_an_array(ops in proptest::collection::vec((0u64..60, 0u64..30, any::<bool>()), 1..60)) {
            let mut ranges = Ranges::default();
            let mut root = Root(0);
            let mut model = [None; 100];
            for (n, (start, len, insert)) in ops.into_iter().enumerate() {
                let image = u32::try_from(n).unwrap();
                let end = start + len;
                let span = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
                if insert {
                    root = ranges.insert(root, range(start, end, image));
                    model[span].fill(Some((ImageId(image), start)));
                } else {
                    root = ranges.remove(root, start, end);
                    model[span].fill(None);
                }
                for at in 0..100u64 {
                    let found = ranges.find(root, at);
                    let expected = model[usize::try_from(at).unwrap()];
                    prop_assert_eq!(found.map(|f| f.image), expected.map(|(image, _)| image));
                    if let (Some(f), Some((_, start))) = (found, expected) {
                        prop_assert_eq!(f.pgoff + (at - f.start), start * 10 + (at - start));
                    }
                }
            }
        }
    }
}
