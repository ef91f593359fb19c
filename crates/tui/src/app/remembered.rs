//! What was open and selected, by name: it stays so when rows are made anew.

use super::App;
use crate::views::box_names::BoxNames;
use crate::views::boxes::Found;
use crate::views::calls::RememberedCalls;
use crate::views::flame::{FlameView, RememberedFlame};
use crate::views::opened::{function_name, path_name};
use crate::views::table::TableLine;
use foldhash::{HashMap, HashSet};

/// Rows and nodes by name.
#[derive(Debug, Default)]
pub(crate) struct RememberedRows {
    /// What of the trees of open rows is open.
    open: HashMap<u64, HashSet<u64>>,
    /// The selected row, and the node of its tree.
    selected: Option<(u64, Option<u64>)>,
    /// How many lines are above it on the screen.
    n_above: usize,
}

/// Boxes by name, in both views of them.
#[derive(Debug)]
pub(crate) struct RememberedBoxes {
    calls: RememberedCalls,
    flame: RememberedFlame,
}

impl App {
    /// Remembers what of the boxes is open and selected, until others are there.
    pub(super) fn remember_boxes(&mut self) {
        let boxes = self.shown.as_ref().and_then(|shown| shown.boxes());
        let Some(boxes) = boxes.filter(|_| self.remembered_boxes.is_none()) else {
            return;
        };
        let names = BoxNames {
            boxes,
            profile: self.explorer.profile(),
        };
        self.remembered_boxes = Some(RememberedBoxes {
            calls: self.calls.remember(names),
            flame: self.flame.remember(names),
        });
    }

    /// The call tree and the flame graph are of other boxes: they show the same of them.
    pub(super) fn boxes_are_new(&mut self) {
        let height = self.height();
        let boxes = self.shown.as_ref().and_then(|shown| shown.boxes());
        let Some(boxes) = boxes else {
            return;
        };
        let profile = self.explorer.profile();
        match self.remembered_boxes.take() {
            Some(RememberedBoxes { calls, flame }) => {
                let names = BoxNames { boxes, profile };
                self.calls.reopen(names, &calls, height);
                self.flame = FlameView::again(names, &flame);
            }
            None => {
                self.calls.reset(boxes);
                self.flame = FlameView::default();
            }
        }
        let found = self.found.take();
        self.found = found.map(|found| Found::of(boxes, profile, found.matcher));
    }

    /// Remembers what is open and selected, until rows are there again.
    pub(super) fn remember_rows(&mut self) {
        if self.is_table_old || self.remembered.is_some() {
            return;
        }
        let profile = self.explorer.profile();
        let open = self.table.open_trees();
        let open = open.map(|(row, tree)| (self.row_name(row), tree.open_names(profile)));
        let selected = self.table.selected().map(|line| {
            let node = match line {
                TableLine::Row(_) => None,
                TableLine::Node { row, node, .. } => {
                    let tree = self.table.tree(row);
                    tree.map(|tree| tree.name_of(node, profile))
                }
            };
            (self.row_name(line.row()), node)
        });
        let cursor = self.table.cursor;
        // The first row is where one begins: it is no choice.
        let is_first = cursor.at == 0;
        self.remembered = Some(RememberedRows {
            open: open.collect(),
            selected: selected.filter(|_| !is_first),
            n_above: cursor.at.saturating_sub(cursor.top),
        });
    }

    /// The table is to be made again of rows that are there: opened as it is.
    pub(super) fn filter_again(&mut self) {
        self.remember_rows();
        self.is_table_old = true;
    }

    /// Opens and selects what was, as far as it is still there.
    pub(super) fn reopen_rows(&mut self) {
        self.table.cursor = crate::cursor::Cursor::default();
        let Some(remembered) = self.remembered.take() else {
            return;
        };
        if remembered.open.is_empty() && remembered.selected.is_none() {
            return;
        }
        let mut open = remembered.open;
        let mut selected = None;
        let mut reopened = Vec::new();
        for line in &self.table.lines {
            let name = self.row_name(line.row());
            let is_selected = remembered.selected.as_ref().filter(|(row, _)| *row == name);
            if let Some((_, node)) = is_selected {
                selected = Some((line.row(), *node));
            }
            if let Some(names) = open.remove(&name) {
                reopened.push((line.row(), names));
            }
            if open.is_empty() && (selected.is_some() || remembered.selected.is_none()) {
                break;
            }
        }
        self.with_table(|table, source| {
            table.reopen(reopened);
            if let Some((row, node)) = selected {
                table.select_again(row, node, source);
            }
        });
        let cursor = &mut self.table.cursor;
        cursor.top = cursor.at.saturating_sub(remembered.n_above);
        self.table.cursor.fit(self.table.lines.len(), self.height());
    }

    /// A number for what the columns of a row say. Texts of a hundred thousand rows would take long.
    fn row_name(&self, row: usize) -> u64 {
        let Some(row) = self.shown.as_ref().and_then(|shown| shown.row(row)) else {
            return 0;
        };
        let profile = self.explorer.profile();
        let texts = [row.key.comm(), row.key.image()];
        let name = texts.into_iter().fold(0, |above, text| {
            let text = text.map_or("", |text| profile.strings.of(text).into_raw());
            path_name(above, text)
        });
        let frame = row.key.frame();
        frame.map_or(name, |frame| function_name(name, frame, profile))
    }
}
