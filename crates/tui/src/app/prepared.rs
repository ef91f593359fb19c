//! What the view needs: asked for, and taken when it was made.

use super::{App, Over};
use crate::face::WantedCode;
use crate::screen::Screen;
use crate::shown::{Counted, Shown};
use crate::task::{Made, Task};
use crate::views::ViewKind;
use crate::views::boxes::Boxes;
use crate::views::table::TableView;
use crate::zoom::selection;
use rprof_base::Share;
use rprof_profile::view::{Row, Weighing};
use rprof_query::ThreadLanes;
use std::sync::Arc;

/// Selections that were left and are kept, so that going back takes no time.
const MAX_KEPT: usize = 4;

/// Nodes of their trees: each takes about a hundred bytes with its rows and boxes.
const MAX_KEPT_NODES: usize = 1 << 20;

impl App {
    /// Asks for the samples that are selected.
    pub(crate) fn select(&mut self) {
        self.remember_rows();
        self.remember_boxes();
        let selection = selection(self.event, &self.zooms, self.explorer.profile());
        // Code of other samples comes too late.
        let is_other = |wanted: &mut WantedCode| wanted.selection != selection;
        self.awaited.take_if(is_other);
        self.kept.extend(self.shown.take());
        let is_it = |one: &Shown| one.counted.selection == selection;
        if let Some(at) = self.kept.iter().position(is_it) {
            self.shown = Some(self.kept.remove(at));
            self.boxes_are_new();
        }
        let n_nodes = |kept: &[Shown]| -> usize {
            let trees = kept.iter().map(|one| &one.counted.event.tree);
            trees.map(|tree| tree.nodes().len()).sum()
        };
        while self.kept.len() > MAX_KEPT || n_nodes(&self.kept) > MAX_KEPT_NODES {
            self.kept.remove(0);
        }
        self.is_table_old = true;
        self.asked = Some(selection).filter(|_| self.shown.is_none());
    }

    pub(crate) fn screen(&self) -> Option<Screen> {
        Screen::of(self.size, self.has_heading)
    }

    pub(crate) fn height(&self) -> usize {
        self.screen().map_or(1, |screen| screen.height())
    }

    pub(crate) fn columns(&self) -> usize {
        self.screen().map_or(1, |screen| screen.columns())
    }

    pub(crate) fn page_height(&self) -> usize {
        usize::from(self.size.1).saturating_sub(2).max(1)
    }

    /// Columns of time.
    pub(crate) fn slots(&self) -> usize {
        self.screen().map_or(1, |screen| screen.lane().slots)
    }

    /// What the view waits for.
    pub(crate) fn needed(&self) -> Option<Task> {
        self.missing(self.view)
    }

    /// What other views will need.
    pub(crate) fn wanted(&self) -> Option<Task> {
        ViewKind::ALL
            .into_iter()
            .find_map(|view| self.missing(view))
    }

    fn missing(&self, view: ViewKind) -> Option<Task> {
        let Some(shown) = &self.shown else {
            let selection = self.asked.clone()?;
            return Some(Task::Count(Arc::clone(&self.explorer), Box::new(selection)));
        };
        let counted = || Arc::clone(&shown.counted);
        match view {
            ViewKind::Rows if !shown.has_rows(&self.by) => {
                Some(Task::Rows(counted(), self.by.clone()))
            }
            ViewKind::Calls | ViewKind::Flame if shown.boxes().is_none() => {
                Some(Task::Boxes(counted()))
            }
            ViewKind::Threads if !shown.has_lanes(self.slots()) => {
                Some(Task::Lanes(counted(), self.slots()))
            }
            _ => None,
        }
    }

    /// Takes what was made. What is of another selection than the one that is shown comes too late.
    pub(crate) fn take_made(&mut self, made: Made) {
        let is_shown = |app: &Self, of: &Arc<Counted>| {
            let shown = app.shown.as_ref();
            shown.is_some_and(|shown| Arc::ptr_eq(&shown.counted, of))
        };
        match made {
            Made::Counted(selection, counted) if self.asked.as_ref() == Some(&*selection) => {
                self.asked = None;
                self.shown = counted.map(Shown::of);
            }
            Made::Rows(of, rows) if is_shown(self, &of) => {
                self.remember_rows();
                if let Some(shown) = &mut self.shown {
                    shown.take_rows(*rows);
                }
                self.is_table_old = true;
            }
            Made::Boxes(of, boxes) if is_shown(self, &of) => {
                if let Some(shown) = &mut self.shown {
                    shown.take_boxes(boxes);
                }
                self.boxes_are_new();
            }
            Made::Lanes(of, n_slots, lanes) if is_shown(self, &of) => {
                if let Some(shown) = &mut self.shown {
                    shown.take_lanes(n_slots, lanes);
                }
            }
            _ => {}
        }
        self.prepare();
    }

    /// Makes what the view needs, here and now.
    pub(crate) fn settle(&mut self) {
        while let Some(task) = self.needed() {
            self.take_made(task.run());
        }
    }

    /// Brings the view's selection onto the screen.
    pub(crate) fn prepare(&mut self) {
        let (height, slots) = (self.height(), self.slots());
        let shown = self.shown.as_ref();
        if self.is_table_old && shown.is_some_and(|shown| shown.has_rows(&self.by)) {
            self.filter_rows();
        }
        self.table.cursor.fit(self.table.lines.len(), height);
        let shown = self.shown.as_ref();
        if let Some(boxes) = shown.and_then(|shown| shown.boxes()) {
            self.calls.cursor.fit(self.calls.lines.len(), height);
            self.flame.fit(boxes, height);
        }
        if let Some(lanes) = shown.and_then(|shown| shown.lanes()) {
            let n = lanes.lanes.len();
            self.lanes.cursor.fit(n, height.saturating_sub(1));
            self.lanes.sideways(0, slots);
        }
        let height = self.page_height();
        if let Over::Page(page) = &mut self.over {
            page.fit(height);
        }
    }

    /// Whether there are trees that are to be opened.
    pub(crate) fn has_work(&self) -> bool {
        self.table.has_work() && self.missing(ViewKind::Rows).is_none()
    }

    /// Opens one of them.
    pub(crate) fn work(&mut self) {
        self.with_table(TableView::work);
        self.prepare();
    }

    /// Rows that have the names that are looked for, and are heavy enough; open are those that were open.
    fn filter_rows(&mut self) {
        let Some(shown) = &self.shown else {
            return;
        };
        let is_heavy = |row: &Row| {
            let weight = match self.by.weighing {
                Weighing::Own => row.self_weight,
                Weighing::WithChildren => row.total_weight,
            };
            let least = Share::from_percent(self.min_percent);
            self.min_percent <= 0.0 || shown.share(weight, self.is_relative) >= least
        };
        let rows = shown.rows().enumerate();
        let rows = rows.filter(|(_, row)| is_heavy(row) && self.has_name(row));
        let rows: Vec<usize> = rows.map(|(number, _)| number).collect();
        self.table.reset(rows.into_iter());
        self.is_table_old = false;
        self.reopen_rows();
    }

    fn has_name(&self, row: &Row) -> bool {
        let Some(filter) = &self.filter else {
            return true;
        };
        let profile = self.explorer.profile();
        match row.key.frame() {
            Some(frame) => {
                let label = profile.frames.label(frame, &profile.strings);
                filter.matches(label.raw())
            }
            None => filter.matches(&self.cells(row).join(" ")),
        }
    }

    /// The cells of a row in the columns of the sort keys.
    pub(crate) fn cells(&self, row: &Row) -> Vec<String> {
        let keys = self.by.keys.iter();
        keys.map(|key| key.cell(&row.key, self.explorer.profile()))
            .collect()
    }

    /// What is shown, if its boxes were made.
    pub(crate) fn shown_boxes(&self) -> Option<(&Shown, &Boxes)> {
        let shown = self.shown.as_ref()?;
        Some((shown, shown.boxes()?))
    }

    /// What is shown, if its lanes were made.
    pub(crate) fn shown_lanes(&self) -> Option<(&Shown, &ThreadLanes)> {
        let shown = self.shown.as_ref()?;
        Some((shown, shown.lanes()?))
    }
}
