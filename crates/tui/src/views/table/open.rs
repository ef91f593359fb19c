//! Rows and nodes are opened and closed.

use super::tree::OpenTree;
use super::{TableLine, TableView};
use crate::views::context::Context;
use foldhash::HashSet;

impl TableView {
    /// Opens or closes what is selected.
    pub(super) fn toggle(&mut self, cx: &mut Context) {
        match self.selected_line() {
            Some(TableLine::Row(row)) if self.is_open(row) => self.close_row(row),
            Some(TableLine::Row(row)) => self.open_row(row, cx),
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
    pub(super) fn open(&mut self, cx: &mut Context) {
        let is_open = match self.selected_line() {
            Some(TableLine::Row(row)) => self.is_open(row),
            Some(TableLine::Node { row, node, .. }) => {
                self.tree(row).is_some_and(|tree| tree.is_node_open(node))
            }
            None => true,
        };
        if !is_open {
            self.toggle(cx);
        }
    }

    /// Collapses the selection, or goes to its parent. Returns whether anything changed.
    pub(super) fn close(&mut self, height: usize) -> bool {
        match self.selected_line() {
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
    pub(super) fn toggle_all(&mut self, cx: &mut Context) {
        match self.selected_line() {
            Some(TableLine::Row(row)) if self.is_open(row) => self.close_row(row),
            Some(TableLine::Row(row)) => {
                self.open_row(row, cx);
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

    /// All rows on the screen are to be opened: one with each [`Self::open_next`].
    pub(super) fn open_all(&mut self, height: usize) {
        let lines = self.lines.iter().skip(self.cursor.top).take(height);
        self.waiting = lines
            .map(|line| line.row())
            .filter(|&row| !self.is_open(row))
            .collect();
        self.waiting.dedup();
        self.waiting.reverse();
    }

    /// Opens one of the rows that wait.
    pub(super) fn open_next(&mut self, cx: &mut Context) {
        let row = self.waiting.pop();
        if let Some(row) = row.filter(|&row| !self.is_open(row)) {
            self.open_row(row, cx);
        }
    }

    pub(super) fn close_all(&mut self, height: usize) {
        self.waiting.clear();
        let row = self.selected_line().map(TableLine::row);
        self.trees
            .values_mut()
            .for_each(|tree| tree.is_open = false);
        self.lines.retain(|line| matches!(line, TableLine::Row(_)));
        let at = row.and_then(|row| self.lines.iter().position(|line| line.row() == row));
        self.cursor.go(at.unwrap_or(0), self.lines.len(), height);
    }

    /// Inverts the trees.
    pub(super) fn turn(&mut self, cx: &mut Context) {
        self.is_turned = !self.is_turned;
        let row = self.selected_line().map(TableLine::row);
        let was_open = row.is_some_and(|row| self.is_open(row));
        self.close_all(cx.height());
        self.trees.clear();
        if let Some(row) = row.filter(|_| was_open) {
            self.open_row(row, cx);
        }
    }

    fn open_row(&mut self, row: usize, cx: &mut Context) {
        let order = self.order(cx);
        if let Some(tree) = self.trees.get_mut(&row) {
            tree.is_open = true;
        } else if let Some(shown) = &mut cx.shown
            && let Some(tree) = shown.tree(row, order)
        {
            let frame = shown.row(row).and_then(|row| row.key.frame());
            let profile = cx.explorer.profile();
            let function_of = |node: u32| profile.frames.function_of(tree.node(node).frame);
            let is_row = tree
                .roots()
                .first()
                .is_some_and(|&root| Some(function_of(root)) == frame);
            let mut tree = OpenTree::new(tree, is_row);
            if let Some(open) = self.again.remove(&row) {
                tree.open_again(&open, profile);
            }
            self.trees.insert(row, tree);
        }
        self.refresh(row);
    }

    /// Rows that are open, with their trees.
    pub(super) fn open_trees(&self) -> impl Iterator<Item = (usize, &OpenTree)> {
        let trees = self.trees.iter().filter(|(_, tree)| tree.is_open);
        trees.map(|(&row, tree)| (row, tree))
    }

    /// Rows are to be opened as they were: one with each [`Self::open_next`].
    pub(super) fn reopen(&mut self, rows: Vec<(usize, HashSet<u64>)>) {
        self.waiting = rows.iter().rev().map(|&(row, _)| row).collect();
        self.again = rows.into_iter().collect();
    }

    /// Selects a row, or a node of its tree, which is opened for that.
    pub(super) fn select_again(&mut self, row: usize, node: Option<u64>, cx: &mut Context) {
        if node.is_some() {
            self.open_row(row, cx);
        }
        let is_row = |line: &TableLine| *line == TableLine::Row(row);
        let Some(start) = self.lines.iter().position(is_row) else {
            return;
        };
        let profile = cx.profile();
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
