//! What commands do.

use super::{App, Effect, table_order};
use crate::cursor::Step;
use crate::keys::Command;
use crate::views::ViewKind;
use crate::views::table::Source;
use crate::zoom::Zoom;
use rprof_profile::FrameId;
use rprof_profile::view::{SortKey, Weighing};
use rprof_query::FlameLabel;

/// What is selected, whatever the view is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selected {
    /// The function.
    pub(crate) frame: Option<FrameId>,
    /// Short name of the image.
    pub(crate) image: Option<String>,
    /// The thread's name.
    pub(crate) comm: Option<String>,
}

/// What rows may be grouped by: keys and what they are called.
pub(crate) const SORTS: &[&[SortKey]] = &[
    SortKey::DEFAULT,
    &[SortKey::Symbol],
    &[SortKey::Dso, SortKey::Symbol],
    &[SortKey::Dso],
    &[SortKey::Comm],
    &[SortKey::Comm, SortKey::Dso],
];

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
            (ViewKind::Rows, _) => {
                if !self.table.close(height) {
                    self.pop_zoom();
                }
            }
            (ViewKind::Calls, Some(boxes)) => {
                if !self.calls.close(boxes, height) {
                    self.pop_zoom();
                }
            }
            (ViewKind::Flame, Some(boxes)) => self.flame.sideways(true, boxes, columns),
            (ViewKind::Threads, _) => self.far(-1),
            _ => {}
        }
    }

    fn right(&mut self) {
        let columns = self.columns();
        match self.view {
            ViewKind::Rows => self.with_table(|table, source| table.open(source)),
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
            let slots = self.screen().map_or(1, |screen| screen.lane().slots);
            self.lanes.sideways(by, slots);
        }
    }

    /// Opens what is selected, or zooms into it.
    pub(super) fn open(&mut self) {
        let shown = self.shown.as_ref();
        match self.view {
            ViewKind::Rows => self.with_table(|table, source| table.toggle(source)),
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
                Command::OpenEntry => self.with_table(|table, source| table.toggle_all(source)),
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
        let height = self.height();
        self.with_table(|table, source| table.turn(source, height));
        let way = match self.table.order {
            rprof_profile::view::Order::Caller => "trees of rows: what they called",
            rprof_profile::view::Order::Callee => "trees of rows: who called them",
        };
        self.message = Some(way.to_owned());
    }

    fn with_table(
        &mut self,
        work: impl FnOnce(&mut crate::views::table::TableView, &mut Source<'_>),
    ) {
        if let Some(shown) = &mut self.shown {
            let explorer = &self.explorer;
            work(&mut self.table, &mut Source { explorer, shown });
        }
    }

    fn switch(&mut self, command: Command) {
        match command {
            Command::Relative => {
                self.is_relative = !self.is_relative;
                let of = if self.is_relative {
                    "what is shown"
                } else {
                    "all samples"
                };
                self.message = Some(format!("percentages are of {of}"));
                if self.min_percent > 0.0 {
                    self.filter_rows();
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
        self.by.weighing = match self.by.weighing {
            Weighing::Own => Weighing::WithChildren,
            Weighing::WithChildren => Weighing::Own,
        };
        self.table.order = table_order(self.by.weighing);
        self.message = Some(
            match self.by.weighing {
                Weighing::Own => "rows count only their own samples",
                Weighing::WithChildren => "rows count what they called, too",
            }
            .to_owned(),
        );
    }

    /// Zooms in, or out where it is already so.
    fn zoom_by(&mut self, command: Command) {
        let selected = self.selected();
        let zoom = match command {
            Command::Kernel => Some(Zoom::Kernel),
            Command::Dso => selected.image.map(Zoom::Dso),
            _ if self.view == ViewKind::Threads => self.selected_thread(),
            _ => selected.comm.map(Zoom::Comm),
        };
        // The key that zoomed in zooms out, as in perf.
        let is_same = |there: &Zoom| match command {
            Command::Kernel => *there == Zoom::Kernel,
            Command::Dso => matches!(there, Zoom::Dso(_)),
            _ => matches!(there, Zoom::Comm(_) | Zoom::Thread { .. }),
        };
        if let Some(at) = self.zooms.iter().position(is_same) {
            self.zooms.remove(at);
            self.select();
        } else if let Some(zoom) = zoom {
            self.zoom(zoom);
        } else {
            self.message = Some(match command {
                Command::Dso => "no DSO is selected".to_owned(),
                _ => "no thread is selected: sort keys (o) with comm tell threads apart".to_owned(),
            });
        }
    }

    /// Zooms into a part, instead of another of its kind.
    pub(super) fn zoom(&mut self, zoom: Zoom) {
        self.zooms.retain(|one| !one.is_alike(&zoom));
        self.zooms.push(zoom);
        self.select();
    }

    /// Out of the last zoom. Says whether there was one.
    fn pop_zoom(&mut self) -> bool {
        let is_some = self.zooms.pop().is_some();
        if is_some {
            self.select();
        }
        is_some
    }

    fn zoom_out(&mut self) -> bool {
        let boxes = self.shown.as_ref().and_then(|shown| shown.boxes());
        let is_flame = self.view == ViewKind::Flame;
        if is_flame && boxes.is_some_and(|boxes| self.flame.zoom_out(boxes)) {
            return true;
        }
        self.pop_zoom()
    }

    /// One step back; at the end, out.
    fn back(&mut self) -> Effect {
        if self.lanes.mark.take().is_some() && self.view == ViewKind::Threads {
            return Effect::None;
        }
        if self.found.take().is_some() {
            return Effect::None;
        }
        if self.view == ViewKind::Flame && self.zoom_out() {
            return Effect::None;
        }
        if self.filter.take().is_some() {
            self.filter_rows();
            return Effect::None;
        }
        if self.pop_zoom() {
            return Effect::None;
        }
        self.ask_quit();
        Effect::None
    }

    /// What is selected in the view.
    pub(crate) fn selected(&self) -> Selected {
        let profile = self.explorer.profile();
        let of_frame = |frame: FrameId| Selected {
            frame: Some(frame),
            image: Some(
                profile
                    .strings
                    .of(profile.frames.of(frame).image)
                    .into_raw()
                    .to_owned(),
            ),
            comm: None,
        };
        match self.view {
            ViewKind::Rows => self.selected_in_rows(),
            ViewKind::Calls | ViewKind::Flame => {
                let Some((boxes, number)) = self.selected_box() else {
                    return Selected::default();
                };
                let comm = boxes.comm(number, profile);
                let selected = match boxes.get(number).map(|one| one.label) {
                    Some(FlameLabel::Frame(frame)) => of_frame(frame),
                    _ => Selected::default(),
                };
                Selected { comm, ..selected }
            }
            ViewKind::Threads => Selected::default(),
        }
    }

    fn selected_in_rows(&self) -> Selected {
        use crate::views::table::TableLine;
        let profile = self.explorer.profile();
        let Some((line, shown)) = self.table.selected().zip(self.shown.as_ref()) else {
            return Selected::default();
        };
        let Some(row) = shown.rows().get(line.row()) else {
            return Selected::default();
        };
        let text = |id| profile.strings.of(id).into_raw().to_owned();
        let node = match line {
            TableLine::Row(_) => None,
            TableLine::Node { row, node, .. } => {
                self.table.tree(row).map(|tree| tree.tree.node(node))
            }
        };
        let frame = node.map(|node| node.frame).or(row.key.frame());
        let image = frame
            .map(|frame| profile.frames.of(frame).image)
            .or(row.key.image());
        Selected {
            frame,
            image: image.map(text),
            comm: row.key.comm().map(text),
        }
    }

    /// The box that is selected, of those of the call tree and the flame graph.
    pub(crate) fn selected_box(&self) -> Option<(&crate::views::boxes::Boxes, u32)> {
        let boxes = self.shown.as_ref()?.boxes()?;
        let number = match self.view {
            ViewKind::Calls => self.calls.selected()?,
            _ => self.flame.selected,
        };
        boxes.get(number).map(|_| (boxes, number))
    }

    fn selected_thread(&self) -> Option<Zoom> {
        let lanes = self.shown.as_ref()?.lanes()?;
        let lane = lanes.lanes.get(self.lanes.cursor.at)?;
        let sampled = self.explorer.sampled();
        let thread = sampled.threads.get(lane.thread as usize)?;
        let comm = sampled.profile.strings.of(thread.comm).to_string();
        Some(Zoom::Thread {
            pid: thread.pid,
            tid: thread.tid,
            comm,
        })
    }
}
