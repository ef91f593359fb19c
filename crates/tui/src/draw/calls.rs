//! The call tree: percentages, a bar, names further to the right the deeper they are.

use super::pen::Pen;
use super::table::{PERCENT, indent, percentage};
use crate::app::App;
use crate::screen::Screen;
use crate::views::boxes::Boxes;
use crate::views::calls::CallLine;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use rprof_profile::text::at_right;

pub(super) fn draw(app: &App, pen: &mut Pen<'_>, screen: &Screen) {
    let Some(boxes) = app.shown.as_ref().and_then(|shown| shown.boxes()) else {
        pen.cut(screen.body, "no samples", app.look.quiet());
        return;
    };
    if let Some(at) = screen.heading {
        let text = at_right("Total", PERCENT.into()) + &at_right("Self", PERCENT.into());
        pen.text(at, &text, app.look.heading());
        let place = Rect::new(names(at.width), at.y, at.width, 1).intersection(at);
        pen.text(place, "Thread and its callees", app.look.heading());
    }
    let lines = app.calls.lines.iter().enumerate();
    let lines = lines.skip(app.calls.cursor.top).take(screen.height());
    for (y, (number, line)) in (screen.body.y..).zip(lines) {
        let at = Rect::new(0, y, screen.body.width, 1);
        draw_line(app, pen, at, (boxes, *line));
        if number == app.calls.cursor.at {
            pen.fill(at, app.look.selected());
        }
    }
    if app.calls.lines.is_empty() {
        pen.cut(
            screen.body,
            "no samples match; ESC goes back",
            app.look.quiet(),
        );
    }
}

/// Columns of the bar.
fn bar(columns: u16) -> u16 {
    match columns {
        0..50 => 0,
        50..110 => 8,
        _ => 20,
    }
}

/// Where names begin.
fn names(columns: u16) -> u16 {
    let own = if columns >= 40 { PERCENT } else { 0 };
    let bar = bar(columns);
    PERCENT + own + if bar > 0 { bar + 2 } else { 0 } + 1
}

fn draw_line(app: &App, pen: &mut Pen<'_>, at: Rect, (boxes, line): (&Boxes, CallLine)) {
    let (Some(shown), Some(one)) = (&app.shown, boxes.get(line.number)) else {
        return;
    };
    let share = |weight| shown.share(weight, app.is_relative);
    let (total, own) = (share(one.width), share(one.own));
    percentage(pen, Rect::new(0, at.y, PERCENT, 1), total);
    if at.width >= 40 {
        percentage(pen, Rect::new(PERCENT, at.y, PERCENT, 1), own);
    }
    let heaviest = boxes
        .children(None)
        .first()
        .and_then(|&first| boxes.get(first));
    let whole = heaviest.map_or(0, |heaviest| heaviest.width);
    let place = Rect::new(2 * PERCENT + 1, at.y, bar(at.width), 1);
    pen.bar(place, (one.own, one.width), whole);
    let x = names(at.width) + indent(line.depth, at.width);
    let sign = match (
        boxes.children(Some(line.number)).is_empty(),
        app.calls.is_open(line.number),
    ) {
        (true, _) => " ",
        (false, true) => "-",
        (false, false) => "+",
    };
    pen.text(
        Rect::new(x, at.y, 1, 1).intersection(at),
        sign,
        app.look.quiet(),
    );
    let profile = app.explorer.profile();
    let mut name = boxes.name(line.number, profile);
    let frame = boxes.frame(line.number);
    if let Some(frame) = frame.filter(|_| app.has_dsos) {
        name += &format!("  {}", profile.strings.of(profile.frames.of(frame).image));
    }
    let is_found = app
        .found
        .as_ref()
        .is_some_and(|found| found.has(line.number));
    let style = match (is_found, frame) {
        (true, _) => app.look.found(),
        (false, None) => app.look.heading(),
        (false, Some(_)) => Style::new(),
    };
    let place = Rect::new(x + 2, at.y, at.width, 1).intersection(at);
    pen.cut(place, &name, style);
}
