//! Threads over time: one line per thread, as high as the thread was busy.

use super::pen::Pen;
use crate::app::App;
use crate::screen::{Screen, cells};
use crate::views::lanes::times_of;
use crate::zoom::{TimeUnit, percent};
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use rprof_base::Counted;
use rprof_profile::EventKind;
use rprof_profile::text::at_right;
use rprof_query::{ThreadLane, ThreadLanes};

/// Characters for the heights of a lane's columns.
const BLOCKS: [&str; 9] = [
    " ", "\u{2581}", "\u{2582}", "\u{2583}", "\u{2584}", "\u{2585}", "\u{2586}", "\u{2587}",
    "\u{2588}",
];
const LETTERS: [&str; 9] = [" ", ".", ".", ":", "-", "=", "+", "*", "#"];

pub(super) fn draw(app: &App, pen: &mut Pen<'_>, screen: &Screen) {
    let lanes = app.shown.as_ref().and_then(|shown| shown.lanes());
    let Some(lanes) = lanes.filter(|lanes| !lanes.lanes.is_empty()) else {
        let text = if app.explorer.sampled().has_times {
            "no samples match; ESC goes back"
        } else {
            "the recording has no times: use rprof record, or perf record -T"
        };
        pen.cut(screen.body, text, app.look.quiet());
        return;
    };
    let lane = screen.lane();
    if let Some(at) = screen.heading {
        heading(app, pen, at, lanes);
    }
    let time = Rect::new(0, screen.body.y, screen.body.width, 1);
    let names = cells(lane.names);
    draw_times(
        app,
        pen,
        Rect::new(names, time.y, time.width.saturating_sub(names), 1),
        lanes,
    );
    let most = scale(app, lanes);
    let height = screen.height().saturating_sub(1);
    let shown = lanes
        .lanes
        .iter()
        .enumerate()
        .skip(app.lanes.cursor.top)
        .take(height);
    for (y, (number, one)) in (screen.body.y + 1..).zip(shown) {
        let at = Rect::new(0, y, screen.body.width, 1);
        draw_name(app, pen, Rect { width: names, ..at }, one);
        for (x, weight) in (names..).zip(&one.slots) {
            let sign = sign(app, *weight, most);
            pen.text(Rect::new(x, y, 1, 1), sign, app.look.lane());
        }
        if number == app.lanes.cursor.at {
            pen.fill(Rect { width: names, ..at }, app.look.selected());
        }
    }
    brush(app, pen, screen);
}

fn heading(app: &App, pen: &mut Pen<'_>, at: Rect, lanes: &ThreadLanes) {
    let full = if app.look.has_blocks { "\u{2588}" } else { "#" };
    let per = TimeUnit::of(lanes.slot_ns).text(lanes.slot_ns);
    let what = match kind(app) {
        EventKind::CpuTime => "one full CPU",
        _ => "the maximum",
    };
    let n = u64::try_from(lanes.lanes.len()).unwrap_or(u64::MAX);
    let threads = Counted::new(n, "thread", "threads");
    let text = format!("{threads}, {per} per column, {full} is {what}");
    pen.text(at, &text, app.look.quiet());
}

fn kind(app: &App) -> EventKind {
    app.shown
        .as_ref()
        .map_or(EventKind::Counter, |shown| shown.counted.event.kind)
}

/// The weight of a full column: for CPU time one whole CPU, for other events the maximum of all columns.
fn scale(app: &App, lanes: &ThreadLanes) -> u64 {
    match kind(app) {
        EventKind::CpuTime => lanes.slot_ns,
        _ => lanes
            .lanes
            .iter()
            .flat_map(|lane| &lane.slots)
            .copied()
            .max()
            .unwrap_or(1),
    }
}

fn sign(app: &App, weight: u64, most: u64) -> &'static str {
    let signs = if app.look.has_blocks { BLOCKS } else { LETTERS };
    let eighths = (u128::from(weight) * 8)
        .div_ceil(u128::from(most.max(1)))
        .min(8);
    usize::try_from(eighths)
        .ok()
        .and_then(|at| signs.get(at).copied())
        .unwrap_or(" ")
}

fn draw_name(app: &App, pen: &mut Pen<'_>, at: Rect, lane: &ThreadLane) {
    let share = app
        .shown
        .as_ref()
        .map(|shown| shown.share(lane.weight, app.is_relative));
    let share = share
        .map(|share| at_right(&percent(share), 7))
        .unwrap_or_default();
    let share_width = if at.width >= 16 { 8 } else { 0 };
    let name = app.thread_name(lane.thread);
    let place = Rect {
        width: at.width.saturating_sub(share_width + 1),
        ..at
    };
    pen.cut(place, &name, Style::new());
    if share_width > 0 {
        let place = Rect::new(
            at.right().saturating_sub(share_width),
            at.y,
            share_width - 1,
            1,
        );
        pen.text(place, &share, app.look.quiet());
    }
}

/// The unit of times on the screen.
fn unit_of(lanes: &ThreadLanes) -> TimeUnit {
    let times = &lanes.times_ns;
    TimeUnit::of(times.end().saturating_sub(*times.start()))
}

/// Draws the time axis: times since the first sample.
fn draw_times(app: &App, pen: &mut Pen<'_>, at: Rect, lanes: &ThreadLanes) {
    let first = app
        .explorer
        .sampled()
        .samples
        .span_ns()
        .map_or(0, |span| *span.start());
    let unit = unit_of(lanes);
    let last = lanes.times_ns.end().saturating_sub(first);
    let step = unit.text(last).len().max(11) + 1;
    for x in (0..at.width).step_by(step) {
        let slot = usize::from(x);
        let time = times_of(lanes, &(slot..=slot));
        let text = unit.text(time.start().saturating_sub(first));
        let place = Rect::new(at.x + x, at.y, cells(step - 1), 1).intersection(at);
        if usize::from(place.width) >= text.len() {
            pen.text(place, &text, app.look.quiet());
        }
    }
}

/// Draws the marked time range and the selected column.
fn brush(app: &App, pen: &mut Pen<'_>, screen: &Screen) {
    let names = cells(screen.lane().names);
    let slots = app
        .lanes
        .marked()
        .unwrap_or(app.lanes.slot..=app.lanes.slot);
    for slot in slots {
        let at = Rect::new(names + cells(slot), screen.body.y, 1, screen.body.height);
        pen.fill(at.intersection(screen.body), app.look.brush());
    }
    let at = Rect::new(names + cells(app.lanes.slot), screen.body.y, 1, 1);
    let style = Style::new().add_modifier(Modifier::REVERSED);
    pen.fill(at.intersection(screen.body), style);
}

/// The selected thread and time, as text.
pub(super) fn selected(app: &App) -> String {
    let Some((shown, lanes)) = app.shown_lanes() else {
        return String::new();
    };
    let Some(lane) = lanes.lanes.get(app.lanes.cursor.at) else {
        return String::new();
    };
    let first = app
        .explorer
        .sampled()
        .samples
        .span_ns()
        .map_or(0, |span| *span.start());
    let times = app.lanes.times(lanes);
    let unit = unit_of(lanes);
    let since = |time: u64| time.saturating_sub(first);
    let share = percent(shown.share(lane.weight, app.is_relative));
    let slots = app
        .lanes
        .marked()
        .unwrap_or(app.lanes.slot..=app.lanes.slot);
    let within: u64 = slots
        .filter_map(|slot| lane.slots.get(slot))
        .fold(0, |sum, one| sum.saturating_add(*one));
    let within = percent(shown.share(within, app.is_relative));
    let start = unit.number(since(*times.start()));
    let end = unit.text(since(*times.end()));
    format!(
        "{} {share}; {start} to {end}: {within}",
        app.thread_name(lane.thread)
    )
}
