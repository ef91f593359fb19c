//! Merging the stacks of one row.

use super::Order;
use crate::view::Rows;
use crate::{FrameId, Node, Tree};

/// Merging stacks of one row into a new tree.
pub(super) struct Merge<'m, 'r, 'p> {
    pub(super) rows: &'r Rows<'p>,
    pub(super) number: usize,
    pub(super) order: Order,
    pub(super) merged: &'m mut Tree,
    pub(super) path: Vec<FrameId>,
}

impl Merge<'_, '_, '_> {
    /// Whole stacks of the samples that count for the row itself.
    pub(super) fn own_stacks(&mut self) {
        let nodes = self.rows.event.tree.nodes();
        for &number in self.rows.kept.nodes().own.of_list(self.number) {
            let node = &nodes[number as usize];
            if node.self_weight == 0 {
                continue;
            }
            self.path.clear();
            let mut at = Some(node);
            while let Some(here) = at {
                let key = self.key_of(here);
                self.path.push(key);
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
                self.merged.count(to, node.own());
            }
        }
    }

    /// Stacks that pass through the row and end further in: the part from its outermost
    /// occurrence on (growing from callers), or from its innermost outwards (growing from callees).
    pub(super) fn stacks_below(&mut self) {
        let nodes = self.rows.event.tree.nodes();
        for &number in self.rows.kept.nodes().all.of_list(self.number) {
            let is_callee = self.order == Order::Callee;
            if is_callee || !self.is_recursive(nodes[number as usize].parent) {
                self.merge_below(number);
            }
        }
    }

    fn is_of(&self, row: u32) -> bool {
        row as usize == self.number
    }

    fn is_recursive(&self, mut parent: Option<u32>) -> bool {
        while let Some(at) = parent {
            if self.is_of(self.rows.kept.row_of_node[at as usize]) {
                return true;
            }
            parent = self.rows.event.tree.nodes()[at as usize].parent;
        }
        false
    }

    /// What nodes merge by.
    fn key_of(&self, node: &Node) -> FrameId {
        self.rows.profile.frames.node_of(node.frame)
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
            let key = self.key_of(node);
            let here = match self.order {
                Order::Caller => Some(self.merged.child(parent, 0, key)),
                Order::Callee => parent,
            };
            let is_own = self.is_of(self.rows.kept.self_row_of_node[idx as usize]);
            if !is_own && let Some(here) = here {
                self.merged.count(here, node.own());
            }
            let children = self.rows.kept.children.of(Some(idx)).iter().copied();
            // What is below a further occurrence grows from that one.
            let is_below = |child: &u32| {
                self.order == Order::Caller
                    || !self.is_of(self.rows.kept.row_of_node[*child as usize])
            };
            todo.extend(children.filter(is_below).map(|child| (child, here)));
        }
    }

    /// The merged node of the path from a node to its outermost caller.
    fn outwards(&mut self, from: u32) -> Option<u32> {
        let nodes = self.rows.event.tree.nodes();
        let mut to = None;
        let mut at = Some(from);
        while let Some(idx) = at {
            let node = &nodes[idx as usize];
            let key = self.key_of(node);
            to = Some(self.merged.child(to, 0, key));
            at = node.parent;
        }
        to
    }
}
