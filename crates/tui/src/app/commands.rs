//! What commands do.

use super::{App, Effect, table_order};
use crate::cursor::Step;
use crate::keys::Command;
use crate::views::ViewKind;
use crate::views::table::{Source, TableView};
use crate::zoom::Zoom;
use rprof_profile::view::{Order, SortKey, Weighing};

/// What rows may be grouped by: keys and what they are called.
pub(crate) const SORTS: &[&[SortKey]] = &[
    SortKey::DEFAULT,
    &[SortKey::Symbol],
    &[SortKey::Dso, SortKey::Symbol],
    &[SortKey::Dso],
    &[SortKey::Comm],
    &[SortKey::Comm, SortKey::Dso],
];

/// Why rows have no trees.
const NO_CHAINS: &str = "no call chains: use rprof record, or perf record -g";
const NO_CHAINS_LIVE: &str = "no call chains: use rprof top --call-graph auto";

impl App {
    /// Does what a command says.
    pub(super) fn command(&mut self, command: Command) -> Effect {
        match command {
            Command::Quit => return Effect::Quit,
            Command::Suspend => return Effect::Suspend,
            Command::Redraw => return Effect::Redraw,
            Command::Back => return self.back(),
            Command::Code => return self.ask_code(),
            Command::SaveAs(form) => return Effect::Save(form),
            Command::Copy => return self.copy(),
            Command::Pause => return self.pause(),
            Command::View(view) => self.view = view,
            Command::NextEvent => self.next_event(true),
            Command::PreviousEvent => self.next_event(false),
            Command::Step(step) => self.step(step),
            Command::Left => self.left(),
            Command::Right => self.right(),
            Command::FarLeft => self.far(-10),
            Command::FarRight => self.far(10),
            Command::Open | Command::Toggle => self.open(),
            Command::OpenEntry | Command::OpenAll | Command::CloseAll => self.unfold(command),
            Command::Direction => self.turn(),
            Command::Dso | Command::Kernel | Command::Thread => self.zoom_by(command),
            Command::ZoomOut => drop(self.zoom_out()),
            Command::Mark if self.view == ViewKind::Threads => self.lanes.mark(),
            Command::Mark => self.step(Step::PageDown),
            Command::NextFound => self.next_found(false),
            Command::PreviousFound => self.next_found(true),
            Command::Relative | Command::Headings | Command::Verbose => self.switch(command),
            Command::SortBy(number) => self.sort_by(usize::from(number)),
            Command::Children => self.turn_weighing(),
            _ => self.open_over(command),
        }
        Effect::None
    }

    fn next_event(&mut self, is_next: bool) {
        let n = self.explorer.profile().events.len();
        if n < 2 {
            self.view = self
                .view
                .beside(if is_next { 1 } else { ViewKind::ALL.len() - 1 });
            return;
        }
        self.event = (self.event + if is_next { 1 } else { n - 1 }) % n;
        self.select();
    }

    fn step(&mut self, step: Step) {
        let (height, columns) = (self.height(), self.columns());
        match self.view {
            ViewKind::Rows => self.table.cursor.step(step, self.table.lines.len(), height),
            ViewKind::Calls => self.calls.cursor.step(step, self.calls.lines.len(), height),
            ViewKind::Flame => {
                if let Some(boxes) = self.shown.as_ref().and_then(|shown| shown.boxes()) {
                    self.flame.step(step, boxes, columns);
                }
            }
            ViewKind::Threads => {
                let lanes = self.shown.as_ref().and_then(|shown| shown.lanes());
                let n = lanes.map_or(0, |lanes| lanes.lanes.len());
                self.lanes.cursor.step(step, n, height.saturating_sub(1));
            }
        }
    }

    fn left(&mut self) {
        let (height, columns) = (self.height(), self.columns());
        let boxes = self.shown.as_ref().and_then(|shown| shown.boxes());
        match (self.view, boxes) {
            (ViewKind::Rows, _) if !self.table.close(height) => {
                self.pop_zoom();
            }
            (ViewKind::Calls, Some(boxes)) if !self.calls.close(boxes, height) => {
                self.pop_zoom();
            }
            (ViewKind::Flame, Some(boxes)) => self.flame.sideways(true, boxes, columns),
            (ViewKind::Threads, _) => self.far(-1),
            _ => {}
        }
    }

    fn say_no_chains(&mut self) {
        self.say(if self.is_live {
            NO_CHAINS_LIVE
        } else {
            NO_CHAINS
        });
    }

    fn right(&mut self) {
        let columns = self.columns();
        match self.view {
            ViewKind::Rows if !self.has_chains => self.say_no_chains(),
            ViewKind::Rows => self.with_table(TableView::open),
            ViewKind::Calls | ViewKind::Flame => {
                let Some(boxes) = self.shown.as_ref().and_then(|shown| shown.boxes()) else {
                    return;
                };
                match self.view {
                    ViewKind::Calls => self.calls.open(boxes),
                    _ => self.flame.sideways(false, boxes, columns),
                }
            }
            ViewKind::Threads => self.far(1),
        }
    }

    fn far(&mut self, by: isize) {
        if self.view == ViewKind::Threads {
            let slots = self.slots();
            self.lanes.sideways(by, slots);
        }
    }

    /// Opens what is selected, or zooms into it.
    pub(super) fn open(&mut self) {
        let shown = self.shown.as_ref();
        match self.view {
            ViewKind::Rows if !self.has_chains => self.say_no_chains(),
            ViewKind::Rows => self.with_table(TableView::toggle),
            ViewKind::Calls => {
                if let Some(boxes) = shown.and_then(|shown| shown.boxes()) {
                    self.calls.toggle(boxes);
                }
            }
            ViewKind::Flame => {
                if let Some(boxes) = shown.and_then(|shown| shown.boxes()) {
                    self.flame.zoom_in(boxes);
                }
            }
            ViewKind::Threads => {
                if let Some(lanes) = shown.and_then(|shown| shown.lanes()) {
                    let times = self.lanes.times(lanes);
                    self.lanes.mark = None;
                    self.lanes.slot = 0;
                    self.zoom(Zoom::Times(times));
                }
            }
        }
    }

    fn unfold(&mut self, command: Command) {
        let height = self.height();
        if self.view == ViewKind::Rows {
            match command {
                _ if !self.has_chains => self.say_no_chains(),
                Command::OpenEntry => self.with_table(TableView::toggle_all),
                Command::OpenAll => self.table.open_all(height),
                _ => self.table.close_all(height),
            }
            return;
        }
        let Some(boxes) = self.shown.as_ref().and_then(|shown| shown.boxes()) else {
            return;
        };
        match command {
            _ if self.view != ViewKind::Calls => {}
            Command::OpenEntry => self.calls.toggle_all(boxes),
            Command::OpenAll => self.calls.open_all(boxes, height),
            _ => self.calls.close_all(boxes, height),
        }
    }

    fn turn(&mut self) {
        if !self.has_chains {
            self.say_no_chains();
            return;
        }
        let height = self.height();
        self.with_table(|table, source| table.turn(source, height));
        let way = match self.table.order {
            Order::Caller => "call trees of rows: callees",
            Order::Callee => "call trees of rows: callers",
        };
        self.message = Some(way.to_owned());
    }

    pub(super) fn with_table(&mut self, work: impl FnOnce(&mut TableView, &mut Source<'_>)) {
        if let Some(shown) = &mut self.shown {
            work(&mut self.table, &mut Source { shown });
        }
    }

    fn switch(&mut self, command: Command) {
        match command {
            Command::Relative => {
                self.is_relative = !self.is_relative;
                let of = if self.is_relative {
                    "the shown samples"
                } else {
                    "all samples"
                };
                self.message = Some(format!("percentages of {of}"));
                if self.min_percent > 0.0 {
                    self.filter_again();
                }
            }
            Command::Headings => self.has_heading = !self.has_heading,
            _ => self.has_dsos = !self.has_dsos,
        }
    }

    fn sort_by(&mut self, number: usize) {
        if let Some(keys) = SORTS.get(number) {
            self.by.keys = keys.to_vec();
            self.view = ViewKind::Rows;
        }
    }

    fn turn_weighing(&mut self) {
        let weighing = match self.by.weighing {
            Weighing::Own if !self.has_chains => {
                self.say_no_chains();
                return;
            }
            Weighing::Own => Weighing::WithChildren,
            Weighing::WithChildren => Weighing::Own,
        };
        self.filter_again();
        self.by.weighing = weighing;
        self.table.order = table_order(self.by.weighing);
        if let Some(shown) = &mut self.shown {
            shown.sort_rows(&self.by);
        }
        self.message = Some(
            match self.by.weighing {
                Weighing::Own => "rows show self: only their own samples",
                Weighing::WithChildren => "rows show total: including callees",
            }
            .to_owned(),
        );
    }
}
