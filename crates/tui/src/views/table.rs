//! Rows, with call trees below expanded ones.

use super::opened::{function_name, open_below, open_chain};
use crate::cursor::Cursor;
use crate::shown::Shown;
use foldhash::{HashMap, HashSet};
use rprof_profile::Profile;
use rprof_profile::view::{CallTree, Order};

/// A line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableLine {
    /// A row, by its number among all.
    Row(usize),
    /// A node of the tree below a row.
    Node { row: usize, node: u32, depth: usize },
}

impl TableLine {
    pub(crate) fn row(self) -> usize {
        match self {
            Self::Row(row) | Self::Node { row, .. } => row,
        }
    }
}

/// The tree below a row, and its expanded nodes.
#[derive(Debug)]
pub(crate) struct OpenTree {
    pub(crate) tree: CallTree,
    open: HashSet<u32>,
    /// Its outermost nodes that are shown: those of the row's own function stand for the row.
    roots: Vec<u32>,
    is_open: bool,
}

/// The table, as far as it is expanded.
#[derive(Debug)]
pub(crate) struct TableView {
    pub(crate) cursor: Cursor,
    pub(crate) lines: Vec<TableLine>,
    pub(crate) order: Order,
    trees: HashMap<usize, OpenTree>,
    /// Rows whose trees have yet to be expanded.
    waiting: Vec<usize>,
    /// Nodes of their trees to expand again.
    again: HashMap<usize, HashSet<u64>>,
}

/// What trees are made of.
pub(crate) struct Source<'a> {
    pub(crate) shown: &'a mut Shown,
}

impl OpenTree {
    fn of(tree: CallTree, is_row: bool) -> Self {
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

    fn open_chain(&mut self, node: u32) {
        open_chain(&mut self.open, &self.tree, node);
    }

    fn open_below(&mut self, nodes: Vec<u32>) {
        open_below(&mut self.open, &self.tree, nodes);
    }

    fn lines(&self, row: usize) -> Vec<TableLine> {
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
    fn open_again(&mut self, open: &HashSet<u64>, profile: &Profile) {
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

impl Default for TableView {
    fn default() -> Self {
        Self {
            cursor: Cursor::default(),
            lines: Vec::new(),
            order: Order::Caller,
            trees: HashMap::default(),
            waiting: Vec::new(),
            again: HashMap::default(),
        }
    }
}

impl TableView {
    /// Resets the table to these rows.
    pub(crate) fn reset(&mut self, rows: impl Iterator<Item = usize>) {
        self.trees.clear();
        self.waiting.clear();
        self.again.clear();
        self.lines.clear();
        self.lines.extend(rows.map(TableLine::Row));
    }

    pub(crate) fn selected(&self) -> Option<TableLine> {
        self.lines.get(self.cursor.at).copied()
    }

    pub(crate) fn tree(&self, row: usize) -> Option<&OpenTree> {
        self.trees.get(&row)
    }

    pub(crate) fn is_open(&self, row: usize) -> bool {
        self.trees.get(&row).is_some_and(|tree| tree.is_open)
    }

    /// Opens or closes what is selected.
    pub(crate) fn toggle(&mut self, source: &mut Source<'_>) {
        match self.selected() {
            Some(TableLine::Row(row)) if self.is_open(row) => self.close_row(row),
            Some(TableLine::Row(row)) => self.open_row(row, source),
            Some(TableLine::Node { row, node, .. }) => {
                if let Some(tree) = self.trees.get_mut(&row)
                    && !tree.open.remove(&node)
                {
                    tree.open_chain(node);
                }
                self.refresh(row);
            }
            None => {}
        }
    }

    /// Opens what is selected, if it is closed.
    pub(crate) fn open(&mut self, source: &mut Source<'_>) {
        let is_open = match self.selected() {
            Some(TableLine::Row(row)) => self.is_open(row),
            Some(TableLine::Node { row, node, .. }) => {
                self.tree(row).is_some_and(|tree| tree.is_node_open(node))
            }
            None => true,
        };
        if !is_open {
            self.toggle(source);
        }
    }

    /// Collapses the selection, or goes to its parent. Returns whether anything changed.
    pub(crate) fn close(&mut self, height: usize) -> bool {
        match self.selected() {
            Some(TableLine::Row(row)) if self.is_open(row) => self.close_row(row),
            Some(TableLine::Node { row, node, .. }) => {
                let tree = self.trees.get_mut(&row);
                if tree.is_some_and(|tree| tree.open.remove(&node)) {
                    self.refresh(row);
                    return true;
                }
                let parent = self.tree(row).and_then(|tree| tree.tree.node(node).parent);
                let is_outer = |line: &TableLine| match *line {
                    TableLine::Row(one) => one == row,
                    TableLine::Node { row: one, node, .. } => one == row && Some(node) == parent,
                };
                let before = self.lines.get(..self.cursor.at).unwrap_or_default();
                let Some(at) = before.iter().rposition(is_outer) else {
                    return false;
                };
                self.cursor.go(at, self.lines.len(), height);
            }
            _ => return false,
        }
        true
    }

    /// Opens all of a row's or node's tree, or closes it.
    pub(crate) fn toggle_all(&mut self, source: &mut Source<'_>) {
        match self.selected() {
            Some(TableLine::Row(row)) if self.is_open(row) => self.close_row(row),
            Some(TableLine::Row(row)) => {
                self.open_row(row, source);
                if let Some(tree) = self.trees.get_mut(&row) {
                    let roots = tree.roots.iter().rev().copied().collect();
                    tree.open_below(roots);
                }
                self.refresh(row);
            }
            Some(TableLine::Node { row, node, .. }) => {
                if let Some(tree) = self.trees.get_mut(&row)
                    && !tree.open.remove(&node)
                {
                    tree.open_below(vec![node]);
                }
                self.refresh(row);
            }
            None => {}
        }
    }

    /// All rows on the screen are to be opened: one with each [`Self::work`].
    pub(crate) fn open_all(&mut self, height: usize) {
        let lines = self.lines.iter().skip(self.cursor.top).take(height);
        self.waiting = lines
            .map(|line| line.row())
            .filter(|&row| !self.is_open(row))
            .collect();
        self.waiting.dedup();
        self.waiting.reverse();
    }

    /// Opens one of the rows that wait.
    pub(crate) fn work(&mut self, source: &mut Source<'_>) {
        let row = self.waiting.pop();
        if let Some(row) = row.filter(|&row| !self.is_open(row)) {
            self.open_row(row, source);
        }
    }

    pub(crate) fn has_work(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(crate) fn close_all(&mut self, height: usize) {
        self.waiting.clear();
        let row = self.selected().map(TableLine::row);
        self.trees
            .values_mut()
            .for_each(|tree| tree.is_open = false);
        self.lines.retain(|line| matches!(line, TableLine::Row(_)));
        let at = row.and_then(|row| self.lines.iter().position(|line| line.row() == row));
        self.cursor.go(at.unwrap_or(0), self.lines.len(), height);
    }

    /// Inverts the trees.
    pub(crate) fn turn(&mut self, source: &mut Source<'_>, height: usize) {
        self.order = match self.order {
            Order::Caller => Order::Callee,
            Order::Callee => Order::Caller,
        };
        let row = self.selected().map(TableLine::row);
        let was_open = row.is_some_and(|row| self.is_open(row));
        self.close_all(height);
        self.trees.clear();
        if let Some(row) = row.filter(|_| was_open) {
            self.open_row(row, source);
        }
    }

    fn open_row(&mut self, row: usize, source: &mut Source<'_>) {
        if let Some(tree) = self.trees.get_mut(&row) {
            tree.is_open = true;
        } else if let Some(tree) = source.shown.tree(row, self.order) {
            let frame = source.shown.row(row).and_then(|row| row.key.frame());
            let profile = source.shown.counted.explorer.profile();
            let of = |node: u32| profile.frames.function_of(tree.node(node).frame);
            let is_row = tree
                .roots()
                .first()
                .is_some_and(|&root| Some(of(root)) == frame);
            let mut tree = OpenTree::of(tree, is_row);
            if let Some(open) = self.again.remove(&row) {
                tree.open_again(&open, profile);
            }
            self.trees.insert(row, tree);
        }
        self.refresh(row);
    }

    /// Rows that are open, with their trees.
    pub(crate) fn open_trees(&self) -> impl Iterator<Item = (usize, &OpenTree)> {
        let trees = self.trees.iter().filter(|(_, tree)| tree.is_open);
        trees.map(|(&row, tree)| (row, tree))
    }

    /// Rows are to be opened as they were: one with each [`Self::work`].
    pub(crate) fn reopen(&mut self, rows: Vec<(usize, HashSet<u64>)>) {
        self.waiting = rows.iter().rev().map(|&(row, _)| row).collect();
        self.again = rows.into_iter().collect();
    }

    /// Selects a row, or a node of its tree, which is opened for that.
    pub(crate) fn select_again(&mut self, row: usize, node: Option<u64>, source: &mut Source<'_>) {
        if node.is_some() {
            self.open_row(row, source);
        }
        let is_row = |line: &TableLine| *line == TableLine::Row(row);
        let Some(start) = self.lines.iter().position(is_row) else {
            return;
        };
        let profile = source.shown.counted.explorer.profile();
        let tree = self.trees.get(&row).zip(node);
        let is_it = |line: &TableLine| match (*line, tree) {
            (TableLine::Node { node, .. }, Some((tree, name))) => {
                tree.name_of(node, profile) == name
            }
            _ => false,
        };
        let inner = self.lines.iter().skip(start + 1);
        let at = inner.take_while(|line| line.row() == row).position(is_it);
        self.cursor.at = at.map_or(start, |at| start + 1 + at);
    }

    fn close_row(&mut self, row: usize) {
        if let Some(tree) = self.trees.get_mut(&row) {
            tree.is_open = false;
        }
        self.refresh(row);
    }

    /// Makes the lines of a row again.
    fn refresh(&mut self, row: usize) {
        let Some(start) = self
            .lines
            .iter()
            .position(|line| *line == TableLine::Row(row))
        else {
            return;
        };
        let inner = self.lines.iter().skip(start + 1);
        let end = start + 1 + inner.take_while(|line| line.row() == row).count();
        let tree = self.trees.get(&row).filter(|tree| tree.is_open);
        let lines = tree.map_or_else(Vec::new, |tree| tree.lines(row));
        // What is selected below stays selected.
        let moved = |at: usize| {
            if at >= end {
                at + lines.len() - (end - start - 1)
            } else {
                at
            }
        };
        (self.cursor.at, self.cursor.top) = (moved(self.cursor.at), moved(self.cursor.top));
        self.lines.splice(start + 1..end, lines);
    }
}
