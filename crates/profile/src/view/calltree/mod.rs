//! The tree below one row.

mod merge;

use super::{Row, Rows, Weighing};
use crate::fold::{LONGEST_CYCLE, cycle_len};
use crate::{FrameId, SampleCount, Tree};
use merge::Merge;

/// Which way a tree grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// From callers to what they called.
    Caller,
    /// From a function to who called it.
    Callee,
}

/// Which nodes are left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pruning {
    /// Those of less weight.
    Below(u64),
    /// Those below a percentage of what goes on from the node before.
    BelowShare(f64),
}

impl Pruning {
    /// Those below a percentage of a whole, which is rounded down, as perf does.
    pub fn below_percent(percent: f64, whole: u64) -> Self {
        Self::Below(percent_of(percent, whole, f64::floor))
    }

    /// The least weight of siblings that are not left out.
    pub fn min_weight(self, siblings: u64) -> u64 {
        match self {
            Self::Below(weight) => weight,
            Self::BelowShare(percent) => percent_of(percent, siblings, f64::ceil),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a u64 is one, and percentages come with two digits"
)]
fn percent_of(percent: f64, whole: u64, rounded: fn(f64) -> f64) -> u64 {
    rounded(percent / 100.0 * whole as f64) as u64
}

/// One node of a [`CallTree`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallNode {
    /// The function, or the place in it that its nodes are told apart by.
    pub frame: FrameId,
    /// The node further out, towards the root.
    pub parent: Option<u32>,
    /// The stacks that go through here.
    pub total: SampleCount,
    /// Those that end here.
    pub own: SampleCount,
    /// Numbers of further nodes, heaviest first.
    pub children: Vec<u32>,
}

impl CallNode {
    /// The stacks that go on from here, also to nodes that are left out.
    pub fn inner(&self) -> SampleCount {
        self.total.minus(self.own)
    }
}

/// The stacks of one row, merged. Nodes lie flat: a tree may be thousands of frames deep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTree {
    nodes: Vec<CallNode>,
    roots: Vec<u32>,
    whole: SampleCount,
}

impl CallTree {
    /// Numbers of the outermost nodes, heaviest first.
    pub fn roots(&self) -> &[u32] {
        &self.roots
    }

    /// All stacks, also those of nodes that are left out.
    pub fn whole(&self) -> SampleCount {
        self.whole
    }

    /// All nodes by number, also those that are left out.
    pub fn nodes(&self) -> impl Iterator<Item = (u32, &CallNode)> {
        (0u32..).zip(&self.nodes)
    }

    /// The node with a number.
    ///
    /// # Panics
    /// If the number is not of this tree.
    pub fn node(&self, number: u32) -> &CallNode {
        &self.nodes[number as usize]
    }

    /// Whether a node is a call of a recursion: with it the functions above it are those before them again.
    pub fn is_recursive(&self, number: u32) -> bool {
        let mut frames = Vec::with_capacity(2 * LONGEST_CYCLE);
        let mut at = Some(number);
        while let Some(number) = at
            && frames.len() < 2 * LONGEST_CYCLE
        {
            let node = self.node(number);
            frames.push(node.frame);
            at = node.parent;
        }
        cycle_len(|idx| frames.get(idx).copied(), LONGEST_CYCLE).is_some()
    }

    /// The child that all of a node's weight goes on to.
    pub fn only_child(&self, number: u32) -> Option<u32> {
        let node = self.node(number);
        match *node.children.as_slice() {
            [child] if self.node(child).total.weight == node.total.weight => Some(child),
            _ => None,
        }
    }
}

impl Rows<'_> {
    /// Merges the stacks of a row.
    ///
    /// As perf does: samples in the row itself with their whole stack; weighed with children and
    /// growing from callers, samples further in with the part from the row on.
    pub fn call_tree(&self, row: &Row, order: Order, pruning: Pruning) -> CallTree {
        let mut merged = Tree::default();
        let mut merge = Merge {
            rows: self,
            number: row.number,
            order,
            merged: &mut merged,
            path: Vec::new(),
        };
        merge.own_stacks();
        if self.kept.weighing == Weighing::WithChildren {
            merge.stacks_below();
        }
        self.grow(&merged, pruning)
    }

    fn grow(&self, merged: &Tree, pruning: Pruning) -> CallTree {
        let ranks = self.profile.frames.label_ranks(&self.profile.strings);
        let mut nodes: Vec<CallNode> = merged.nodes().iter().map(new_node).collect();
        let mut whole = SampleCount::default();
        // Parents stand before their children.
        for number in (0..nodes.len()).rev() {
            let CallNode { parent, total, .. } = nodes[number];
            let outer = parent.map_or(&mut whole, |parent| &mut nodes[parent as usize].total);
            *outer = outer.plus(total);
        }
        let lists = merged.child_lists();
        let heavy_children = |nodes: &[CallNode], parent: Option<u32>, siblings: SampleCount| {
            let min_weight = pruning.min_weight(siblings.weight).max(1);
            let children = lists.of(parent).iter().copied();
            let mut heavy: Vec<u32> = children
                .filter(|&child| nodes[child as usize].total.weight >= min_weight)
                .collect();
            heavy.sort_by_key(|&child| {
                let CallNode { total, frame, .. } = &nodes[child as usize];
                (
                    std::cmp::Reverse(total.weight),
                    ranks[frame.number() as usize],
                )
            });
            heavy
        };
        let roots = heavy_children(&nodes, None, whole);
        // What is below a node that is left out is, too.
        let mut todo = roots.clone();
        while let Some(number) = todo.pop() {
            let inner = nodes[number as usize].inner();
            let children = heavy_children(&nodes, Some(number), inner);
            todo.extend(&children);
            nodes[number as usize].children = children;
        }
        CallTree {
            nodes,
            roots,
            whole,
        }
    }
}

fn new_node(node: &crate::Node) -> CallNode {
    let own = node.own();
    CallNode {
        frame: node.frame,
        parent: node.parent,
        total: own,
        own,
        children: Vec::new(),
    }
}
