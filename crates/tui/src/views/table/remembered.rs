//! What was open and selected, by name: it stays so when rows are made anew.

use super::{TableLine, TableView};
use crate::cursor::Cursor;
use crate::views::context::Context;
use crate::views::opened::{function_name, path_name};
use foldhash::{HashMap, HashSet};

/// Rows and nodes by name.
#[derive(Debug, Default)]
pub(super) struct RememberedRows {
    /// Open nodes of the trees of open rows.
    open: HashMap<u64, HashSet<u64>>,
    /// The selected row, and the node of its tree.
    selected: Option<(u64, Option<u64>)>,
    /// Number of lines above it on the screen.
    n_above: usize,
}

impl TableView {
    /// Remembers what is open and selected, until rows are there again.
    pub(super) fn remember(&mut self, cx: &Context) {
        if !self.is_made || self.remembered.is_some() {
            return;
        }
        let profile = cx.profile();
        let open = self
            .open_trees()
            .map(|(row, tree)| (row_name(cx, row), tree.open_names(profile)));
        let selected = self.selected_line().map(|line| {
            let node = match line {
                TableLine::Row(_) => None,
                TableLine::Node { row, node, .. } => {
                    self.tree(row).map(|tree| tree.name_of(node, profile))
                }
            };
            (row_name(cx, line.row()), node)
        });
        // The first row is where one begins: it is no choice.
        let is_first = self.cursor.at == 0;
        self.remembered = Some(RememberedRows {
            open: open.collect(),
            selected: selected.filter(|_| !is_first),
            n_above: self.cursor.at.saturating_sub(self.cursor.top),
        });
    }

    /// Opens and selects what was, as far as it is still there.
    pub(super) fn reopen_remembered(&mut self, cx: &mut Context) {
        self.cursor = Cursor::default();
        let Some(RememberedRows {
            mut open,
            selected: was_selected,
            n_above,
        }) = self.remembered.take()
        else {
            return;
        };
        if open.is_empty() && was_selected.is_none() {
            return;
        }
        let mut selected = None;
        let mut reopened = Vec::new();
        for line in &self.lines {
            let name = row_name(cx, line.row());
            if let Some((_, node)) = was_selected.filter(|(row, _)| *row == name) {
                selected = Some((line.row(), node));
            }
            if let Some(names) = open.remove(&name) {
                reopened.push((line.row(), names));
            }
            if open.is_empty() && (selected.is_some() || was_selected.is_none()) {
                break;
            }
        }
        self.reopen(reopened);
        if let Some((row, node)) = selected {
            self.select_again(row, node, cx);
        }
        self.cursor.top = self.cursor.at.saturating_sub(n_above);
        self.cursor.fit(self.lines.len(), cx.height());
    }
}

/// A number for what the columns of a row say. Texts of a hundred thousand rows would take long.
fn row_name(cx: &Context, row: usize) -> u64 {
    let Some(row) = cx.shown.as_ref().and_then(|shown| shown.row(row)) else {
        return 0;
    };
    let profile = cx.profile();
    let texts = [row.key.comm(), row.key.image()];
    let name = texts.into_iter().fold(0, |above, text| {
        let text = text.map_or("", |text| profile.strings.of(text).into_raw());
        path_name(above, text)
    });
    let frame = row.key.frame();
    frame.map_or(name, |frame| function_name(name, frame, profile))
}
