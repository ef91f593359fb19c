//! The selection, and zooming into it.

use super::{App, Effect};
use crate::keys::Command;
use crate::views::ViewKind;
use crate::views::boxes::Boxes;
use crate::views::table::TableLine;
use crate::zoom::Zoom;
use rprof_profile::FrameId;
use rprof_query::FlameLabel;

/// The selection, in any view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selected {
    /// The function.
    pub(crate) frame: Option<FrameId>,
    /// Short name of the image.
    pub(crate) image: Option<String>,
    /// The thread's name.
    pub(crate) comm: Option<String>,
}

impl App {
    /// Zooms in, or out if already zoomed in.
    pub(super) fn zoom_by(&mut self, command: Command) {
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
                _ => "no thread is selected: choose sort keys (o) with comm".to_owned(),
            });
        }
    }

    /// Zooms into a part, replacing a zoom of the same kind.
    pub(super) fn zoom(&mut self, zoom: Zoom) {
        self.zooms.retain(|one| !one.is_alike(&zoom));
        self.zooms.push(zoom);
        self.select();
    }

    /// Undoes the last zoom. Returns whether there was one.
    pub(super) fn pop_zoom(&mut self) -> bool {
        let is_some = self.zooms.pop().is_some();
        if is_some {
            self.select();
        }
        is_some
    }

    pub(super) fn zoom_out(&mut self) -> bool {
        let boxes = self.shown.as_ref().and_then(|shown| shown.boxes());
        let is_flame = self.view == ViewKind::Flame;
        if is_flame && boxes.is_some_and(|boxes| self.flame.zoom_out(boxes)) {
            return true;
        }
        self.pop_zoom()
    }

    /// Goes back one step; asks to quit at the end.
    pub(super) fn back(&mut self) -> Effect {
        if self.awaited.take().is_some() {
            return Effect::None;
        }
        if self.lanes.mark.take().is_some() && self.view == ViewKind::Threads {
            return Effect::None;
        }
        if self.found.take().is_some() {
            return Effect::None;
        }
        if self.view == ViewKind::Flame && self.zoom_out() {
            return Effect::None;
        }
        if self.filter.is_some() {
            self.filter_again();
            self.filter = None;
            return Effect::None;
        }
        if self.pop_zoom() {
            return Effect::None;
        }
        self.ask_quit();
        Effect::None
    }

    /// The selection in the view.
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
        let profile = self.explorer.profile();
        let Some((line, shown)) = self.table.selected().zip(self.shown.as_ref()) else {
            return Selected::default();
        };
        let Some(row) = shown.row(line.row()) else {
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

    /// The selected box of the call tree or the flame graph.
    pub(crate) fn selected_box(&self) -> Option<(&Boxes, u32)> {
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
