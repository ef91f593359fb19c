//! The tree below one row.

use super::{Row, Rows, Weighing};
use crate::{FrameId, Node, Tree};

/// Which way a tree grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// From callers to what they called.
    Caller,
    /// From a function to who called it.
    Callee,
}

/// One node of a [`CallTree`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallNode {
    /// The function.
    pub frame: FrameId,
    /// Weight of the stacks that go through here.
    pub weight: u64,
    /// Numbers of further nodes, heaviest first.
    pub children: Vec<u32>,
}

/// The stacks of one row, merged. Nodes lie flat: a tree may be thousands of frames deep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTree {
    nodes: Vec<CallNode>,
    roots: Vec<u32>,
}

impl CallTree {
    /// Numbers of the outermost nodes, heaviest first.
    pub fn roots(&self) -> &[u32] {
        &self.roots
    }

    /// The node with a number.
    ///
    /// # Panics
    /// If the number is not of this tree.
    pub fn node(&self, number: u32) -> &CallNode {
        &self.nodes[number as usize]
    }

    /// The child that all of a node's weight goes on to.
    pub fn only_child(&self, number: u32) -> Option<u32> {
        let node = self.node(number);
        match *node.children.as_slice() {
            [child] if self.node(child).weight == node.weight => Some(child),
            _ => None,
        }
    }
}

impl Rows<'_> {
    /// Merges the stacks of a row. Nodes lighter than `min_weight` are left out.
    ///
    /// As perf does: samples in the row itself with their whole stack; weighed with children and
    /// growing from callers, samples further in with the part from the row on.
    pub fn call_tree(&self, row: &Row, order: Order, min_weight: u64) -> CallTree {
        let mut merged = Tree::default();
        let mut merge = Merge {
            rows: self,
            number: row.number,
            order,
            merged: &mut merged,
            path: Vec::new(),
        };
        merge.own_stacks();
        if self.weighing == Weighing::WithChildren {
            merge.stacks_below();
        }
        self.grow(&merged, min_weight)
    }

    fn grow(&self, merged: &Tree, min_weight: u64) -> CallTree {
        let totals = merged.totals();
        let lists = merged.child_lists();
        let nodes = merged.nodes();
        let heavy_children = |parent: Option<u32>| {
            let children = lists.of(parent).iter().copied();
            let mut heavy: Vec<u32> = children
                .filter(|&child| totals[child as usize] >= min_weight)
                .collect();
            heavy.sort_by(|&a, &b| {
                let by_weight = totals[b as usize].cmp(&totals[a as usize]);
                by_weight.then_with(|| {
                    self.label(nodes[a as usize].frame)
                        .cmp(&self.label(nodes[b as usize].frame))
                })
            });
            heavy
        };
        let grown = (0u32..).zip(nodes).map(|(number, node)| CallNode {
            frame: node.frame,
            weight: totals[number as usize],
            children: heavy_children(Some(number)),
        });
        CallTree {
            nodes: grown.collect(),
            roots: heavy_children(None),
        }
    }

    fn label(&self, frame: FrameId) -> (String, Option<u64>) {
        let frames = &self.profile.frames;
        (
            frames.label(frame, &self.profile.strings).into_raw(),
            frames.of(frame).start,
        )
    }
}

/// Merging stacks of one row into a new tree.
struct Merge<'m, 'r, 'p> {
    rows: &'r Rows<'p>,
    number: usize,
    order: Order,
    merged: &'m mut Tree,
    path: Vec<FrameId>,
}

impl Merge<'_, '_, '_> {
    /// Whole stacks of the samples that count for the row itself.
    fn own_stacks(&mut self) {
        let nodes = self.rows.event.tree.nodes();
        for &number in self.rows.nodes().own.of_list(self.number) {
            let node = &nodes[number as usize];
            if node.self_weight == 0 {
                continue;
            }
            self.path.clear();
            let mut at = Some(node);
            while let Some(here) = at {
                self.path.push(here.frame);
                at = here.parent.map(|parent| &nodes[parent as usize]);
            }
            if self.order == Order::Caller {
                self.path.reverse();
            }
            let mut to = None;
            for &frame in &self.path {
                to = Some(self.merged.child(to, 0, frame));
            }
            if let Some(to) = to {
                self.merged.count(to, node.self_weight, node.self_samples);
            }
        }
    }

    /// Stacks that pass through the row and end further in: the part from its outermost
    /// occurrence on (growing from callers), or from there outwards (growing from callees).
    fn stacks_below(&mut self) {
        let nodes = self.rows.event.tree.nodes();
        for &number in self.rows.nodes().all.of_list(self.number) {
            if !self.is_recursive(nodes[number as usize].parent) {
                self.merge_below(number);
            }
        }
    }

    fn is_of(&self, row: u32) -> bool {
        row as usize == self.number
    }

    fn is_recursive(&self, mut parent: Option<u32>) -> bool {
        while let Some(at) = parent {
            if self.is_of(self.rows.row_of_node[at as usize]) {
                return true;
            }
            parent = self.rows.event.tree.nodes()[at as usize].parent;
        }
        false
    }

    /// Nodes merge by function, wherever in it they are.
    fn function_of(&self, node: &Node) -> FrameId {
        self.rows.profile.frames.function_of(node.frame)
    }

    fn merge_below(&mut self, top: u32) {
        let nodes = self.rows.event.tree.nodes();
        let start = match self.order {
            Order::Caller => None,
            Order::Callee => self.outwards(top),
        };
        let mut todo = vec![(top, start)];
        while let Some((idx, parent)) = todo.pop() {
            let node = &nodes[idx as usize];
            let function = self.function_of(node);
            let here = match self.order {
                Order::Caller => Some(self.merged.child(parent, 0, function)),
                Order::Callee => parent,
            };
            let is_own = self.is_of(self.rows.self_row_of_node[idx as usize]);
            if !is_own && let Some(here) = here {
                self.merged.count(here, node.self_weight, node.self_samples);
            }
            let children = self.rows.children.of(Some(idx));
            todo.extend(children.iter().map(|&child| (child, here)));
        }
    }

    /// The merged node of the path from a node to its outermost caller.
    fn outwards(&mut self, from: u32) -> Option<u32> {
        let nodes = self.rows.event.tree.nodes();
        let mut to = None;
        let mut at = Some(from);
        while let Some(idx) = at {
            let node = &nodes[idx as usize];
            let function = self.function_of(node);
            to = Some(self.merged.child(to, 0, function));
            at = node.parent;
        }
        to
    }
}
