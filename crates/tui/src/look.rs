//! What a terminal can show, and how things look on it.

use ratatui_core::style::{Color, Modifier, Style};
use rprof_profile::{FrameInfo, Level};
use rprof_scheduling::Cause;

/// How many colours a terminal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colors {
    /// None: bold, dim and reversed alone.
    None,
    /// Those that all terminals with colours have.
    Sixteen,
    /// 256 or more.
    Many,
}

/// What a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Colours.
    pub colors: Colors,
    /// Whether it has lines and blocks, and not ASCII alone.
    pub has_blocks: bool,
}

impl Look {
    fn colored(self, sixteen: Style, many: Style, none: Style) -> Style {
        match self.colors {
            Colors::None => none,
            Colors::Sixteen => sixteen,
            Colors::Many => many,
        }
    }

    /// Names of views, headings.
    pub(crate) fn heading(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What is seldom read.
    pub(crate) fn quiet(self) -> Style {
        let dim = Style::new().add_modifier(Modifier::DIM);
        self.colored(dim, Style::new().fg(Color::Indexed(245)), dim)
    }

    /// The line, box or tab that is selected.
    pub(crate) fn selected(self) -> Style {
        let many = Style::new().bg(Color::Indexed(238)).fg(Color::Indexed(255));
        let reversed = Style::new().add_modifier(Modifier::REVERSED);
        self.colored(reversed, many.add_modifier(Modifier::BOLD), reversed)
    }

    /// What something is wrong with.
    pub(crate) fn warning(self) -> Style {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        self.colored(bold.fg(Color::Yellow), bold.fg(Color::Indexed(215)), bold)
    }

    /// What a search has found.
    pub(crate) fn found(self) -> Style {
        let marked = Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        let many = Style::new().bg(Color::Indexed(141)).fg(Color::Indexed(16));
        let sixteen = Style::new().bg(Color::Magenta).fg(Color::White);
        self.colored(
            sixteen.add_modifier(Modifier::BOLD),
            many.add_modifier(Modifier::BOLD),
            marked,
        )
    }

    /// A percentage: perf's colours, from 5 % on red, from 0.5 % on green.
    pub(crate) fn percent(self, percent: f64) -> Style {
        let colored = |sixteen, many| {
            self.colored(
                Style::new().fg(sixteen),
                Style::new().fg(Color::Indexed(many)),
                Style::new(),
            )
        };
        match percent {
            5.0.. => colored(Color::Red, 203),
            0.5.. => colored(Color::Green, 114),
            _ => self.quiet(),
        }
    }

    /// The part of a bar that is a function's own.
    pub(crate) fn own_bar(self) -> Style {
        let color = |color| Style::new().fg(color);
        self.colored(
            color(Color::Yellow),
            color(Color::Indexed(215)),
            Style::new(),
        )
    }

    /// The part of it that is of what it called.
    pub(crate) fn children_bar(self) -> Style {
        let color = |color| Style::new().fg(color);
        let dim = Style::new().add_modifier(Modifier::DIM);
        self.colored(color(Color::Blue), color(Color::Indexed(67)), dim)
    }

    /// A box of a flame graph, by what runs there; neighbours are told apart by `shade`.
    pub(crate) fn flame(self, frame: Option<&FrameInfo>, shade: u32) -> Style {
        let (sixteen, many): (Color, [u8; 4]) = match frame {
            None => (Color::White, [250, 252, 249, 251]),
            Some(frame) if frame.level != Level::User => (Color::Red, [209, 173, 215, 179]),
            Some(frame) if frame.is_inlined => (Color::Cyan, [116, 152, 115, 151]),
            Some(frame) if frame.is_jit => (Color::Green, [114, 150, 113, 149]),
            Some(_) => (Color::Yellow, [222, 186, 223, 187]),
        };
        let many = many
            .into_iter()
            .cycle()
            .nth(shade as usize % 4)
            .unwrap_or(222);
        let on = |color| Style::new().bg(color).fg(Color::Black);
        let many = Style::new().bg(Color::Indexed(many)).fg(Color::Indexed(16));
        self.colored(on(sixteen), many, Style::new())
    }

    /// A part of a lane in which the thread runs, beside waits.
    pub(crate) fn runs(self) -> Style {
        let color = |color| Style::new().fg(color);
        let many = color(Color::Indexed(indexed(Cause::Running.color())));
        self.colored(color(Color::Green), many, Style::new())
    }

    /// What a thread waits for.
    pub(crate) fn wait(self, cause: Cause) -> Style {
        let sixteen = match cause {
            Cause::Runnable => Style::new().bg(Color::Magenta).fg(Color::Black),
            _ => Style::new().bg(Color::Blue).fg(Color::White),
        };
        let many = Color::Indexed(indexed(cause.color()));
        let many = Style::new().bg(many).fg(Color::Indexed(16));
        self.colored(sixteen, many, Style::new())
    }

    /// A part of a lane.
    pub(crate) fn lane(self) -> Style {
        let color = |color| Style::new().fg(color);
        self.colored(color(Color::Cyan), color(Color::Indexed(110)), Style::new())
    }

    /// A time that is being selected.
    pub(crate) fn brush(self) -> Style {
        let many = Style::new().bg(Color::Indexed(238));
        let reversed = Style::new().add_modifier(Modifier::REVERSED);
        self.colored(reversed, many, reversed)
    }

    /// What stands for what is cut out of a text.
    pub(crate) fn ellipsis(self) -> &'static str {
        if self.has_blocks { "\u{2026}" } else { ".." }
    }
}

/// The number of a colour of the cube of 6 x 6 x 6 that terminals have: its parts are 0, 95, 135 .. 255.
fn indexed(color: [u8; 3]) -> u8 {
    let step = |part: u8| part.saturating_sub(55) / 40;
    let [red, green, blue] = color.map(step);
    16 + 36 * red + 6 * green + blue
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_have_the_numbers_of_terminals() {
        assert_eq!(indexed([0, 0, 0]), 16);
        assert_eq!(indexed([0x5f, 0xaf, 0xff]), 75);
        assert_eq!(indexed([255, 255, 255]), 231);
    }
}
