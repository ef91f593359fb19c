//! Which blocks are on every way to a block.
//!
//! The method: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (2001): immediate dominators are
//! intersected along the tree that they make, block by block in reverse postorder, until nothing changes.

use super::graph::FlowGraph;

/// The tree of immediate dominators, numbered in preorder.
#[derive(Debug)]
pub(super) struct Dominators {
    /// First and last number of the blocks that each dominates.
    ranges: Vec<(usize, usize)>,
}

impl Dominators {
    pub(super) fn of(graph: &FlowGraph) -> Self {
        let order = postorder(graph);
        let immediate = immediate(graph, &order);
        Self {
            ranges: ranges(&immediate, &order),
        }
    }

    /// Whether `block` is on every way to `other`; it is on every way to itself.
    pub(super) fn dominates(&self, block: usize, other: usize) -> bool {
        match (self.ranges.get(block), self.ranges.get(other)) {
            (Some(&(first, last)), Some(&(at, _))) => (first..=last).contains(&at),
            _ => false,
        }
    }
}

/// Blocks, those that are left last at the end.
fn postorder(graph: &FlowGraph) -> Vec<usize> {
    let mut order = Vec::with_capacity(graph.successors.len());
    let mut is_seen = vec![false; graph.successors.len()];
    is_seen[FlowGraph::ROOT] = true;
    let mut path = vec![(FlowGraph::ROOT, 0)];
    while let Some((block, next)) = path.last_mut() {
        let successors = graph.successors.get(*block);
        match successors.and_then(|all| all.get(*next)) {
            Some(&successor) => {
                *next += 1;
                if !std::mem::replace(&mut is_seen[successor], true) {
                    path.push((successor, 0));
                }
            }
            None => {
                order.push(*block);
                path.pop();
            }
        }
    }
    order
}

/// Each block's nearest dominator, by number.
fn immediate(graph: &FlowGraph, order: &[usize]) -> Vec<Option<usize>> {
    let n = graph.successors.len();
    let mut rank = vec![0; n];
    for (at, &block) in order.iter().enumerate() {
        rank[block] = at;
    }
    let mut before = vec![Vec::new(); n];
    for (block, successors) in graph.successors.iter().enumerate() {
        for &successor in successors {
            before[successor].push(block);
        }
    }
    let mut immediate = vec![None; n];
    immediate[FlowGraph::ROOT] = Some(FlowGraph::ROOT);
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for &block in order.iter().rev().filter(|&&it| it != FlowGraph::ROOT) {
            let known = before[block]
                .iter()
                .copied()
                .filter(|&from| immediate[from].is_some());
            let found = known.reduce(|one, other| common(&immediate, &rank, (one, other)));
            if immediate[block] != found {
                immediate[block] = found;
                has_changed = true;
            }
        }
    }
    immediate
}

/// The nearest block that dominates both.
fn common(
    immediate: &[Option<usize>],
    rank: &[usize],
    (mut one, mut other): (usize, usize),
) -> usize {
    while one != other {
        let lower = match rank[one] < rank[other] {
            true => &mut one,
            false => &mut other,
        };
        match immediate[*lower] {
            Some(up) => *lower = up,
            None => return FlowGraph::ROOT,
        }
    }
    one
}

/// First and last preorder number of each subtree.
fn ranges(immediate: &[Option<usize>], order: &[usize]) -> Vec<(usize, usize)> {
    let mut children = vec![Vec::new(); immediate.len()];
    for &block in order.iter().rev() {
        match immediate[block] {
            Some(parent) if parent != block => children[parent].push(block),
            _ => {}
        }
    }
    let mut ranges = vec![(usize::MAX, 0); immediate.len()];
    let mut n_seen = 0;
    let mut path = vec![(FlowGraph::ROOT, 0)];
    while let Some((block, next)) = path.last_mut() {
        if *next == 0 {
            ranges[*block].0 = n_seen;
            n_seen += 1;
        }
        match children[*block].get(*next) {
            Some(&child) => {
                *next += 1;
                path.push((child, 0));
            }
            None => {
                ranges[*block].1 = n_seen - 1;
                path.pop();
            }
        }
    }
    ranges
}
