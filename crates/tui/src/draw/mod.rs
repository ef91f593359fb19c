//! Draws the state on the screen.

mod keys;
mod line;
mod over;
pub(crate) mod pen;

pub(crate) use keys::key_at;
pub(crate) use over::menu_place;

use crate::app::{App, Over};
use crate::menu::Menu;
use crate::prompt::Prompt;
use crate::screen::Screen;
use pen::Pen;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

/// Draws as many words as there is room for, in as many lines as there are.
fn draw_words(pen: &mut Pen<'_>, at: Rect, text: &str) {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= at.width.into() => {
                *line += " ";
                *line += word;
            }
            _ => lines.push(word.to_owned()),
        }
    }
    for (y, line) in (at.y..at.bottom()).zip(&lines) {
        let style = pen.look.warning();
        pen.text(Rect::new(at.x, y, at.width, 1), line, style);
    }
}

impl App {
    /// Draws the whole screen.
    pub fn draw(&self, buffer: &mut Buffer) {
        let size = *buffer.area();
        let mut pen = Pen {
            buffer,
            look: self.cx.look,
        };
        let Some(screen) = self.cx.screen() else {
            let (columns, lines) = Screen::MIN;
            let text = format!("too small: needs {columns}x{lines}");
            draw_words(&mut pen, size, &text);
            return;
        };
        match &self.over {
            Over::Page(page) => {
                over::page(&mut pen, screen.all, page);
                if self.message.is_some() || self.awaited.is_some() {
                    self.draw_last(&mut pen, screen.all);
                }
                return;
            }
            Over::Menu(
                menu @ Menu {
                    under: Some(page), ..
                },
            ) => {
                over::page(&mut pen, screen.all, page);
                over::menu(&mut pen, screen.all, menu);
                return;
            }
            Over::Prompt(Prompt {
                under: Some(page), ..
            }) => {
                over::page(&mut pen, screen.all, page);
                self.draw_last(&mut pen, screen.all);
                return;
            }
            _ => {}
        }
        self.draw_tabs(&mut pen, &screen);
        if let Some(what) = screen.what {
            pen.cut(what, &self.cx.what(), self.cx.look.quiet());
        }
        if self.needed().is_some() {
            pen.cut(screen.body, "counting ..", self.cx.look.quiet());
        } else {
            self.view().draw(&self.cx, &mut pen, &screen);
            line::status(self, &mut pen, screen.status);
        }
        if let Some(quality) = screen.quality {
            line::quality(self, &mut pen, quality, screen.keys.is_none());
        }
        if let Some(at) = screen.keys {
            keys::draw(self, &mut pen, at);
        }
        if let Over::Menu(menu) = &self.over {
            over::menu(&mut pen, screen.all, menu);
        }
    }

    /// Draws what is typed, said or awaited instead of the last line of a page.
    fn draw_last(&self, pen: &mut Pen<'_>, all: Rect) {
        let last = Rect::new(0, all.height - 1, all.width, 1);
        pen.text(last, &" ".repeat(last.width.into()), Style::new());
        line::status(self, pen, last);
    }

    fn draw_tabs(&self, pen: &mut Pen<'_>, screen: &Screen) {
        let mut end = 0;
        let names = self.view_names();
        for (number, (name, rect)) in (1..).zip(names.iter().zip(screen.tabs(&names))) {
            let text = match rect.width {
                3 => format!(" {number} "),
                _ => format!(" {number} {name} "),
            };
            let style = if *name == self.view().name() {
                self.cx.look.selected()
            } else {
                self.cx.look.heading()
            };
            pen.text(rect, &text, style);
            end = rect.right();
        }
        let rest = Rect::new(end, 0, screen.all.width.saturating_sub(end), 1);
        let title = if self.is_paused {
            format!("paused: {}", self.title)
        } else {
            self.title.clone()
        };
        let title = rprof_untrusted::printable(&title);
        if rest.width > 12 {
            pen.right(rest, &title, self.cx.look.quiet());
        }
    }
}
