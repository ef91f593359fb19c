//! The last lines: the selection, a message or a prompt; below it the profile's quality.

use super::pen::Pen;
use crate::app::{App, Over};
use crate::prompt::Prompt;
use crate::screen::cells;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use rprof_profile::text::width;
use rprof_untrusted::printable;

/// Columns for what is typed.
const TYPED: usize = 18;

/// The line below the view.
pub(super) fn status(app: &App, pen: &mut Pen<'_>, at: Rect) {
    if let Over::Prompt(prompt) = &app.over {
        let wrong = app.message.as_deref().map(printable);
        let columns = usize::from(at.width);
        let (question, room) = match &wrong {
            Some(why) => (&**why, columns * 2 / 3),
            None => (
                prompt.kind.question(),
                columns - columns.min(TYPED).min(columns / 3),
            ),
        };
        let question = pen.fit().cut(question, room).into_owned() + ": ";
        let style = match wrong {
            Some(_) => app.cx.look.warning(),
            None => app.cx.look.heading(),
        };
        let end = pen.text(at, &question, style);
        let rest = Rect::new(end, at.y, at.right().saturating_sub(end), 1);
        typed(prompt, pen, rest);
        return;
    }
    if let Some(message) = app.message.clone().or_else(|| app.awaited_text()) {
        pen.cut(at, &printable(&message), app.cx.look.warning());
        return;
    }
    pen.cut(at, &printable(&app.view().status(&app.cx)), Style::new());
}

/// Draws the typed text with the cursor.
fn typed(prompt: &Prompt, pen: &mut Pen<'_>, at: Rect) {
    let (before, after) = prompt.parts();
    let (before, after) = (printable(before), printable(after));
    // What is before the cursor is seen, or its end.
    let room = usize::from(at.width).saturating_sub(1);
    let mut letters = before.chars();
    while width(letters.as_str()) > room {
        letters.next();
    }
    let end = pen.text(at, letters.as_str(), Style::new());
    let rest = Rect::new(end, at.y, at.right().saturating_sub(end), 1);
    let mut next = after.chars();
    let here = next.next().map_or(" ".to_owned(), String::from);
    let end = pen.text(rest, &here, Style::new().add_modifier(Modifier::REVERSED));
    let rest = Rect::new(end, at.y, at.right().saturating_sub(end), 1);
    pen.cut(rest, next.as_str(), Style::new());
}

/// How good the profile is; where there is no bar of keys, the key that shows them.
pub(super) fn quality(app: &App, pen: &mut Pen<'_>, at: Rect, has_help: bool) {
    let help = if has_help { " ? keys" } else { "" };
    let room = at.width.saturating_sub(cells(help.len()));
    let (text, style) = match &app.advice {
        Some(advice) => (format!("{}; {advice}", app.quality), app.cx.look.warning()),
        None => (app.quality.clone(), app.cx.look.quiet()),
    };
    pen.cut(Rect::new(at.x, at.y, room, 1), &printable(&text), style);
    let place = Rect::new(at.x + room, at.y, at.width - room, 1);
    pen.text(place, help, app.cx.look.quiet());
}
