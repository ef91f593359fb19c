//! The call tree: percentages, a bar, names further to the right the deeper they are.

use super::{CallLine, CallsView};
use crate::draw::pen::Pen;
use crate::screen::Screen;
use crate::views::boxes::Boxes;
use crate::views::context::Context;
use crate::views::table::{PERCENT, bar_width, indent, percentage, tree_sign};
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use rprof_profile::text::at_right;

/// The tree on a screen.
struct Drawn<'a> {
    view: &'a CallsView,
    cx: &'a Context,
    boxes: &'a Boxes,
}

pub(super) fn draw(view: &CallsView, cx: &Context, pen: &mut Pen<'_>, screen: &Screen) {
    let Some(boxes) = cx.boxes() else {
        pen.cut(screen.body, "no samples", cx.look.quiet());
        return;
    };
    if let Some(at) = screen.heading {
        let text = at_right("Total", PERCENT.into()) + &at_right("Self", PERCENT.into());
        pen.text(at, &text, cx.look.heading());
        let place = Rect::new(names(at.width), at.y, at.width, 1).intersection(at);
        pen.text(place, "Thread and its callees", cx.look.heading());
    }
    let drawn = Drawn { view, cx, boxes };
    let lines = view.lines.iter().enumerate();
    let lines = lines.skip(view.cursor.top).take(screen.height());
    for (y, (number, line)) in (screen.body.y..).zip(lines) {
        let at = Rect::new(0, y, screen.body.width, 1);
        drawn.line(pen, at, *line);
        if number == view.cursor.at {
            pen.fill(at, cx.look.selected());
        }
    }
    if view.lines.is_empty() {
        let text = "no samples match; ESC goes back";
        pen.cut(screen.body, text, cx.look.quiet());
    }
}

/// Where names begin.
fn names(columns: u16) -> u16 {
    let own = if columns >= 40 { PERCENT } else { 0 };
    let bar = bar_width(columns);
    PERCENT + own + if bar > 0 { bar + 2 } else { 0 } + 1
}

impl Drawn<'_> {
    fn line(&self, pen: &mut Pen<'_>, at: Rect, line: CallLine) {
        let Self { view, cx, boxes } = self;
        let Some(one) = boxes.get(line.number) else {
            return;
        };
        percentage(pen, Rect::new(0, at.y, PERCENT, 1), cx.share(one.width));
        if at.width >= 40 {
            let place = Rect::new(PERCENT, at.y, PERCENT, 1);
            percentage(pen, place, cx.share(one.own));
        }
        let heaviest = boxes.children(None).first();
        let heaviest = heaviest.and_then(|&first| boxes.get(first));
        let whole = heaviest.map_or(0, |heaviest| heaviest.width);
        let place = Rect::new(2 * PERCENT + 1, at.y, bar_width(at.width), 1);
        pen.bar(place, one.own, one.width, whole);
        let x = names(at.width) + indent(line.depth, at.width);
        let has_children = !boxes.children(Some(line.number)).is_empty();
        let sign = tree_sign(has_children, view.is_open(line.number));
        let place = Rect::new(x, at.y, 1, 1).intersection(at);
        pen.text(place, sign, cx.look.quiet());
        let frame = boxes.frame(line.number);
        let name = match frame.filter(|_| cx.has_dsos) {
            Some(frame) => cx.frame_in_image(frame),
            None => boxes.name(line.number, cx.profile()),
        };
        let found = cx.found.as_ref();
        let style = match frame {
            _ if found.is_some_and(|found| found.has(line.number)) => cx.look.found(),
            None => cx.look.heading(),
            Some(_) => Style::new(),
        };
        let place = Rect::new(x + 2, at.y, at.width, 1).intersection(at);
        pen.cut(place, &name, style);
    }
}
