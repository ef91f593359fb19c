//! The call tree below a row.

use super::TableLine;
use crate::views::opened::{function_name, open_below, open_chain};
use foldhash::HashSet;
use rprof_profile::Profile;
use rprof_profile::view::CallTree;

/// The tree below a row, and its expanded nodes.
#[derive(Debug)]
pub(crate) struct OpenTree {
    pub(crate) tree: CallTree,
    pub(super) open: HashSet<u32>,
    /// Its outermost nodes that are shown: those of the row's own function stand for the row.
    pub(super) roots: Vec<u32>,
    pub(super) is_open: bool,
}

impl OpenTree {
    pub(super) fn new(tree: CallTree, is_row: bool) -> Self {
        let roots = match *tree.roots() {
            [only] if is_row => tree.node(only).children.clone(),
            _ => tree.roots().to_vec(),
        };
        let mut this = Self {
            tree,
            open: HashSet::default(),
            roots,
            is_open: true,
        };
        if let [only] = *this.roots.as_slice() {
            this.open_chain(only);
        }
        this
    }

    pub(crate) fn is_node_open(&self, node: u32) -> bool {
        self.open.contains(&node)
    }

    pub(super) fn open_chain(&mut self, node: u32) {
        open_chain(&mut self.open, &self.tree, node);
    }

    pub(super) fn open_below(&mut self, nodes: Vec<u32>) {
        open_below(&mut self.open, &self.tree, nodes);
    }

    pub(super) fn lines(&self, row: usize) -> Vec<TableLine> {
        let mut lines = Vec::new();
        let mut todo: Vec<(u32, usize)> = self.roots.iter().rev().map(|&root| (root, 0)).collect();
        while let Some((node, depth)) = todo.pop() {
            lines.push(TableLine::Node { row, node, depth });
            if self.open.contains(&node) {
                let inner = depth + usize::from(self.tree.only_child(node).is_none());
                let children = self.tree.node(node).children.iter().rev();
                todo.extend(children.map(|&child| (child, inner)));
            }
        }
        lines
    }

    /// Expanded nodes, by name.
    pub(crate) fn open_names(&self, profile: &Profile) -> HashSet<u64> {
        let open = self.open.iter();
        open.map(|&node| self.name_of(node, profile)).collect()
    }

    /// A number for the names from the outermost to a node.
    pub(crate) fn name_of(&self, node: u32, profile: &Profile) -> u64 {
        let mut path: Vec<u32> = self.path(node).collect();
        path.reverse();
        path.into_iter().fold(0, |above, at| {
            function_name(above, self.tree.node(at).frame, profile)
        })
    }

    /// Expands exactly the nodes with these names.
    pub(super) fn open_again(&mut self, open: &HashSet<u64>, profile: &Profile) {
        self.open.clear();
        let roots = self.roots.iter();
        let mut todo: Vec<(u32, u64)> = roots
            .map(|&root| (root, self.name_of(root, profile)))
            .collect();
        while let Some((node, name)) = todo.pop() {
            if open.contains(&name) {
                self.open.insert(node);
                let children = self.tree.node(node).children.iter();
                todo.extend(children.map(|&child| {
                    (
                        child,
                        function_name(name, self.tree.node(child).frame, profile),
                    )
                }));
            }
        }
    }

    /// Nodes from one to the outermost.
    pub(crate) fn path(&self, node: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(node), |&at| self.tree.node(at).parent)
    }
}
