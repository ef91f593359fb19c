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
        let mut nodes: Vec<Node> = Vec::new();
        // For each node the group that it was last asked for, and where it is there.
        let mut moved: Vec<Option<(u32, u32)>> = vec![None; self.nodes.len()];
        let mut path: Vec<u32> = Vec::new();
        for &(group, node, count) in counted {
            let known = |moved: &[Option<(u32, u32)>], node: u32| {
                let here = moved.get(node as usize).copied().flatten();
                here.filter(|&(of, _)| of == group).map(|(_, at)| at)
            };
            let mut next = Some(node).filter(|&node| (node as usize) < self.nodes.len());
            while let Some(node) = next.filter(|&node| known(&moved, node).is_none()) {
                path.push(node);
                next = self.nodes[node as usize].parent;
            }
            while let Some(node) = path.pop() {
                let of = &self.nodes[node as usize];
                let at = u32::try_from(nodes.len()).unwrap_or(OUTERMOST);
                moved[node as usize] = Some((group, at));
                nodes.push(Node {
                    parent: of.parent.and_then(|parent| known(&moved, parent)),
                    group,
                    frame: of.frame,
                    self_weight: 0,
                    self_samples: 0,
                });
            }
            if let Some(at) = known(&moved, node) {
                let node = &mut nodes[at as usize];
                node.self_weight = node.self_weight.saturating_add(count.weight);
                node.self_samples += count.samples;
            }
        }
        Self {
            nodes,
            children: HashMap::default(),
        }
    }

    /// Moves nodes to other numbers, and drops those that have none. What is needed for adding is forgotten.
    pub fn renumber(&mut self, order: UseOrder) {
        let UseOrder {
            mut numbers,
            n_used,
            ..
        } = order;
        for node in &mut self.nodes {
            node.parent = node.parent.map(|parent| numbers[parent as usize]);
        }
        for at in 0..self.nodes.len() {
            // Each exchange puts one node where it belongs.
            while numbers[at] != UseOrder::UNUSED && numbers[at] as usize != at {
                let to = numbers[at] as usize;
                self.nodes.swap(at, to);
                numbers.swap(at, to);
            }
        }
        self.nodes.truncate(n_used as usize);
        self.freeze();
    }

    /// Gives nodes other frames.
    pub fn map_frames(&mut self, mut map: impl FnMut(FrameId) -> FrameId) {
        for node in &mut self.nodes {
            node.frame = map(node.frame);
        }
    }
}

/// Numbers for the nodes of a tree, in the order in which stacks are asked for; callers come first.
#[derive(Debug)]
pub struct UseOrder {
    numbers: Vec<u32>,
    n_used: u32,
    path: Vec<u32>,
}

impl UseOrder {
    const UNUSED: u32 = u32::MAX;

    /// None yet, of the nodes of a tree.
    pub fn new(tree: &Tree) -> Self {
        Self {
            numbers: vec![Self::UNUSED; tree.nodes.len()],
            n_used: 0,
            path: Vec::new(),
        }
    }

    /// The number of a node, new or asked for before; `None` if the tree has no such node.
    #[inline]
    pub fn number(&mut self, tree: &Tree, node: u32) -> Option<u32> {
        let known = *self.numbers.get(node as usize)?;
        if known != Self::UNUSED {
            return Some(known);
        }
        let mut next = Some(node);
        while let Some(here) = next.filter(|&here| self.numbers[here as usize] == Self::UNUSED) {
            self.path.push(here);
            next = tree.nodes[here as usize].parent;
        }
        while let Some(here) = self.path.pop() {
            self.numbers[here as usize] = self.n_used;
            self.n_used += 1;
        }
        Some(self.n_used - 1)
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
    fn nodes_are_numbered_as_they_are_used() {
        let mut tree = tree(&[(0, &[9]), (0, &[1, 2]), (0, &[1, 3]), (0, &[4])]);
        let mut order = UseOrder::new(&tree);
        let numbers = [3, 2, 3, 0, 9].map(|node| order.number(&tree, node));
        assert_eq!(numbers, [Some(1), Some(2), Some(1), Some(3), None]);
        tree.renumber(order);
        tree.map_frames(|frame| FrameId::from_number(10 * frame.number()));
        let nodes = tree.nodes().iter();
        let nodes: Vec<_> = nodes
            .map(|node| (node.parent, node.frame.number()))
            .collect();
        assert_eq!(
            nodes,
            [(None, 10), (Some(0), 30), (Some(0), 20), (None, 90)]
        );
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
