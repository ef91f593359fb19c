//! Zooming into the selection, and back.

use super::App;
use crate::keys::{Command, LeftOut};
use crate::zoom::Zoom;
use rprof_profile::NameList;

impl App {
    /// Zooms in, or out if already zoomed in.
    pub(super) fn zoom_by(&mut self, command: Command) {
        let selected = self.view().selected(&self.cx);
        let zoom = match command {
            Command::Kernel => Some(Zoom::Kernel),
            Command::Dso => selected.image.map(Zoom::Dso),
            _ => selected.threads,
        };
        // The key that zoomed in zooms out, as in perf.
        let is_same = |there: &Zoom| match command {
            Command::Kernel => *there == Zoom::Kernel,
            Command::Dso => matches!(there, Zoom::Dso(_)),
            _ => there.is_of_threads(),
        };
        if let Some(at) = self.cx.zooms.iter().position(is_same) {
            self.cx.zooms.remove(at);
            self.select();
        } else if let Some(zoom) = zoom {
            self.zoom(zoom);
        } else {
            self.say(match command {
                Command::Dso => "no DSO is selected",
                _ if !self.view().has_search() => "choose one thread",
                _ => "no thread is selected: choose sort keys (o) with comm, pid or tid",
            });
        }
    }

    /// Keeps stacks with the selected function.
    pub(super) fn keep_selected(&mut self) {
        match self.selected_name() {
            Some(name) => self.zoom(Zoom::Frames(NameList::of([name.as_str()]))),
            None => self.say("no function with a name is selected"),
        }
    }

    /// The name of the selected function.
    fn selected_name(&self) -> Option<String> {
        let frame = self.view().selected(&self.cx).frame?;
        let profile = self.cx.profile();
        let name = profile.frames.of(frame).name?;
        Some(profile.strings.of(name).into_raw().to_owned())
    }

    /// Leaves out a part of what the selection is of.
    pub(super) fn leave_out(&mut self, what: LeftOut) {
        let selected = self.view().selected(&self.cx);
        let zoom = match what {
            LeftOut::Dso => selected.image.map(Zoom::WithoutDso),
            LeftOut::Function => self.selected_name().map(Zoom::WithoutFunction),
            LeftOut::Comm => {
                let threads = selected.threads.as_ref();
                threads.and_then(Zoom::comm).map(Zoom::WithoutComm)
            }
        };
        match (zoom, what) {
            (Some(zoom), _) => self.zoom(zoom),
            (None, LeftOut::Dso) => self.say("no DSO is selected"),
            (None, LeftOut::Function) => self.say("no function with a name is selected"),
            (None, LeftOut::Comm) => self.say("no thread is selected"),
        }
    }

    /// Zooms into a part, replacing a zoom of the same kind.
    pub(super) fn zoom(&mut self, zoom: Zoom) {
        self.cx.zooms.retain(|one| !one.is_alike(&zoom));
        self.cx.zooms.push(zoom);
        self.select();
    }

    /// Undoes the last zoom. Returns whether there was one.
    pub(super) fn pop_zoom(&mut self) -> bool {
        let is_some = self.cx.zooms.pop().is_some();
        if is_some {
            self.select();
        }
        is_some
    }

    /// Goes back one step; asks to quit at the end.
    pub(super) fn back(&mut self) {
        let is_back = self.awaited_scope.take().is_some()
            || self.awaited_comparison.take().is_some()
            || self.awaited.take().is_some()
            || self.ask_shown_view(Command::Back)
            || self.cx.found.take().is_some()
            || self.ask_views(Command::Back)
            || self.pop_zoom();
        if !is_back {
            self.ask_quit();
        }
    }
}
