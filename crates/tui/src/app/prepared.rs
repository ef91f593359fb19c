//! What the view needs is made, when it is first needed.

use super::{App, Over};
use crate::screen::Screen;
use crate::shown::Shown;
use crate::views::ViewKind;
use crate::views::boxes::Found;
use crate::views::flame::FlameView;
use crate::views::table::TableView;
use crate::zoom::selection;
use rprof_base::Share;
use rprof_profile::view::{Row, Weighing};

impl App {
    /// Counts the samples that are selected.
    pub(crate) fn select(&mut self) {
        let selection = selection(self.event, &self.zooms, self.explorer.profile());
        self.shown = Shown::of(&mut self.explorer, selection);
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

    /// Makes what the view needs, and brings its selection onto the screen.
    pub(crate) fn prepare(&mut self) {
        match self.view {
            ViewKind::Rows => self.prepare_rows(),
            ViewKind::Calls | ViewKind::Flame => self.prepare_boxes(),
            ViewKind::Threads => self.prepare_lanes(),
        }
        let height = self.page_height();
        if let Over::Page(page) = &mut self.over {
            page.fit(height);
        }
    }

    fn prepare_rows(&mut self) {
        let height = self.height();
        let Some(shown) = &mut self.shown else {
            return;
        };
        if shown.need_rows(&self.explorer, &self.by) {
            self.filter_rows();
        }
        self.table.cursor.fit(self.table.lines.len(), height);
    }

    fn prepare_boxes(&mut self) {
        let height = self.height();
        let Some(shown) = &mut self.shown else {
            return;
        };
        let is_new = shown.need_boxes(&self.explorer);
        let Some(boxes) = shown.boxes() else {
            return;
        };
        if is_new {
            self.calls.reset(boxes);
            self.flame = FlameView::default();
            let profile = self.explorer.profile();
            let found = self.found.take();
            self.found = found.map(|found| Found::of(boxes, profile, found.matcher));
        }
        self.calls.cursor.fit(self.calls.lines.len(), height);
        self.flame.fit(boxes, height);
    }

    fn prepare_lanes(&mut self) {
        let (height, slots) = (self.height(), self.slots());
        let Some(shown) = &mut self.shown else {
            return;
        };
        shown.need_lanes(&self.explorer, slots);
        let n = shown.lanes().map_or(0, |lanes| lanes.lanes.len());
        self.lanes.cursor.fit(n, height.saturating_sub(1));
        self.lanes.sideways(0, slots);
    }

    /// Columns of time.
    pub(crate) fn slots(&self) -> usize {
        self.screen().map_or(1, |screen| screen.lane().slots)
    }

    /// Whether there is work that can be done while nobody types: trees that are to be opened, and what other views
    /// will need.
    pub fn has_work(&self) -> bool {
        let is_missing = |shown: &Shown| shown.boxes().is_none() || !shown.has_lanes(self.slots());
        self.table.has_work() || self.shown.as_ref().is_some_and(is_missing)
    }

    /// Does a part of it.
    pub fn work(&mut self) {
        if self.table.has_work() {
            self.with_table(TableView::work);
        } else if self
            .shown
            .as_ref()
            .is_some_and(|shown| shown.boxes().is_none())
        {
            self.prepare_boxes();
        } else {
            self.prepare_lanes();
        }
        self.prepare();
    }

    /// Rows that have the names that are looked for, and are heavy enough.
    pub(crate) fn filter_rows(&mut self) {
        let Some(shown) = &self.shown else {
            return;
        };
        let is_heavy = |row: &Row| {
            let weight = match self.by.weighing {
                Weighing::Own => row.self_weight,
                Weighing::WithChildren => row.total_weight,
            };
            shown.share(weight, self.is_relative) >= Share::from_percent(self.min_percent)
        };
        let rows = shown.rows().iter().enumerate();
        let rows = rows.filter(|(_, row)| is_heavy(row) && self.has_name(row));
        let rows: Vec<usize> = rows.map(|(number, _)| number).collect();
        self.table.reset(rows.into_iter());
        self.table.cursor.fit(self.table.lines.len(), self.height());
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

    /// The number of the row that is selected.
    pub(crate) fn selected_row(&self) -> Option<usize> {
        Some(self.table.selected()?.row())
    }

    pub(super) fn row_text(&self, row: usize) -> String {
        let rows = self.shown.as_ref().map_or(&[][..], |shown| shown.rows());
        rows.get(row)
            .map_or_else(String::new, |row| self.cells(row).join(" "))
    }
}
