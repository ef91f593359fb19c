//! All stacks as one tree in preorder: what follows a node is its child, or goes some levels up.

use super::columns::unsigned;
use foldhash::HashMap;
use foldhash::fast::RandomState;
use rprof_base::{Id, Interner};
use rprof_profile::{FrameId, SampledProfile, StrId};

/// What a node is: of the outermost ones a thread's name, of others a frame, and of the innermost what is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Label {
    Comm(StrId),
    Inner(InnerLabel),
}

/// What a node is that is not outermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum InnerLabel {
    /// A frame.
    Frame(FrameId),
    /// What a thread waits for.
    Wait(StrId),
}

/// The tree, with other numbers than in the profile.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    /// Names of the outermost nodes, in order.
    pub(super) comms: Vec<StrId>,
    /// Frames and waits, numbered in the order in which they come.
    pub(super) frames: Interner<u32, InnerLabel, RandomState>,
    /// By node: how many levels it is further out than a child of the node before.
    ups: Vec<u32>,
    /// By node: of the outermost ones the number of the name, of others that of the frame.
    labels: Vec<u32>,
    /// New numbers by the profile's.
    moved: Vec<u32>,
}

impl Stacks {
    /// Stacks of a recording below the names of their threads. `is_kept` says of the profile's nodes which are in it:
    /// with a node its callers are, too. A node that is not in it is the nearest one further out.
    pub(super) fn of(sampled: &SampledProfile, is_kept: impl Fn(usize) -> bool) -> Self {
        let merged = Merged::of(sampled, is_kept);
        merged.in_preorder()
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.ups.len()
    }

    /// The number here of the stack that ends at a node of the profile.
    #[inline]
    pub(super) fn number(&self, node: u32) -> u32 {
        self.moved[node as usize]
    }

    /// The number of a stack's innermost frame; of an outermost node that of a name.
    pub(super) fn label(&self, node: u32) -> u32 {
        self.labels.get(node as usize).copied().unwrap_or(u32::MAX)
    }

    /// Appends the columns.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        self.ups.iter().for_each(|&up| unsigned(out, up.into()));
        let labels = self.labels.iter();
        labels.for_each(|&label| unsigned(out, label.into()));
    }
}

/// Nodes of one name below one parent are one.
#[derive(Debug, Default)]
struct Merged {
    labels: Vec<Label>,
    parents: Vec<Option<u32>>,
    children: HashMap<(Option<u32>, Label), u32>,
    /// By the profile's nodes, that of the frame; then that at which its stack ends.
    moved: Vec<u32>,
}

impl Merged {
    fn of(sampled: &SampledProfile, is_kept: impl Fn(usize) -> bool) -> Self {
        let mut merged = Self::default();
        let nodes = sampled.stacks.nodes();
        merged.moved.reserve(nodes.len());
        let waits = Waits::of(sampled);
        for (idx, node) in nodes.iter().enumerate() {
            let outer = match node.parent {
                Some(parent) => merged.moved[parent as usize],
                None => {
                    let group = sampled.groups.get(node.group as usize);
                    let comm = group.map_or(StrId::from_number(u32::MAX), |group| group.comm);
                    merged.child(None, Label::Comm(comm))
                }
            };
            let here = if is_kept(idx) {
                let frame = InnerLabel::Frame(node.frame);
                merged.child(Some(outer), Label::Inner(frame))
            } else {
                outer
            };
            merged.moved.push(here);
        }
        for (idx, node) in nodes.iter().enumerate() {
            if let Some(cause) = waits.at(idx, node.group) {
                let wait = Label::Inner(InnerLabel::Wait(cause));
                merged.moved[idx] = merged.child(Some(merged.moved[idx]), wait);
            }
        }
        merged
    }

    fn child(&mut self, parent: Option<u32>, label: Label) -> u32 {
        let next = u32::try_from(self.labels.len()).unwrap_or(u32::MAX);
        *self.children.entry((parent, label)).or_insert_with(|| {
            self.labels.push(label);
            self.parents.push(parent);
            next
        })
    }

    fn in_preorder(self) -> Stacks {
        let (first, next) = self.siblings();
        let mut stacks = Stacks::default();
        let mut number_of = vec![0u32; self.labels.len()];
        let mut follows_at = 0;
        let mut todo: Vec<(u32, u32)> = Vec::new();
        push_siblings(&mut todo, first[0], 0, &next);
        while let Some((node, depth)) = todo.pop() {
            number_of[node as usize] = u32::try_from(stacks.ups.len()).unwrap_or(u32::MAX);
            stacks.push(follows_at - depth, self.labels[node as usize]);
            follows_at = depth + 1;
            push_siblings(&mut todo, first[node as usize + 1], follows_at, &next);
        }
        let moved = self.moved.iter();
        stacks.moved = moved.map(|&node| number_of[node as usize]).collect();
        stacks
    }

    /// The first child of the root and of each node; the next sibling of each.
    fn siblings(&self) -> (Vec<u32>, Vec<u32>) {
        let mut first = vec![NONE; self.labels.len() + 1];
        let mut next = vec![NONE; self.labels.len()];
        let numbers = 0..u32::try_from(self.labels.len()).unwrap_or(u32::MAX);
        for node in numbers.rev() {
            let list = self.parents[node as usize].map_or(0, |parent| parent as usize + 1);
            next[node as usize] = first[list];
            first[list] = node;
        }
        (first, next)
    }
}

/// Which stacks are those of threads that wait.
struct Waits {
    /// By group.
    causes: Vec<Option<StrId>>,
    /// By node, whether a sample's stack ends there; empty if no thread waits.
    is_end: Vec<bool>,
}

impl Waits {
    fn of(sampled: &SampledProfile) -> Self {
        let causes = sampled.causes();
        let mut is_end = Vec::new();
        if causes.iter().any(Option::is_some) {
            is_end.resize(sampled.stacks.nodes().len(), false);
            let ends = sampled.samples.iter().filter_map(|sample| sample.stack);
            ends.for_each(|node| is_end[node as usize] = true);
        }
        Self { causes, is_end }
    }

    /// What is waited for in the stack that ends at a node.
    fn at(&self, node: usize, group: u32) -> Option<StrId> {
        let is_end = self.is_end.get(node).copied().unwrap_or(false);
        let cause = self.causes.get(group as usize).copied().flatten();
        cause.filter(|_| is_end)
    }
}

const NONE: u32 = u32::MAX;

/// Pushes a node and its later siblings so that it is the first to be popped.
fn push_siblings(todo: &mut Vec<(u32, u32)>, first: u32, depth: u32, next: &[u32]) {
    let from = todo.len();
    let mut node = first;
    while node != NONE {
        todo.push((node, depth));
        node = next[node as usize];
    }
    todo[from..].reverse();
}

impl Stacks {
    fn push(&mut self, up: u32, label: Label) {
        self.ups.push(up);
        let label = match label {
            Label::Comm(comm) => {
                self.comms.push(comm);
                u32::try_from(self.comms.len() - 1).unwrap_or(u32::MAX)
            }
            Label::Inner(label) => self.frames.intern(label),
        };
        self.labels.push(label);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_profile::testing;

    #[test]
    fn a_node_follows_its_caller_or_goes_up() {
        let sampled = testing::sampled(&[
            (0, "a", "main;f;g", 1),
            (1, "b", "main", 1),
            (2, "a", "main;h", 1),
            (3, "a", "main;f;h", 1),
        ]);
        let stacks = Stacks::of(&sampled, |_| true);
        // a main f g h h, b main
        assert_eq!(stacks.ups, [0, 0, 0, 0, 1, 2, 3, 0]);
        assert_eq!(stacks.labels, [0, 0, 1, 2, 3, 3, 1, 0]);
        assert_eq!((stacks.comms.len(), stacks.frames.values().len()), (2, 4));
    }

    #[test]
    fn what_is_waited_for_is_the_innermost_node() {
        let sampled = testing::sampled(&[
            (0, "a", "main;f;[pipe]", 1),
            (1, "a", "main;[futex]", 1),
            (2, "a", "main;f;g", 1),
            (3, "a", "main;f;[futex]", 1),
        ]);
        let stacks = Stacks::of(&sampled, |_| true);
        // a main f g pipe futex, futex
        assert_eq!(stacks.ups, [0, 0, 0, 0, 1, 1, 2]);
        let ends = sampled.samples.iter().filter_map(|sample| sample.stack);
        let ends: Vec<u32> = ends.map(|node| stacks.number(node)).collect();
        assert_eq!(ends, [4, 6, 3, 5]);
    }

    #[test]
    fn what_is_left_out_counts_for_its_caller() {
        let sampled = testing::sampled(&[(0, "a", "main;f;g", 1), (1, "a", "main;f;h", 1)]);
        let stacks = Stacks::of(&sampled, |node| node < 2);
        assert_eq!(stacks.len(), 3);
        let numbers: Vec<u32> = (0..4).map(|node| stacks.number(node)).collect();
        assert_eq!(numbers, [1, 2, 2, 2]);
    }
}
