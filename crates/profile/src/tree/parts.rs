//! Trees made of others: some of their stacks, or all in another order.

use super::{Node, OUTERMOST, Tree};
use crate::{FrameId, SampleCount};
use foldhash::HashMap;
use std::cmp::Reverse;

impl Tree {
    /// The tree of those stacks that count anything; counts are of nodes' own samples, by number.
    #[must_use]
    pub fn counted(&self, counts: &[SampleCount]) -> Self {
        let mut is_used: Vec<bool> = counts.iter().map(|count| count.samples > 0).collect();
        is_used.resize(self.nodes.len(), false);
        for idx in (0..self.nodes.len()).rev() {
            if let (true, Some(parent)) = (is_used[idx], self.nodes[idx].parent) {
                is_used[parent as usize] = true;
            }
        }
        let n_used = is_used.iter().filter(|is_used| **is_used).count();
        let mut nodes: Vec<Node> = Vec::with_capacity(n_used);
        let mut moved: Vec<u32> = Vec::with_capacity(self.nodes.len());
        for (idx, node) in self.nodes.iter().enumerate() {
            moved.push(u32::try_from(nodes.len()).unwrap_or(OUTERMOST));
            if is_used[idx] {
                let count = counts.get(idx).copied().unwrap_or_default();
                nodes.push(Node {
                    parent: node.parent.map(|parent| moved[parent as usize]),
                    self_weight: count.weight,
                    self_samples: count.samples,
                    ..*node
                });
            }
        }
        Self {
            nodes,
            children: HashMap::default(),
        }
    }

    /// The same tree, frozen, with its nodes in an order that does not depend on what came first: each with all that it
    /// called, by group and frame. Says where each node is there.
    #[must_use]
    pub fn sorted(&self) -> (Self, Vec<u32>) {
        let children = self.child_lists();
        let mut moved = vec![OUTERMOST; self.nodes.len()];
        let mut nodes: Vec<Node> = Vec::with_capacity(self.nodes.len());
        let mut todo: Vec<u32> = Vec::new();
        let push_sorted = |todo: &mut Vec<u32>, of: &[u32]| {
            let start = todo.len();
            todo.extend(of);
            todo[start..].sort_unstable_by_key(|&child| {
                let node = &self.nodes[child as usize];
                Reverse((node.group, node.frame.number()))
            });
        };
        push_sorted(&mut todo, children.of(None));
        while let Some(number) = todo.pop() {
            let node = &self.nodes[number as usize];
            moved[number as usize] = u32::try_from(nodes.len()).unwrap_or(OUTERMOST);
            nodes.push(Node {
                parent: node.parent.map(|parent| moved[parent as usize]),
                ..*node
            });
            push_sorted(&mut todo, children.of(Some(number)));
        }
        let children = HashMap::default();
        (Self { nodes, children }, moved)
    }

    /// The tree of some stacks, each of a group of its own and not of the one that it has here: group, node, and what is
    /// counted there, by group.
    #[must_use]
    pub fn regrouped(&self, counted: &[(u32, u32, SampleCount)]) -> Self {
        let mut stacks = CopiedStacks::new(self);
        for &(group, node, count) in counted {
            if let Some(at) = stacks.copy(group, node) {
                stacks.copied.count(at, count);
            }
        }
        stacks.into_tree()
    }

    /// Gives nodes other frames.
    pub fn map_frames(&mut self, mut map: impl FnMut(FrameId) -> FrameId) {
        for node in &mut self.nodes {
            node.frame = map(node.frame);
        }
    }
}

/// Some stacks of a tree, copied one after the other: nodes are in the order in which stacks first have them, each
/// after those that called it. Nothing is counted there.
#[derive(Debug)]
pub struct CopiedStacks<'t> {
    tree: &'t Tree,
    copied: Tree,
    /// By node of the tree, the group that it was last copied for, and where that is.
    moved: Vec<Option<(u32, u32)>>,
    path: Vec<u32>,
}

impl<'t> CopiedStacks<'t> {
    /// None yet.
    pub fn new(tree: &'t Tree) -> Self {
        Self {
            tree,
            copied: Tree::default(),
            moved: vec![None; tree.nodes.len()],
            path: Vec::new(),
        }
    }

    fn place(&self, group: u32, node: u32) -> Option<u32> {
        let here = self.moved.get(node as usize).copied().flatten();
        here.filter(|&(of, _)| of == group).map(|(_, at)| at)
    }

    /// Copies a stack, given by its node, to a group, unless that was the last to get it. Returns where it is now;
    /// `None` if the tree has no such node.
    pub fn copy(&mut self, group: u32, node: u32) -> Option<u32> {
        let from = &self.tree.nodes;
        let mut next = Some(node).filter(|&node| (node as usize) < from.len());
        while let Some(node) = next.filter(|&node| self.place(group, node).is_none()) {
            self.path.push(node);
            next = from[node as usize].parent;
        }
        while let Some(node) = self.path.pop() {
            let of = &from[node as usize];
            let at = u32::try_from(self.copied.nodes.len()).unwrap_or(OUTERMOST);
            self.moved[node as usize] = Some((group, at));
            self.copied.nodes.push(Node {
                parent: of.parent.and_then(|parent| self.place(group, parent)),
                group,
                frame: of.frame,
                self_weight: 0,
                self_samples: 0,
            });
        }
        self.place(group, node)
    }

    /// The tree of all that were copied, frozen.
    pub fn into_tree(mut self) -> Tree {
        self.copied.freeze();
        self.copied
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(stacks: &[(u32, &[u32])]) -> Tree {
        let mut tree = Tree::default();
        for &(group, stack) in stacks {
            let node = stack.iter().fold(None, |outer, &frame| {
                Some(tree.child(outer, group, FrameId::from_number(frame)))
            });
            tree.count(node.unwrap(), SampleCount::one(10));
        }
        tree
    }

    #[test]
    fn a_sorted_tree_does_not_depend_on_what_came_first() {
        let stacks: [(u32, &[u32]); 4] = [(0, &[1, 2]), (1, &[1]), (0, &[1, 0, 5]), (0, &[0])];
        let (one, moved) = tree(&stacks).sorted();
        let mut reversed = stacks;
        reversed.reverse();
        let (other, _) = tree(&reversed).sorted();
        assert_eq!(one.nodes(), other.nodes());
        for (node, &at) in tree(&stacks).nodes().iter().zip(&moved) {
            let there = one.nodes()[at as usize];
            assert_eq!(
                (node.frame, node.self_weight),
                (there.frame, there.self_weight)
            );
            assert_eq!(
                node.parent.map(|parent| moved[parent as usize]),
                there.parent
            );
            assert!(there.parent.is_none_or(|parent| parent < at));
        }
    }

    #[test]
    fn copied_stacks_are_in_the_order_of_asking() {
        let tree = tree(&[(0, &[1, 2]), (0, &[1, 3]), (0, &[4])]);
        let mut stacks = CopiedStacks::new(&tree);
        let copied = [2, 1, 2, 9].map(|node| stacks.copy(0, node));
        assert_eq!(copied, [Some(1), Some(2), Some(1), None]);
        let mut copy = stacks.into_tree();
        copy.map_frames(|frame| FrameId::from_number(10 * frame.number()));
        let nodes = copy.nodes().iter();
        let nodes: Vec<_> = nodes
            .map(|node| (node.parent, node.frame.number()))
            .collect();
        assert_eq!(nodes, [(None, 10), (Some(0), 30), (Some(0), 20)]);
    }

    #[test]
    fn a_stack_may_be_of_several_groups() {
        let tree = tree(&[(0, &[1, 2]), (0, &[1, 3])]);
        let one = |samples| SampleCount {
            samples,
            weight: 10 * samples,
        };
        let regrouped = tree.regrouped(&[(0, 1, one(1)), (0, 2, one(2)), (1, 1, one(3))]);
        let nodes: Vec<_> = regrouped
            .nodes()
            .iter()
            .map(|node| {
                (
                    node.parent,
                    node.group,
                    node.frame.number(),
                    node.self_samples,
                )
            })
            .collect();
        let expected = [
            (None, 0, 1, 0),
            (Some(0), 0, 2, 1),
            (Some(0), 0, 3, 2),
            (None, 1, 1, 0),
            (Some(3), 1, 2, 3),
        ];
        assert_eq!(nodes, expected);
    }
}
