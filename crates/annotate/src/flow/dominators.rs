//! Which blocks are on every way to a block.
//!
//! The method: Lengauer, Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph" (1979), with path
//! compression alone: at most m log n steps, whatever the code is like.

use super::graph::FlowGraph;

/// The tree of immediate dominators, numbered in preorder.
#[derive(Debug)]
pub(super) struct Dominators {
    /// First and last number of the blocks that each dominates.
    ranges: Vec<(usize, usize)>,
}

impl Dominators {
    pub(super) fn new(graph: &FlowGraph) -> Self {
        let walk = Walk::new(graph);
        let immediate = immediate(graph, &walk);
        Self {
            ranges: ranges(&immediate, &walk.blocks, graph.successors.len()),
        }
    }

    /// Whether `block` is on every way to `other`; it is on every way to itself.
    pub(super) fn dominates(&self, block: usize, other: usize) -> bool {
        match (self.ranges.get(block), self.ranges.get(other)) {
            (Some(&(first, last)), Some(&(at, _))) => (first..=last).contains(&at),
            _ => false,
        }
    }

    /// A block's number: those that it dominates have higher ones.
    pub(super) fn preorder(&self, block: usize) -> usize {
        self.ranges.get(block).map_or(0, |range| range.0)
    }
}

/// A walk in depth from the root. What follows works with the places of blocks in it.
struct Walk {
    /// Blocks as they were come to.
    blocks: Vec<usize>,
    /// The place of each block; `usize::MAX` of what is not reached.
    places: Vec<usize>,
    /// Where each was come from.
    parents: Vec<usize>,
}

impl Walk {
    fn new(graph: &FlowGraph) -> Self {
        let mut walk = Self {
            blocks: vec![FlowGraph::ROOT],
            places: vec![usize::MAX; graph.successors.len()],
            parents: vec![0],
        };
        walk.places[FlowGraph::ROOT] = 0;
        let mut path = vec![(FlowGraph::ROOT, 0)];
        while let Some((block, next)) = path.last_mut() {
            let parent = walk.places[*block];
            match graph.successors[*block].get(*next) {
                Some(&successor) => {
                    *next += 1;
                    if walk.places[successor] == usize::MAX {
                        walk.places[successor] = walk.blocks.len();
                        walk.blocks.push(successor);
                        walk.parents.push(parent);
                        path.push((successor, 0));
                    }
                }
                None => {
                    path.pop();
                }
            }
        }
        walk
    }
}

/// Trees of the places that are done, and the least semidominator on the way up from each.
struct Forest {
    above: Vec<Option<usize>>,
    least: Vec<usize>,
    semi: Vec<usize>,
}

impl Forest {
    /// The place with the least semidominator between this one and its tree's root, which is not one of them.
    fn eval(&mut self, place: usize) -> usize {
        let mut path = Vec::new();
        let mut at = place;
        while let Some(above) = self.above[at].filter(|&above| self.above[above].is_some()) {
            path.push(at);
            at = above;
        }
        for at in path.into_iter().rev() {
            let Some(above) = self.above[at] else {
                continue;
            };
            if self.semi[self.least[above]] < self.semi[self.least[at]] {
                self.least[at] = self.least[above];
            }
            self.above[at] = self.above[above];
        }
        self.least[place]
    }
}

/// The nearest dominator of each place.
fn immediate(graph: &FlowGraph, walk: &Walk) -> Vec<usize> {
    let n = walk.blocks.len();
    let mut before = vec![Vec::new(); n];
    for (place, &block) in walk.blocks.iter().enumerate() {
        for &successor in &graph.successors[block] {
            before[walk.places[successor]].push(place);
        }
    }
    let mut forest = Forest {
        above: vec![None; n],
        least: (0..n).collect(),
        semi: (0..n).collect(),
    };
    let mut immediate = vec![0; n];
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); n];
    for place in (1..n).rev() {
        for &from in &before[place] {
            let least = forest.eval(from);
            forest.semi[place] = forest.semi[place].min(forest.semi[least]);
        }
        waiting[forest.semi[place]].push(place);
        let parent = walk.parents[place];
        forest.above[place] = Some(parent);
        for known in std::mem::take(&mut waiting[parent]) {
            let least = forest.eval(known);
            immediate[known] = if forest.semi[least] < forest.semi[known] {
                least
            } else {
                parent
            };
        }
    }
    for place in 1..n {
        if immediate[place] != forest.semi[place] {
            immediate[place] = immediate[immediate[place]];
        }
    }
    immediate
}

/// First and last preorder number of each block's subtree.
fn ranges(immediate: &[usize], blocks: &[usize], n_blocks: usize) -> Vec<(usize, usize)> {
    let mut children = vec![Vec::new(); immediate.len()];
    for (place, &parent) in immediate.iter().enumerate().skip(1) {
        children[parent].push(place);
    }
    let mut ranges = vec![(usize::MAX, 0); n_blocks];
    let mut n_seen = 0;
    let mut path = vec![(0, 0)];
    while let Some((place, next)) = path.last_mut() {
        let block = blocks[*place];
        if *next == 0 {
            ranges[block].0 = n_seen;
            n_seen += 1;
        }
        match children[*place].get(*next) {
            Some(&child) => {
                *next += 1;
                path.push((child, 0));
            }
            None => {
                ranges[block].1 = n_seen - 1;
                path.pop();
            }
        }
    }
    ranges
}
