//! The bar of keys at the bottom: what can be done here.

use super::pen::Pen;
use crate::app::{App, Over};
use crate::keys::{KeyHint, hint, letter};
use crate::screen::cells;
use ratatui_core::layout::{Position, Rect};
use ratatui_crossterm::crossterm::event::KeyCode;
use rprof_profile::text::width;

/// The key that shows all others; it is always there.
const HELP: KeyHint = letter('?', "keys");

/// The keys of what is shown, the most useful first.
fn hints(app: &App) -> Vec<KeyHint> {
    match &app.over {
        Over::Prompt(_) => vec![hint(KeyCode::Enter, "done"), hint(KeyCode::Esc, "cancel")],
        Over::Menu(_) => vec![hint(KeyCode::Enter, "choose"), hint(KeyCode::Esc, "close")],
        Over::Page(_) => Vec::new(),
        Over::Nothing => {
            let mut hints = app.view().keys(&app.cx);
            if !app.cx.zooms.is_empty() {
                hints.insert(1.min(hints.len()), letter('u', "zoom out"));
            }
            hints.extend([letter('m', "menu"), letter('q', "quit")]);
            hints
        }
    }
}

/// Those that fit, with their places.
fn placed(app: &App, at: Rect) -> Vec<(KeyHint, Rect)> {
    let wide = |one: &KeyHint| cells(width(&one.name()) + width(one.does) + 3);
    let all = hints(app);
    let is_prompt = matches!(app.over, Over::Prompt(_) | Over::Menu(_));
    let help = (!is_prompt).then_some(HELP);
    let mut room = at.width.saturating_sub(help.as_ref().map_or(0, wide));
    let mut x = at.x;
    let mut placed = Vec::new();
    for one in all {
        if wide(&one) > room {
            break;
        }
        placed.push((one, Rect::new(x, at.y, wide(&one), 1)));
        x += wide(&one);
        room -= wide(&one);
    }
    placed.extend(help.map(|one| (one, Rect::new(x, at.y, wide(&one), 1).intersection(at))));
    placed
}

/// Draws the bar.
pub(super) fn draw(app: &App, pen: &mut Pen<'_>, at: Rect) {
    let look = app.cx.look;
    for (one, place) in placed(app, at) {
        let end = pen.text(place, &format!(" {}", one.name()), look.heading());
        let rest = Rect::new(end, place.y, place.right().saturating_sub(end), 1);
        pen.text(rest, &format!(" {}", one.does), look.quiet());
    }
}

/// The key whose name is there.
pub(crate) fn key_at(app: &App, bar: Rect, at: Position) -> Option<KeyCode> {
    let mut all = placed(app, bar).into_iter();
    let (hint, _) = all.find(|(_, place)| place.contains(at))?;
    Some(hint.key)
}
