//! The call tree: from the threads to what they called.

use super::box_names::{BoxNames, BoxPath};
use super::boxes::Boxes;
use super::opened::{open_below, open_chain};
use crate::cursor::Cursor;
use foldhash::HashSet;

/// A line of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallLine {
    /// The box.
    pub(crate) number: u32,
    /// Indentation. A child that has all of its parent's weight is not indented further.
    pub(crate) depth: usize,
}

/// Expanded and selected nodes, by name.
#[derive(Debug)]
pub(crate) struct RememberedCalls {
    open: HashSet<u64>,
    selected: Option<BoxPath>,
    /// Number of lines above the selection on the screen.
    n_above: usize,
}

/// The tree, as far as it is expanded.
#[derive(Debug, Default)]
pub(crate) struct CallsView {
    pub(crate) cursor: Cursor,
    pub(crate) lines: Vec<CallLine>,
    open: HashSet<u32>,
    /// Names of expanded nodes that do not exist at present.
    missing: HashSet<u64>,
}

/// Maximum number of missing names; beyond it, all are forgotten.
const MOST_MISSING: usize = 10_000;

impl CallsView {
    /// Resets the tree: threads only, the first one expanded.
    pub(crate) fn reset(&mut self, boxes: &Boxes) {
        self.open.clear();
        self.cursor = Cursor::default();
        if let Some(&first) = boxes.children(None).first() {
            open_chain(&mut self.open, boxes, first);
        }
        self.build(boxes);
    }

    /// The expanded and selected nodes.
    pub(crate) fn remember(&self, names: BoxNames<'_>) -> RememberedCalls {
        let selected = self.selected().map(|number| names.path(number));
        let open = names.of_all(self.open.iter().copied());
        RememberedCalls {
            open: open.chain(self.missing.iter().copied()).collect(),
            // The first line is where one begins: it is no choice.
            selected: selected.filter(|_| self.cursor.at > 0),
            n_above: self.cursor.at.saturating_sub(self.cursor.top),
        }
    }

    /// Restores expanded and selected nodes, as far as they still exist.
    pub(crate) fn reopen(&mut self, names: BoxNames<'_>, was: &RememberedCalls, height: usize) {
        let boxes = names.boxes;
        self.open.clear();
        self.missing.clone_from(&was.open);
        self.cursor = Cursor::default();
        let lowest = boxes.children(None).iter();
        let mut todo: Vec<(u32, u64)> = lowest.map(|&one| (one, names.below(0, one))).collect();
        while let Some((number, name)) = todo.pop() {
            if self.missing.remove(&name) {
                self.open.insert(number);
                let on = boxes.children(Some(number)).iter();
                todo.extend(on.map(|&one| (one, names.below(name, one))));
            }
        }
        if self.missing.len() > MOST_MISSING {
            self.missing.clear();
        }
        self.build(boxes);
        let selected = was.selected.as_ref().and_then(|path| names.find(path));
        if let Some(number) = selected {
            self.show(boxes, number, height);
            self.cursor.top = self.cursor.at.saturating_sub(was.n_above);
            self.cursor.fit(self.lines.len(), height);
        }
    }

    pub(crate) fn selected(&self) -> Option<u32> {
        Some(self.lines.get(self.cursor.at)?.number)
    }

    pub(crate) fn is_open(&self, number: u32) -> bool {
        self.open.contains(&number)
    }

    /// Opens or closes a node.
    pub(crate) fn toggle(&mut self, boxes: &Boxes) {
        if let Some(number) = self.selected() {
            if self.open.remove(&number) {
            } else {
                open_chain(&mut self.open, boxes, number)
            }
            self.build(boxes);
        }
    }

    /// Opens a node, if it is not.
    pub(crate) fn open(&mut self, boxes: &Boxes) {
        if self.selected().is_some_and(|number| !self.is_open(number)) {
            self.toggle(boxes);
        }
    }

    /// Collapses a node, or goes to its parent. Returns whether anything changed.
    pub(crate) fn close(&mut self, boxes: &Boxes, height: usize) -> bool {
        let Some(number) = self.selected() else {
            return false;
        };
        if self.open.remove(&number) {
            self.build(boxes);
            return true;
        }
        let parent = boxes.get(number).and_then(|one| one.parent);
        parent.is_some_and(|parent| self.go_to(parent, height))
    }

    /// Opens all of a node's tree, or closes it.
    pub(crate) fn toggle_all(&mut self, boxes: &Boxes) {
        let Some(number) = self.selected() else {
            return;
        };
        if self.open.contains(&number) {
            let mut todo = vec![number];
            while let Some(at) = todo.pop() {
                if self.open.remove(&at) {
                    todo.extend(boxes.children(Some(at)));
                }
            }
        } else {
            open_below(&mut self.open, boxes, vec![number]);
        }
        self.build(boxes);
    }

    pub(crate) fn open_all(&mut self, boxes: &Boxes, height: usize) {
        let at = self.selected();
        let lowest = boxes.children(None).iter().rev().copied().collect();
        open_below(&mut self.open, boxes, lowest);
        self.build(boxes);
        at.map(|at| self.go_to(at, height));
    }

    pub(crate) fn close_all(&mut self, boxes: &Boxes, height: usize) {
        let at = self.selected();
        self.open.clear();
        self.missing.clear();
        self.build(boxes);
        let lowest = at.and_then(|at| boxes.path(at).last());
        lowest.map(|lowest| self.go_to(lowest, height));
    }

    /// Selects a box, and opens what it is in.
    pub(crate) fn show(&mut self, boxes: &Boxes, number: u32, height: usize) {
        self.open.extend(boxes.path(number).skip(1));
        self.build(boxes);
        self.go_to(number, height);
    }

    fn go_to(&mut self, number: u32, height: usize) -> bool {
        let at = self.lines.iter().position(|line| line.number == number);
        if let Some(at) = at {
            self.cursor.go(at, self.lines.len(), height);
        }
        at.is_some()
    }

    fn build(&mut self, boxes: &Boxes) {
        self.lines.clear();
        let mut todo: Vec<CallLine> = Vec::new();
        let line = |depth| move |&number: &u32| CallLine { number, depth };
        todo.extend(boxes.children(None).iter().rev().map(line(0)));
        while let Some(one) = todo.pop() {
            self.lines.push(one);
            if self.open.contains(&one.number) {
                let is_chain = boxes.only_child(one.number).is_some();
                let is_thread = boxes.frame(one.number).is_none();
                let depth = one.depth + usize::from(!is_chain || is_thread);
                let children = boxes.children(Some(one.number)).iter().rev();
                todo.extend(children.map(line(depth)));
            }
        }
    }
}
