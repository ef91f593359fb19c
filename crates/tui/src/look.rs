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

/// What text stands on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// Black, or nearly: what is assumed until the terminal says otherwise.
    #[default]
    Dark,
    /// White, or nearly.
    Light,
}

impl Background {
    /// What a colour is: red, green, blue.
    pub(crate) fn of(color: [u8; 3]) -> Self {
        let [red, green, blue] = color.map(u32::from);
        // How bright it looks, of 255,000 (ITU-R BT.601).
        match 299 * red + 587 * green + 114 * blue {
            128_000.. => Self::Light,
            _ => Self::Dark,
        }
    }
}

/// What a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Colours.
    pub colors: Colors,
    /// What they are seen on.
    pub background: Background,
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

    /// One of two, by the background.
    fn on<T>(self, dark: T, light: T) -> T {
        match self.background {
            Background::Dark => dark,
            Background::Light => light,
        }
    }

    /// A text in a colour, with the numbers of 256 colours.
    fn text(self, sixteen: (Color, Color), many: (u8, u8), none: Style) -> Style {
        let sixteen = self.on(sixteen.0, sixteen.1);
        let many = self.on(many.0, many.1);
        self.colored(
            Style::new().fg(sixteen),
            Style::new().fg(Color::Indexed(many)),
            none,
        )
    }

    /// Names of views, headings.
    pub(crate) fn heading(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What is seldom read.
    pub(crate) fn quiet(self) -> Style {
        let dim = Style::new().add_modifier(Modifier::DIM);
        let many = Color::Indexed(self.on(248, 241));
        self.colored(dim, Style::new().fg(many), dim)
    }

    /// The line, box or tab that is selected.
    pub(crate) fn selected(self) -> Style {
        let (back, front) = self.on((238, 255), (252, 16));
        let many = Style::new().bg(Color::Indexed(back));
        let many = many.fg(Color::Indexed(front));
        let reversed = Style::new().add_modifier(Modifier::REVERSED);
        self.colored(reversed, many.add_modifier(Modifier::BOLD), reversed)
    }

    /// What something is wrong with.
    pub(crate) fn warning(self) -> Style {
        self.text((Color::Yellow, Color::Red), (215, 94), Style::new())
            .add_modifier(Modifier::BOLD)
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
        match percent {
            5.0.. => self.text((Color::Red, Color::Red), (203, 124), Style::new()),
            0.5.. => self.text((Color::Green, Color::Blue), (114, 22), Style::new()),
            _ => self.quiet(),
        }
    }

    /// The part of a bar that is a function's own.
    pub(crate) fn own_bar(self) -> Style {
        self.text((Color::Yellow, Color::Magenta), (215, 94), Style::new())
    }

    /// The part of it that is of what it called.
    pub(crate) fn children_bar(self) -> Style {
        let dim = Style::new().add_modifier(Modifier::DIM);
        self.text((Color::Blue, Color::Blue), (74, 25), dim)
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
        let many = (indexed(Cause::Running.color()), 22);
        self.text((Color::Green, Color::Blue), many, Style::new())
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
        self.text((Color::Cyan, Color::Blue), (110, 25), Style::new())
    }

    /// A time that is being selected.
    pub(crate) fn brush(self) -> Style {
        let many = Style::new().bg(Color::Indexed(self.on(236, 254)));
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

    /// Red, green and blue of one of 256 colours, but for the first 16, which are the user's.
    fn rgb(number: u8) -> [u8; 3] {
        match number {
            0..16 => panic!("{number} is the user's"),
            16..232 => {
                let steps = [0, 95, 135, 175, 215, 255];
                let number = usize::from(number) - 16;
                [number / 36, number / 6 % 6, number % 6].map(|at| steps[at])
            }
            232.. => [8 + 10 * (number - 232); 3],
        }
    }

    /// As WCAG 2.2 has it: from 1 to 21.
    fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
        let luminance = |color: [u8; 3]| {
            let [red, green, blue] = color.map(|part| match f64::from(part) / 255.0 {
                part if part <= 0.04045 => part / 12.92,
                part => ((part + 0.055) / 1.055).powf(2.4),
            });
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
        one.max(other) / one.min(other)
    }

    /// What people use: black, what editors and distributions have; white, paper.
    const DARK: &[[u8; 3]] = &[[0; 3], [0x1e; 3], [0x28, 0x2c, 0x34], [0x30, 0x0a, 0x24]];
    const LIGHT: &[[u8; 3]] = &[[255; 3], [0xfd, 0xf6, 0xe3], [0xee; 3]];

    fn look(colors: Colors, background: Background) -> Look {
        Look {
            colors,
            background,
            has_blocks: true,
        }
    }

    /// All styles of texts and bars.
    fn styles(look: Look) -> Vec<Style> {
        let mut styles = vec![
            look.heading(),
            look.quiet(),
            look.selected(),
            look.warning(),
            look.found(),
            look.percent(50.0),
            look.percent(1.0),
            look.percent(0.1),
            look.own_bar(),
            look.children_bar(),
            look.runs(),
            look.lane(),
            look.brush().patch(look.quiet()),
        ];
        styles.extend(Cause::ALL.iter().map(|&cause| look.wait(cause)));
        styles.extend((0..4).map(|shade| look.flame(None, shade)));
        styles
    }

    #[test]
    fn texts_can_be_read_on_dark_and_on_light() {
        for (background, colors) in [(Background::Dark, DARK), (Background::Light, LIGHT)] {
            for (style, behind) in styles(look(Colors::Many, background))
                .iter()
                .flat_map(|style| colors.iter().map(move |behind| (style, behind)))
            {
                let of = |color: Option<Color>, default: [u8; 3]| match color {
                    Some(Color::Indexed(number)) => rgb(number),
                    Some(other) => panic!("{other} is the user's"),
                    None => default,
                };
                // What has no colour has the user's, on the user's background.
                let Some(front) = style.fg else {
                    continue;
                };
                let contrast = contrast(of(Some(front), *behind), of(style.bg, *behind));
                assert!(contrast >= 4.5, "{contrast}: {style:?} on {behind:?}");
            }
            assert!(
                colors
                    .iter()
                    .all(|&color| Background::of(color) == background)
            );
        }
    }

    #[test]
    fn sixteen_colours_are_the_users_and_none_are_none() {
        for background in [Background::Dark, Background::Light] {
            for style in styles(look(Colors::Sixteen, background)) {
                let colors = [style.fg, style.bg].into_iter().flatten();
                for color in colors {
                    assert!(
                        !matches!(color, Color::Indexed(_) | Color::Rgb(..)),
                        "{style:?}"
                    );
                }
                // White and yellow letters cannot be seen on white.
                let is_pale = matches!(style.fg, Some(Color::White | Color::Yellow | Color::Green));
                assert!(
                    background == Background::Dark || !is_pale || style.bg.is_some(),
                    "{style:?}"
                );
            }
            for style in styles(look(Colors::None, background)) {
                assert_eq!((style.fg, style.bg), (None, None));
            }
        }
    }

    #[test]
    fn colors_have_the_numbers_of_terminals() {
        assert_eq!(indexed([0, 0, 0]), 16);
        assert_eq!(indexed([0x5f, 0xaf, 0xff]), 75);
        assert_eq!(indexed([255, 255, 255]), 231);
    }
}
