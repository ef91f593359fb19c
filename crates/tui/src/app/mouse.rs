//! What clicks do.

use super::{App, Effect, Over};
use crate::cursor::Step;
use crate::keys::Command;
use crate::screen::Screen;
use ratatui_core::layout::Position;
use ratatui_crossterm::crossterm::event::{
    KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

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
            MouseEventKind::ScrollLeft => self.wheel_sideways(Command::Left),
            MouseEventKind::ScrollRight => self.wheel_sideways(Command::Right),
            MouseEventKind::Down(MouseButton::Left) => return self.click(at, screen),
            MouseEventKind::Down(MouseButton::Right) => self.open_menu(at, screen),
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

    fn wheel_sideways(&mut self, command: Command) {
        let is_wide = self.view().is_wide();
        match &mut self.over {
            Over::Page(page) => page.sideways(command == Command::Left),
            Over::Nothing if is_wide => drop(self.ask_shown_view(command)),
            Over::Menu(_) | Over::Prompt(_) | Over::Nothing => {}
        }
    }

    /// Selects what is there, and opens the menu of what can be done with it.
    fn open_menu(&mut self, at: Position, screen: Screen) {
        self.message = None;
        if self.over != Over::Nothing || !screen.body.contains(at) {
            return;
        }
        let within = Position::new(at.x, at.y - screen.body.y);
        self.views[self.view].select(within, &mut self.cx);
        self.open_over(Command::Actions);
        if let Over::Menu(menu) = &mut self.over {
            menu.at = Some(at);
        }
    }

    /// Selects what is there; if it is already selected, opens it.
    fn click(&mut self, at: Position, screen: Screen) -> Effect {
        self.message = None;
        let bar = screen.keys.filter(|bar| bar.contains(at));
        if let Some(key) = bar.and_then(|bar| crate::draw::key_at(self, bar, at))
            && !matches!(self.over, Over::Page(_))
        {
            return self.key(KeyEvent::new(key, KeyModifiers::NONE));
        }
        if self.over != Over::Nothing {
            return self.click_over(at, screen);
        }
        if let Some(view) = screen.tab_at(at, &self.view_names()) {
            self.view = view;
        } else if screen.what.is_some_and(|what| what.contains(at)) {
            self.pop_zoom();
        } else if screen.heading.is_some_and(|heading| heading.contains(at)) {
            let command = self.view().heading_click(at.x, &self.cx);
            return command.map_or(Effect::None, |command| self.command(command));
        } else if screen.body.contains(at) {
            let at = Position::new(at.x, at.y - screen.body.y);
            if self.views[self.view].select(at, &mut self.cx) {
                return self.command(Command::Open);
            }
        }
        Effect::None
    }

    /// Chooses in a menu; beside it, closes it. The first and the last line of a page close it.
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
        let is_edge = at.y == 0 || at.y + 1 == screen.all.height;
        match self.over {
            Over::Prompt(_) | Over::Nothing => {}
            Over::Page(_) if !is_edge => {}
            Over::Page(_) | Over::Menu(_) => self.over = Over::Nothing,
        }
        Effect::None
    }
}
