//! The last lines: the selection, a message or a prompt; below it the profile's quality.

use super::pen::Pen;
use crate::app::{App, Over};
use crate::matcher::Matcher;
use crate::prompt::Prompt;
use crate::screen::cells;
use crate::views::ViewKind;
use crate::zoom::percent;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use rprof_base::Counted;
use rprof_profile::text::width;
use rprof_untrusted::printable;

/// The line below the view.
pub(super) fn status(app: &App, pen: &mut Pen<'_>, at: Rect) {
    if let Over::Prompt(prompt) = &app.over {
        let wrong = app.message.as_deref().map(printable);
        let question = match &wrong {
            Some(why) => {
                pen.fit()
                    .cut(why, usize::from(at.width) * 2 / 3)
                    .into_owned()
                    + ": "
            }
            None => prompt.kind.question().to_owned(),
        };
        let style = match wrong {
            Some(_) => app.look.warning(),
            None => app.look.heading(),
        };
        let end = pen.text(at, &question, style);
        let rest = Rect::new(end, at.y, at.right().saturating_sub(end), 1);
        typed(prompt, pen, rest);
        return;
    }
    if let Some(message) = app.message.clone().or_else(|| app.awaited_text()) {
        pen.cut(at, &printable(&message), app.look.warning());
        return;
    }
    pen.cut(at, &printable(&selected(app)), Style::new());
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

/// The selection with its full name.
fn selected(app: &App) -> String {
    let profile = app.explorer.profile();
    let mut text = String::new();
    if let (ViewKind::Calls | ViewKind::Flame, Some(found)) = (app.view, &app.found) {
        let shown = app.shown.as_ref();
        let share = shown.map(|shown| percent(shown.share(found.weight, app.is_relative)));
        let share = share.unwrap_or_default();
        text = format!(
            "{}: {} found, {share}; n: next | ",
            looked_for(&found.matcher),
            found.n
        );
    }
    match app.view {
        ViewKind::Rows | ViewKind::Calls => {
            if let (ViewKind::Rows, Some(filter)) = (app.view, &app.filter) {
                let n = u64::try_from(app.table.lines.len()).unwrap_or(u64::MAX);
                let rows = Counted::new(n, "row", "rows");
                text = format!("{}: {rows} | ", looked_for(filter));
            }
            if let Some(frame) = app.selected().frame {
                profile
                    .frames
                    .label_parts(frame, &profile.strings)
                    .append_to(&mut text);
                text += &format!("  {}", profile.strings.of(profile.frames.of(frame).image));
            }
        }
        ViewKind::Flame => text += &box_text(app),
        ViewKind::Threads => text = super::lanes::selected(app),
    }
    text
}

/// The search text with its leading `/`; a regular expression already starts with one.
fn looked_for(matcher: &Matcher) -> String {
    match matcher.text() {
        text if text.starts_with('/') => text.to_owned(),
        text => format!("/{text}"),
    }
}

fn box_text(app: &App) -> String {
    let (Some((boxes, number)), Some(shown)) = (app.selected_box(), &app.shown) else {
        return String::new();
    };
    let Some(one) = boxes.get(number) else {
        return String::new();
    };
    let share = |weight| percent(shown.share(weight, app.is_relative));
    let name = boxes.name(number, app.explorer.profile());
    format!(
        "{} (self {}, {} samples)  {name}",
        share(one.width),
        share(one.own),
        one.samples
    )
}

/// The last line.
pub(super) fn quality(app: &App, pen: &mut Pen<'_>, at: Rect) {
    let help = " ? keys";
    let room = at.width.saturating_sub(cells(help.len()));
    let (text, style) = match &app.advice {
        Some(advice) => (format!("{}; {advice}", app.quality), app.look.warning()),
        None => (app.quality.clone(), app.look.quiet()),
    };
    pen.cut(Rect::new(at.x, at.y, room, 1), &printable(&text), style);
    let place = Rect::new(at.x + room, at.y, at.width - room, 1);
    pen.text(place, help, app.look.quiet());
}
