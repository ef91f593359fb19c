//! What commands do.

use super::{App, Effect};
use crate::cursor::Step;
use crate::keys::Command;
use crate::views::view::Answer;

impl App {
    /// Does what a command says.
    pub(super) fn command(&mut self, command: Command) -> Effect {
        match command {
            Command::Quit => return Effect::Quit,
            Command::Suspend => return Effect::Suspend,
            Command::Redraw => return Effect::Redraw,
            Command::Back => self.back(),
            Command::Code => return self.ask_code(),
            Command::SaveAs(form) => return Effect::Save(form),
            Command::Copy => return self.copy(),
            Command::Pause => return self.pause(),
            Command::Account => return self.next_account(),
            Command::Compare => return self.compare(),
            Command::SortBy(number) => return self.sort_by(number),
            Command::View(view) => self.view = view,
            Command::NextEvent => self.next_event(true),
            Command::PreviousEvent => self.next_event(false),
            Command::CodeInto(number) => return self.ask_code_into(number),
            Command::Callee(number) => return self.ask_chosen_callee(number),
            Command::KeepSelected => self.keep_selected(),
            Command::Without(what) => self.leave_out(what),
            Command::Dso | Command::Kernel | Command::Thread => self.zoom_by(command),
            Command::Relative => self.toggle_relative(),
            Command::Headings => self.cx.has_heading = !self.cx.has_heading,
            Command::Verbose => self.cx.has_dsos = !self.cx.has_dsos,
            Command::NextFound | Command::PreviousFound if self.cx.found.is_none() => {
                self.say("nothing searched: use /");
            }
            _ if self.ask_views(command) || self.open_over(command) => {}
            Command::ZoomOut => drop(self.pop_zoom()),
            Command::Mark => drop(self.ask_views(Command::Step(Step::PageDown))),
            _ => {}
        }
        Effect::None
    }

    /// Offers a command to the shown view. Returns whether it has obeyed.
    pub(super) fn ask_shown_view(&mut self, command: Command) -> bool {
        let answer = self.views[self.view].command(command, &mut self.cx);
        self.obey(self.view, answer)
    }

    /// Offers a command to the shown view, then to all of them. Returns whether one has obeyed.
    pub(super) fn ask_views(&mut self, command: Command) -> bool {
        self.ask_shown_view(command)
            || (0..self.views.len()).any(|view| {
                let answer = self.views[view].command_from_elsewhere(command, &mut self.cx);
                self.obey(view, answer)
            })
    }

    /// Does what a view asks for, if it has answered. Returns whether it has.
    pub(super) fn obey(&mut self, view: usize, answer: Option<Answer>) -> bool {
        let Some(answer) = answer else {
            return false;
        };
        match answer {
            Answer::Done => {}
            Answer::Show => self.view = view,
            Answer::Say(message) => self.message = Some(message),
            Answer::Zoom(zoom) => self.zoom(zoom),
            Answer::ZoomOut => drop(self.pop_zoom()),
        }
        true
    }

    /// The next or previous event; with a single one, the next or previous view.
    fn next_event(&mut self, is_next: bool) {
        let beside = |at: usize, n: usize| (at + if is_next { 1 } else { n - 1 }) % n;
        let n = self.cx.profile().events.len();
        if n < 2 {
            self.view = beside(self.view, self.views.len());
            return;
        }
        self.cx.event = beside(self.cx.event, n);
        self.select();
    }

    fn toggle_relative(&mut self) {
        self.cx.is_relative = !self.cx.is_relative;
        self.say(if self.cx.is_relative {
            "percentages of the shown samples"
        } else {
            "percentages of all samples"
        });
        if self.cx.min_percent > 0.0 {
            self.settings_changed();
        }
    }

    fn copy(&mut self) -> Effect {
        match self.view().copied(&self.cx) {
            Some(text) => Effect::Copy(text),
            None => {
                self.say("nothing is selected");
                Effect::None
            }
        }
    }
}
