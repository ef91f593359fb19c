//! Making sets of ranges.
//!
//! A set is a treap: ordered by start address, heap-ordered by a seeded hash of it. Its shape is
//! seen by nobody, but it follows from the ranges alone, in whatever order they came. So nodes
//! are kept unique, and equal sets are one tree. Ranges that go on with each other are one
//! range, so that sets are equal whenever all look-ups are.
//!
//! A change works on nodes of its own; only those that its result reaches are kept.

use super::Ranges;
use super::node::{Backing, NIL, Node, Range, Root};
use super::unique::{Unique, mix};
use crate::ImageId;
use foldhash::HashMap;
use std::hash::{BuildHasher, RandomState};

/// Set in the number of a node that belongs to the change at work, not to the arena.
const SCRATCH: u32 = 1 << 31;

/// Sets of ranges while they are made.
#[derive(Debug)]
pub(crate) struct Editor {
    ranges: Ranges,
    unique: Unique,
    scratch: Vec<Node>,
    seed: u64,
}

/// Nodes on their way to another editor.
struct Copies<'e, F> {
    to: &'e mut Editor,
    /// Where those are that are there.
    moved: HashMap<u32, u32>,
    /// The numbers that images have there.
    image: &'e mut F,
}

/// Nodes that room is made for at once: growing step by step costs a small recording more than
/// the rest of its changes.
const MAX_ROOM: usize = 1 << 15;

/// Memory with more ranges in it, and code among the first, is taken to be known: looking at all of
/// them each time that it is announced would take for ever.
const MAX_COVERED: usize = 4096;

/// What a range of memory would cover.
struct Covered {
    range: Range,
    /// Up to here, all is JIT code or the same memory.
    same_until: u64,
    n_ranges: usize,
    /// JIT code in it.
    code: Vec<Range>,
}

impl Covered {
    fn new(range: Range) -> Self {
        Self {
            range,
            same_until: range.start,
            n_ranges: 0,
            code: Vec::new(),
        }
    }

    /// Looks at the next range of a set.
    fn add(&mut self, next: Range) {
        let Self { range, .. } = *self;
        if next.end <= range.start || next.start >= range.end {
            return;
        }
        let part = if next.start < range.start {
            next.from(range.start)
        } else {
            next
        };
        let part = part.until(part.end.min(range.end));
        self.n_ranges += 1;
        let is_code = next.backing == Backing::Compiled;
        if part.start == self.same_until && (is_code || range.holds(part)) {
            self.same_until = part.end;
        }
        if is_code {
            self.code.push(part);
        }
    }

    fn is_full(&self) -> bool {
        self.n_ranges > MAX_COVERED
    }

    fn is_same(&self) -> bool {
        self.same_until >= self.range.end
    }
}

impl Editor {
    /// No sets yet; about this many changes will come.
    pub(crate) fn new(n_changes: usize) -> Self {
        let seed = RandomState::new().hash_one(0);
        let room = n_changes.min(MAX_ROOM);
        let mut ranges = Ranges::default();
        ranges.nodes.reserve(room);
        Self {
            ranges,
            unique: Unique::new(mix(seed), room),
            scratch: Vec::new(),
            seed,
        }
    }

    /// The range that holds an address.
    pub(crate) fn find(&self, root: Root, address: u64) -> Option<Range> {
        self.ranges.find(root, address)
    }

    /// The set with one more range, which cuts those that it covers.
    pub(crate) fn insert(&mut self, root: Root, range: Range) -> Root {
        let before = self.find(root, range.start);
        if range.start >= range.end || before.is_some_and(|before| before.holds(range)) {
            return root;
        }
        let new = self.push(Node::leaf(range));
        self.replace(root, range.start..range.end, new)
    }

    /// The set with one more range, which cuts those that it covers but for JIT code: memory
    /// is announced again whenever its protection changes, and holds what it held.
    pub(crate) fn insert_memory(&mut self, root: Root, range: Range) -> Root {
        let mut found = Covered::new(range);
        self.cover(root.0, &mut found);
        if found.is_same() || found.is_full() && !found.code.is_empty() {
            return root;
        }
        let root = self.insert(root, range);
        let code = found.code.into_iter();
        code.fold(root, |root, code| self.insert(root, code))
    }

    /// Looks at what a range would cover, in order, until that is too much.
    fn cover(&self, at: u32, found: &mut Covered) {
        if at == NIL || found.is_full() {
            return;
        }
        let node = self.node(at);
        if node.range.end > found.range.start {
            self.cover(node.left, found);
            found.add(node.range);
        }
        if node.range.start < found.range.end {
            self.cover(node.right, found);
        }
    }

    /// The set with `below`'s ranges between two addresses instead of its own.
    pub(crate) fn restore(&mut self, root: Root, span: std::ops::Range<u64>, below: Root) -> Root {
        if span.is_empty() {
            return root;
        }
        let (_, part, _) = self.split_at_both(below.0, &span);
        self.replace(root, span, part)
    }

    /// Nodes of all sets that were ever made.
    pub(crate) fn n_nodes(&self) -> usize {
        self.ranges.nodes.len()
    }

    /// How many ranges there are in the set of each number; nodes come after those below them.
    pub(crate) fn sizes(&self) -> Vec<u32> {
        let mut sizes: Vec<u32> = Vec::with_capacity(self.n_nodes());
        for (at, node) in self.ranges.nodes.iter().enumerate() {
            let below = |at: u32| sizes.get(at as usize).copied().unwrap_or(0);
            let size = below(node.left) + below(node.right) + 1;
            sizes.push(if at == NIL as usize { 0 } else { size });
        }
        sizes
    }

    /// Keeps only some sets, which get new numbers, as the images in them do.
    pub(crate) fn compact<'r>(
        &mut self,
        roots: impl Iterator<Item = &'r mut Root>,
        image: &mut impl FnMut(ImageId) -> ImageId,
    ) {
        let mut fresh = Self::new(0);
        // The shape of the trees follows from the seed.
        fresh.seed = self.seed;
        let mut copies = Copies {
            to: &mut fresh,
            moved: HashMap::default(),
            image,
        };
        for root in roots {
            root.0 = self.copy(root.0, &mut copies);
        }
        *self = fresh;
    }

    /// Copies what a node reaches; trees are as deep as a random one, whatever they hold.
    fn copy(&self, at: u32, copies: &mut Copies<'_, impl FnMut(ImageId) -> ImageId>) -> u32 {
        if at == NIL {
            return NIL;
        }
        if let Some(&there) = copies.moved.get(&at) {
            return there;
        }
        let node = self.node(at);
        let node = Node {
            left: self.copy(node.left, copies),
            right: self.copy(node.right, copies),
            range: Range {
                image: (copies.image)(node.range.image),
                ..node.range
            },
        };
        let to = &mut *copies.to;
        let there = to.unique.intern(&mut to.ranges.nodes, node);
        copies.moved.insert(at, there);
        there
    }

    /// All sets, for look-ups.
    pub(crate) fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// The sets, for look-ups only.
    pub(crate) fn finish(mut self) -> Ranges {
        self.ranges.nodes.shrink_to_fit();
        self.ranges
    }

    fn replace(&mut self, root: Root, span: std::ops::Range<u64>, part: u32) -> Root {
        let (left, _, right) = self.split_at_both(root.0, &span);
        let left = self.join(left, part);
        let joined = self.join(left, right);
        let root = Root(self.keep(joined));
        self.scratch.clear();
        root
    }

    /// Moves what a node reaches from the scratch nodes to the arena.
    fn keep(&mut self, at: u32) -> u32 {
        if at & SCRATCH == 0 {
            return at;
        }
        let node = self.node(at);
        let left = self.keep(node.left);
        let right = self.keep(node.right);
        let node = Node {
            left,
            right,
            ..node
        };
        self.unique.intern(&mut self.ranges.nodes, node)
    }

    fn node(&self, at: u32) -> Node {
        if at & SCRATCH == 0 {
            self.ranges.nodes[at as usize]
        } else {
            self.scratch[(at & !SCRATCH) as usize]
        }
    }

    fn push(&mut self, node: Node) -> u32 {
        let at = u32::try_from(self.scratch.len()).expect("a change touches few nodes");
        self.scratch.push(node);
        at | SCRATCH
    }

    /// What lies below a span, in it and above it; ranges that cross its ends are cut.
    fn split_at_both(&mut self, root: u32, span: &std::ops::Range<u64>) -> (u32, u32, u32) {
        let (left, rest) = self.split(root, span.start);
        let (inside, right) = self.split(rest, span.end);
        (left, inside, right)
    }

    /// Splits in two: below `address`, and from it on.
    fn split(&mut self, root: u32, address: u64) -> (u32, u32) {
        let (left, right) = self.split_starts(root, address);
        match self.last(left) {
            Some(last) if last.end > address => {
                let left = self.replace_last(left, last.until(address));
                let rest = self.push(Node::leaf(last.from(address)));
                (left, self.merge(rest, right))
            }
            _ => (left, right),
        }
    }

    /// Splits by start address, cutting no range.
    fn split_starts(&mut self, at: u32, address: u64) -> (u32, u32) {
        if at == NIL {
            return (NIL, NIL);
        }
        let node = self.node(at);
        if node.range.start < address {
            let (right, rest) = self.split_starts(node.right, address);
            (self.push(Node { right, ..node }), rest)
        } else {
            let (rest, left) = self.split_starts(node.left, address);
            (rest, self.push(Node { left, ..node }))
        }
    }

    /// Joins two sets of which the first lies below the second; where one goes on with the
    /// other, two ranges become one.
    fn join(&mut self, left: u32, right: u32) -> u32 {
        match (self.last(left), self.first(right)) {
            (Some(last), Some(first)) if last.goes_on_with(first) => {
                let (_, rest) = self.split_starts(right, first.end);
                let left = self.replace_last(left, last.until(first.end));
                self.merge(left, rest)
            }
            _ => self.merge(left, right),
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
        if self.priority(a) > self.priority(b) {
            let right = self.merge(a.right, right);
            self.push(Node { right, ..a })
        } else {
            let left = self.merge(left, b.left);
            self.push(Node { left, ..b })
        }
    }

    /// Different for different starts, as every step of it is: no ties.
    fn priority(&self, node: Node) -> u64 {
        mix(mix(node.range.start ^ self.seed).wrapping_add(self.seed))
    }

    fn first(&self, mut at: u32) -> Option<Range> {
        let mut first = None;
        while at != NIL {
            let node = self.node(at);
            first = Some(node.range);
            at = node.left;
        }
        first
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
            return self.push(Node { range, ..node });
        }
        let right = self.replace_last(node.right, range);
        self.push(Node { right, ..node })
    }
}

#[cfg(test)]
mod tests;
