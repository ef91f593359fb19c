//! What clicks do.

use super::{App, Effect, Over};
use crate::cursor::Step;
use crate::keys::Command;
use crate::screen::Screen;
use ratatui_core::layout::Position;
use ratatui_crossterm::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

/// Lines that the wheel moves.
const WHEEL: usize = 3;

impl App {
    pub(super) fn mouse(&mut self, mouse: MouseEvent) -> Effect {
        let at = Position::new(mouse.column, mouse.row);
        let Some(screen) = self.cx.screen() else {
            return Effect::None;
        };
        match mouse.kind {
            MouseEventKind::ScrollDown => self.wheel(Step::Down),
            MouseEventKind::ScrollUp => self.wheel(Step::Up),
            MouseEventKind::Down(MouseButton::Left) => return self.click(at, screen),
            MouseEventKind::Drag(MouseButton::Left) if self.over == Over::Nothing => {
                self.views[self.view].drag(at.x.into(), &self.cx);
            }
            _ => {}
        }
        Effect::None
    }

    fn wheel(&mut self, step: Step) {
        let height = self.cx.page_height();
        for _ in 0..WHEEL {
            match &mut self.over {
                Over::Page(page) => page.step(step, height),
                Over::Menu(menu) => menu.step(step),
                Over::Prompt(_) => {}
                Over::Nothing => drop(self.ask_views(Command::Step(step))),
            }
        }
    }

    /// Selects what is there; if it is already selected, opens it.
    fn click(&mut self, at: Position, screen: Screen) -> Effect {
        self.message = None;
        if self.over != Over::Nothing {
            return self.click_over(at, screen);
        }
        if let Some(view) = screen.tab_at(at, &self.view_names()) {
            self.view = view;
        } else if screen.body.contains(at) {
            let at = Position::new(at.x, at.y - screen.body.y);
            let answer = self.views[self.view].click(at, &mut self.cx);
            self.obey(self.view, Some(answer));
        }
        Effect::None
    }

    /// Chooses in a menu; beside it, closes it.
    fn click_over(&mut self, at: Position, screen: Screen) -> Effect {
        if let Over::Menu(menu) = &mut self.over {
            let place = crate::draw::menu_place(menu, screen.all);
            if place.contains(at) {
                let line = usize::from(at.y - place.y).checked_sub(1);
                let Some(line) = line.filter(|&line| line < menu.choices.len()) else {
                    return Effect::None;
                };
                menu.cursor.at = line;
                let chosen = menu.chosen();
                self.over = Over::Nothing;
                return chosen.map_or(Effect::None, |command| self.command(command));
            }
        }
        if !matches!(self.over, Over::Prompt(_)) {
            self.over = Over::Nothing;
        }
        Effect::None
    }
}
