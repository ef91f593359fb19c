//! The flame graph: a line for each depth, callers above.

use super::pen::Pen;
use crate::app::App;
use crate::look::Colors;
use crate::screen::{Screen, cells};
use crate::views::boxes::Boxes;
use crate::views::flame::PlacedBox;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use rprof_profile::text::start;
use rprof_query::FlameLabel;

pub(super) fn draw(app: &App, pen: &mut Pen<'_>, screen: &Screen) {
    let Some(boxes) = app.shown.as_ref().and_then(|shown| shown.boxes()) else {
        pen.cut(screen.body, "no samples", app.look.quiet());
        return;
    };
    if let Some(at) = screen.heading {
        let text = "threads at the top, callees below; widths are shares of the samples";
        pen.cut(at, text, app.look.quiet());
    }
    let top = app.flame.top;
    for placed in app.flame.placed(boxes, screen.columns()) {
        let Some(line) = placed
            .depth
            .checked_sub(top)
            .filter(|&line| line < screen.height())
        else {
            continue;
        };
        let at = Rect::new(
            cells(placed.x),
            screen.body.y + cells(line),
            cells(placed.width),
            1,
        );
        draw_box(app, pen, at, (boxes, placed));
    }
    if boxes.len() == 0 {
        pen.cut(
            screen.body,
            "no samples match; ESC goes back",
            app.look.quiet(),
        );
    }
}

fn draw_box(app: &App, pen: &mut Pen<'_>, at: Rect, (boxes, placed): (&Boxes, PlacedBox)) {
    let name = box_name(app, boxes, placed);
    let mut style = match placed.n_narrow {
        0 => style_of(app, boxes, placed),
        _ => app.look.quiet(),
    };
    if placed.n_narrow == 0
        && app
            .found
            .as_ref()
            .is_some_and(|found| found.has(placed.number))
    {
        style = app.look.found();
    }
    if app.flame.selected == placed.number {
        style = match app.look.colors {
            Colors::None => Style::new().add_modifier(Modifier::REVERSED),
            _ => app.look.selected().add_modifier(Modifier::BOLD),
        };
    }
    let width = usize::from(at.width);
    let has_lines = app.look.colors == Colors::None;
    let (edge, fill) = match (has_lines, app.look.has_blocks) {
        _ if placed.n_narrow > 0 && app.look.has_blocks => ("", "\u{2591}"),
        _ if placed.n_narrow > 0 => ("", "."),
        (false, _) => ("", " "),
        (true, true) => ("\u{2502}", "\u{2500}"),
        (true, false) => ("|", "-"),
    };
    let room = width.saturating_sub(1);
    // A few letters tell nothing; the first ones tell more than both ends.
    let name = match room {
        0..3 => "".into(),
        3..12 => start(&name, room),
        _ => pen.fit().cut(&name, room),
    };
    let text = format!("{edge}{name}");
    let fill = fill.repeat(width.saturating_sub(rprof_profile::text::width(&text)));
    pen.text(at, &(text + &fill), style);
}

/// The text in a frame.
pub(crate) fn box_name(app: &App, boxes: &Boxes, placed: PlacedBox) -> String {
    match placed.n_narrow {
        0 | 1 => boxes.name(placed.number, app.explorer.profile()),
        n => format!("{n} more"),
    }
}

/// Neighbours have different shades.
fn style_of(app: &App, boxes: &Boxes, placed: PlacedBox) -> Style {
    let profile = app.explorer.profile();
    match boxes.get(placed.number).map(|one| one.label) {
        Some(FlameLabel::Frame(frame)) => {
            // The same function has the same shade everywhere.
            let shade = frame.number().wrapping_mul(2_654_435_761) >> 16;
            app.look.flame(Some(profile.frames.of(frame)), shade)
        }
        Some(FlameLabel::Comm(comm)) => app.look.flame(None, comm.number()),
        None => Style::new(),
    }
}
