//! The flame graph: a line for each depth, callers above.

use super::FlameView;
use super::placed::PlacedBox;
use crate::draw::pen::Pen;
use crate::look::Colors;
use crate::screen::{Screen, cells};
use crate::views::boxes::Boxes;
use crate::views::context::Context;
use crate::views::waits::{cause_named, heaviest_first, legend};
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use rprof_profile::text::start;
use rprof_query::FlameLabel;

/// The graph on a screen.
struct Drawn<'a> {
    view: &'a FlameView,
    cx: &'a Context,
    boxes: &'a Boxes,
}

pub(super) fn draw(view: &FlameView, cx: &Context, pen: &mut Pen<'_>, screen: &Screen) {
    let Some(boxes) = cx.boxes() else {
        pen.cut(screen.body, "no samples", cx.look.quiet());
        return;
    };
    if let Some(at) = screen.heading {
        draw_heading(cx, boxes, pen, at);
    }
    let drawn = Drawn { view, cx, boxes };
    for placed in view.placed(boxes, screen.columns()) {
        let line = placed.depth.checked_sub(view.top);
        if let Some(line) = line.filter(|&line| line < screen.height()) {
            let y = screen.body.y + cells(line);
            let at = Rect::new(cells(placed.x), y, cells(placed.width), 1);
            drawn.place(pen, at, placed);
        }
    }
    if boxes.len() == 0 {
        let text = "no samples match; ESC goes back";
        pen.cut(screen.body, text, cx.look.quiet());
    }
}

/// What the graph is; or, if threads wait, which colours are what they wait for.
fn draw_heading(cx: &Context, boxes: &Boxes, pen: &mut Pen<'_>, at: Rect) {
    let waits = boxes.layout.boxes.iter().filter_map(|one| match one.label {
        FlameLabel::Wait(cause) => Some((cause_named(cx.profile(), cause), one.width)),
        FlameLabel::Comm(_) | FlameLabel::Frame(_) => None,
    });
    let waits = heaviest_first(waits);
    let text = if waits.is_empty() {
        "threads at the top, callees below; widths are shares of the samples"
    } else {
        "wait causes: "
    };
    let end = pen.cut(at, text, cx.look.quiet());
    let rest = Rect::new(end, at.y, at.right().saturating_sub(end), 1);
    legend(pen, rest, &waits, false);
}

impl Drawn<'_> {
    fn place(&self, pen: &mut Pen<'_>, at: Rect, placed: PlacedBox) {
        let look = self.cx.look;
        let (is_narrow, has_lines) = (placed.n_narrow > 0, look.colors == Colors::None);
        let (edge, fill) = match (has_lines, look.has_blocks) {
            (_, true) if is_narrow => ("", "\u{2591}"),
            (_, false) if is_narrow => ("", "."),
            (false, _) => ("", " "),
            (true, true) => ("\u{2502}", "\u{2500}"),
            (true, false) => ("|", "-"),
        };
        let name = match placed.n_narrow {
            0 | 1 => self.boxes.name(placed.number, self.cx.profile()),
            n => format!("{n} more"),
        };
        let width = usize::from(at.width);
        let room = width.saturating_sub(1);
        // A few letters tell nothing; the first ones tell more than both ends.
        let name = match room {
            0..3 => "".into(),
            3..12 => start(&name, room),
            _ => pen.fit().cut(&name, room),
        };
        let text = format!("{edge}{name}");
        let fill = fill.repeat(width.saturating_sub(rprof_profile::text::width(&text)));
        pen.text(at, &(text + &fill), self.style(placed));
    }

    fn style(&self, placed: PlacedBox) -> Style {
        let look = self.cx.look;
        let found = self.cx.found.as_ref();
        match placed.n_narrow {
            _ if self.view.selected == placed.number => match look.colors {
                Colors::None => Style::new().add_modifier(Modifier::REVERSED),
                _ => look.selected().add_modifier(Modifier::BOLD),
            },
            0 if found.is_some_and(|found| found.has(placed.number)) => look.found(),
            0 => self.shade(placed.number),
            _ => look.quiet(),
        }
    }

    /// Neighbours have different shades.
    fn shade(&self, number: u32) -> Style {
        let look = self.cx.look;
        match self.boxes.get(number).map(|one| one.label) {
            Some(FlameLabel::Frame(frame)) => {
                // The same function has the same shade everywhere.
                let shade = frame.number().wrapping_mul(2_654_435_761) >> 16;
                look.flame(Some(self.cx.profile().frames.of(frame)), shade)
            }
            Some(FlameLabel::Comm(comm)) => look.flame(None, comm.number()),
            Some(FlameLabel::Wait(cause)) => look.wait(cause_named(self.cx.profile(), cause)),
            None => Style::new(),
        }
    }
}
