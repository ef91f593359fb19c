//! What clicks do.

use super::{App, Effect, Over};
use crate::cursor::Step;
use crate::screen::Screen;
use crate::views::ViewKind;
use ratatui_core::layout::Position;
use ratatui_crossterm::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

/// Lines that the wheel moves.
const WHEEL: usize = 3;

impl App {
    pub(super) fn mouse(&mut self, mouse: MouseEvent) -> Effect {
        let at = Position::new(mouse.column, mouse.row);
        let Some(screen) = self.screen() else {
            return Effect::None;
        };
        match mouse.kind {
            MouseEventKind::ScrollDown => self.wheel(Step::Down),
            MouseEventKind::ScrollUp => self.wheel(Step::Up),
            MouseEventKind::Down(MouseButton::Left) => return self.click(at, screen),
            MouseEventKind::Drag(MouseButton::Left) => self.drag(at, screen),
            _ => {}
        }
        Effect::None
    }

    fn wheel(&mut self, step: Step) {
        let height = self.page_height();
        for _ in 0..WHEEL {
            match &mut self.over {
                Over::Page(page) => page.step(step, height),
                Over::Menu(menu) => menu.step(step),
                Over::Prompt(_) => {}
                Over::Nothing => drop(self.command(crate::keys::Command::Step(step))),
            }
        }
    }

    /// Selects what is there; if it is already selected, opens it.
    fn click(&mut self, at: Position, screen: Screen) -> Effect {
        self.message = None;
        if self.over != Over::Nothing {
            return self.click_over(at, screen);
        }
        if let Some(view) = screen.tab_at(at) {
            self.view = view;
            return Effect::None;
        }
        if !screen.body.contains(at) {
            return Effect::None;
        }
        let line = usize::from(at.y - screen.body.y);
        match self.view {
            ViewKind::Rows => {
                let line = self.table.cursor.top + line;
                let n = self.table.lines.len();
                if line == self.table.cursor.at {
                    self.open();
                } else if line < n {
                    self.table.cursor.go(line, n, screen.height());
                }
            }
            ViewKind::Calls => {
                let line = self.calls.cursor.top + line;
                let n = self.calls.lines.len();
                if line == self.calls.cursor.at {
                    self.open();
                } else if line < n {
                    self.calls.cursor.go(line, n, screen.height());
                }
            }
            ViewKind::Flame => self.click_box(line, usize::from(at.x)),
            ViewKind::Threads => self.click_lane(line, usize::from(at.x), screen),
        }
        Effect::None
    }

    fn click_box(&mut self, line: usize, column: usize) {
        let columns = self.columns();
        let Some(boxes) = self.shown.as_ref().and_then(|shown| shown.boxes()) else {
            return;
        };
        let depth = self.flame.top + line;
        let placed = self.flame.placed(boxes, columns);
        let is_there = |one: &&crate::views::flame::PlacedBox| {
            one.depth == depth && (one.x..one.x + one.width).contains(&column)
        };
        let Some(number) = placed.iter().find(is_there).map(|one| one.number) else {
            return;
        };
        if number == self.flame.selected {
            self.open();
        } else {
            self.flame.selected = number;
        }
    }

    fn click_lane(&mut self, line: usize, column: usize, screen: Screen) {
        let lanes = self.shown.as_ref().and_then(|shown| shown.lanes());
        let n = lanes.map_or(0, |lanes| lanes.lanes.len());
        let lane = screen.lane();
        let before = self.lanes;
        if let Some(slot) = column.checked_sub(lane.names) {
            self.lanes.slot = slot.min(lane.slots.saturating_sub(1));
            self.lanes.mark = None;
        }
        // The first line is the time.
        if let Some(line) = line.checked_sub(1) {
            let line = (self.lanes.cursor.top + line).min(n.saturating_sub(1));
            self.lanes
                .cursor
                .go(line, n, screen.height().saturating_sub(1));
        }
        // The same thread and time: as ENTER.
        if self.lanes == before && column >= lane.names {
            self.open();
        }
    }

    /// Marks a time.
    fn drag(&mut self, at: Position, screen: Screen) {
        let lane = screen.lane();
        if self.view != ViewKind::Threads || self.over != Over::Nothing {
            return;
        }
        if let Some(slot) = usize::from(at.x).checked_sub(lane.names) {
            let start = self.lanes.mark.unwrap_or(self.lanes.slot);
            self.lanes.mark = Some(start);
            self.lanes.slot = slot.min(lane.slots.saturating_sub(1));
        }
    }

    /// Chooses in a menu; beside it, closes it.
    fn click_over(&mut self, at: Position, screen: Screen) -> Effect {
        if let Over::Menu(menu) = &mut self.over {
            let place = crate::draw::menu_place(menu, screen.all);
            if place.contains(at) {
                let line = usize::from(at.y - place.y);
                if let Some(line) = line
                    .checked_sub(1)
                    .filter(|&line| line < menu.choices.len())
                {
                    menu.cursor.at = line;
                    let chosen = menu.chosen();
                    self.over = Over::Nothing;
                    return chosen.map_or(Effect::None, |command| self.command(command));
                }
                return Effect::None;
            }
        }
        if !matches!(self.over, Over::Prompt(_)) {
            self.over = Over::Nothing;
        }
        Effect::None
    }
}
