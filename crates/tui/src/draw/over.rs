//! Pages and menus.

use super::pen::Pen;
use crate::menu::Menu;
use crate::page::{Page, PageKind};
use crate::screen::cells;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use rprof_profile::text::width;
use rprof_untrusted::printable;
use std::borrow::Cow;

/// Draws a page on the whole screen.
pub(super) fn page(pen: &mut Pen<'_>, all: Rect, page: &Page) {
    let look = pen.look;
    let height = usize::from(all.height).saturating_sub(2);
    pen.cut(
        Rect { height: 1, ..all },
        &format!(" {}", page.title),
        look.heading(),
    );
    let lines = page.lines.iter().enumerate().skip(page.top).take(height);
    for (y, (number, line)) in (1..).zip(lines) {
        let at = Rect::new(0, y, all.width, 1);
        let text = plain(&line.text);
        let shown: Cow<'_, str> = match page.left {
            0 => text.into(),
            left => text.chars().skip(left).collect::<String>().into(),
        };
        let mut style = line
            .percent
            .map_or_else(Style::new, |percent| look.percent(percent));
        if page.is_match(number) {
            style = style.add_modifier(Modifier::UNDERLINED);
        }
        pen.text(at, &shown, style);
        if page.marked() == Some(number) {
            pen.fill(at, look.selected());
        }
    }
    let last = (page.top + height).min(page.lines.len());
    let keys = match page.kind {
        PageKind::Code if page.has_choice => {
            "H: next hottest line, ENTER: follow, o: inlined into .., /: search, ESC: back"
        }
        PageKind::Code => "H: next hottest line, ENTER: follow, /: search, ESC: back",
        PageKind::Keys | PageKind::Text => "/: search, ESC: back",
    };
    let lines = page.hottest_line.as_ref();
    let lines = lines.map_or_else(String::new, |line| {
        format!("; HOME: all lines, first {line}")
    });
    let what = match page.search_text() {
        Some(search) => format!("{search} (n N: next, previous; ESC: end the search)"),
        None => format!("{keys}{lines}"),
    };
    let text = format!(
        " {} to {last} of {}; {what}",
        page.top + 1,
        page.lines.len()
    );
    pen.cut(
        Rect::new(0, all.height - 1, all.width, 1),
        &text,
        look.quiet(),
    );
}

/// A line without tabs and terminal control characters.
fn plain(line: &str) -> String {
    printable(&line.replace('\t', "        ")).into_owned()
}

/// The place of a menu: where it was opened, as far as there is room, else in the middle.
pub(crate) fn menu_place(menu: &Menu, all: Rect) -> Rect {
    let texts = menu.choices.iter().map(|choice| width(&choice.text) + 4);
    let widest = texts.chain([width(&menu.title) + 1]).max().unwrap_or(0) + 2;
    let (columns, lines) = (cells(widest).min(all.width), cells(menu.choices.len() + 2));
    let lines = lines.min(all.height);
    let (right, below) = (all.width - columns, all.height - lines);
    match menu.at {
        Some(at) => Rect::new(at.x.min(right), at.y.min(below), columns, lines),
        None => Rect::new(right / 2, below / 2, columns, lines),
    }
}

/// Draws a menu in front of the view.
pub(super) fn menu(pen: &mut Pen<'_>, all: Rect, menu: &Menu) {
    let look = pen.look;
    let place = menu_place(menu, all);
    let inner = usize::from(place.width).saturating_sub(2);
    let signs = if look.has_blocks {
        [
            "\u{256d}", "\u{2500}", "\u{256e}", "\u{2502}", "\u{2570}", "\u{256f}",
        ]
    } else {
        ["+", "-", "+", "|", "+", "+"]
    };
    let [first, line, second, side, third, fourth] = signs;
    let title = pen
        .fit()
        .cut(&menu.title, inner.saturating_sub(1))
        .into_owned();
    let rest = line.repeat(inner.saturating_sub(width(&title)));
    let bottom = format!("{third}{}{fourth}", line.repeat(inner));
    let row = |y: u16| Rect::new(place.x, place.y + y, place.width, 1).intersection(place);
    pen.text(
        row(0),
        &format!("{first}{title}{rest}{second}"),
        look.heading(),
    );
    let n_lines = usize::from(place.height).saturating_sub(2);
    let top = (menu.cursor.at + 1).saturating_sub(n_lines.max(1));
    let shown = menu.choices.iter().enumerate().skip(top).take(n_lines);
    for (y, (number, choice)) in (1..).zip(shown) {
        let text = format!(" {}  {}", choice.key, choice.text);
        let text = pen.fit().cut(&text, inner).into_owned();
        let fill = " ".repeat(inner.saturating_sub(width(&text)));
        pen.text(row(y), &format!("{side}{text}{fill}{side}"), Style::new());
        if number == menu.cursor.at {
            let line = row(y);
            pen.fill(
                Rect::new(line.x + 1, line.y, cells(inner), 1),
                look.selected(),
            );
        }
    }
    if place.height >= 2 {
        pen.text(row(place.height - 1), &bottom, Style::new());
    }
}
