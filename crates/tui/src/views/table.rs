//! Rows, with call trees below those that are open.

use crate::cursor::Cursor;
use crate::shown::Shown;
use foldhash::{HashMap, HashSet};
use rprof_profile::view::{CallTree, Order};
use rprof_query::Explorer;

/// A line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableLine {
    /// A row, by its number among all.
    Row(usize),
    /// A node of the tree below a row.
    Node { row: usize, node: u32, depth: usize },
}

impl TableView {
    /// Whether the tree of a row is open.
    pub(crate) fn has_open(&self) -> bool {
        let mut lines = self.lines.iter();
        lines.any(|line| matches!(line, TableLine::Node { .. }))
    }
}

impl TableLine {
    pub(crate) fn row(self) -> usize {
        match self {
            Self::Row(row) | Self::Node { row, .. } => row,
        }
    }
}

/// The tree below a row, and what of it is open.
#[derive(Debug)]
pub(crate) struct OpenTree {
    pub(crate) tree: CallTree,
    open: HashSet<u32>,
    /// Its outermost nodes that are shown: those of the row's own function stand for the row.
    roots: Vec<u32>,
    is_open: bool,
}

/// The table, as far as it is open.
#[derive(Debug)]
pub(crate) struct TableView {
    pub(crate) cursor: Cursor,
    pub(crate) lines: Vec<TableLine>,
    pub(crate) order: Order,
    trees: HashMap<usize, OpenTree>,
    /// Rows whose trees are still to be opened.
    waiting: Vec<usize>,
}

/// What trees are made of.
pub(crate) struct Source<'a> {
    pub(crate) explorer: &'a Explorer,
    pub(crate) shown: &'a mut Shown,
}

impl OpenTree {
    /// Lines that are opened at once, at most.
    const MAX_OPENED: usize = 10_000;

    fn of(tree: CallTree, is_row: impl Fn(u32) -> bool) -> Self {
        let roots = match *tree.roots() {
            [only] if is_row(only) => tree.node(only).children.clone(),
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
        let chain = std::iter::successors(Some(node), |&at| self.tree.only_child(at));
        self.open.extend(chain);
    }

    fn open_below(&mut self, mut todo: Vec<u32>) {
        let mut n_left = Self::MAX_OPENED;
        while let Some(at) = todo.pop() {
            let children = &self.tree.node(at).children;
            if n_left < children.len() {
                break;
            }
            n_left -= children.len();
            if !children.is_empty() {
                self.open.insert(at);
                todo.extend(children.iter().rev());
            }
        }
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
        }
    }
}

impl TableView {
    /// Begins anew with these rows.
    pub(crate) fn reset(&mut self, rows: impl Iterator<Item = usize>) {
        self.trees.clear();
        self.waiting.clear();
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

    /// Closes what is selected, or goes to what it is in. Says whether there was anything to do.
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

    /// Trees grow the other way.
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
        } else if let Some(tree) = source.shown.tree(source.explorer, row, self.order) {
            let frame = source.shown.rows().get(row).and_then(|row| row.key.frame());
            let frames = &source.explorer.profile().frames;
            let is_row = |node: u32| Some(frames.function_of(tree.node(node).frame)) == frame;
            let roots: Vec<bool> = tree.roots().iter().map(|&root| is_row(root)).collect();
            let is_row = roots.first().copied().unwrap_or(false);
            self.trees.insert(row, OpenTree::of(tree, |_| is_row));
        }
        self.refresh(row);
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
        self.lines.splice(start + 1..end, lines);
    }
}
