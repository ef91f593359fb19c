//! Threads over time: one line per thread, as high as the thread was busy.

use super::{ALL, LanesView, n_before, times_of};
use crate::draw::pen::Pen;
use crate::screen::{Screen, cells};
use crate::views::context::Context;
use crate::views::waits::{cause_named, heaviest_first, legend};
use crate::zoom::TimeUnit;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use rprof_base::Counted;
use rprof_profile::EventKind;
use rprof_profile::text::at_right;
use rprof_query::ThreadLanes;
use std::cmp::Reverse;

/// Characters for the heights of a lane's columns.
const BLOCKS: [&str; 9] = [
    " ", "\u{2581}", "\u{2582}", "\u{2583}", "\u{2584}", "\u{2585}", "\u{2586}", "\u{2587}",
    "\u{2588}",
];
const LETTERS: [&str; 9] = [" ", ".", ".", ":", "-", "=", "+", "*", "#"];

pub(super) fn draw(view: &LanesView, cx: &Context, pen: &mut Pen<'_>, screen: &Screen) {
    let Some(lanes) = cx.lanes().filter(|lanes| !lanes.lanes.is_empty()) else {
        let text = if cx.explorer.sampled().has_times {
            "no samples match; ESC goes back"
        } else {
            "the recording has no times: use rprof record, or perf record -T"
        };
        pen.cut(screen.body, text, cx.look.quiet());
        return;
    };
    if let Some(at) = screen.heading {
        heading(cx, pen, at, lanes);
    }
    let names = cells(screen.lane().names);
    let width = screen.body.width;
    let times = Rect::new(names, screen.body.y, width.saturating_sub(names), 1);
    draw_times(cx, pen, times, lanes);
    let before = n_before(lanes);
    let mut y = screen.body.y + 1;
    if before > view.cursor.top {
        draw_all(cx, pen, Rect::new(0, y, names, 1), lanes);
        if view.cursor.at == 0 {
            pen.fill(Rect::new(0, y, names, 1), cx.look.selected());
        }
        y += 1;
    }
    let most = scale(cx, lanes);
    let has_waits = lanes.lanes.iter().any(|lane| !lane.waits.is_empty());
    let style = if has_waits {
        cx.look.runs()
    } else {
        cx.look.lane()
    };
    let shown = (before..).zip(&lanes.lanes);
    let shown = shown.skip(view.cursor.top.saturating_sub(before));
    for (y, (number, one)) in (y..screen.body.bottom()).zip(shown) {
        let at = Rect::new(0, y, names, 1);
        draw_name(cx, pen, at, &cx.thread_name(one.thread), one.weight);
        for ((x, slot), weight) in (names..).zip(0..).zip(&one.slots) {
            let at = Rect::new(x, y, 1, 1);
            match one.wait_at(slot) {
                Some(cause) => {
                    let cause = cause_named(cx.profile(), cause);
                    pen.text(at, &cause.letter().to_string(), cx.look.wait(cause));
                }
                None => {
                    pen.text(at, sign(cx, *weight, most), style);
                }
            }
        }
        if number == view.cursor.at {
            pen.fill(at, cx.look.selected());
        }
    }
    draw_chosen(view, pen, screen);
}

/// Draws all threads as one: as high as they were busy together, compared with when they were most.
fn draw_all(cx: &Context, pen: &mut Pen<'_>, names: Rect, lanes: &ThreadLanes) {
    draw_name(cx, pen, names, ALL, weight_of_all(lanes));
    let most = most_of_all(lanes);
    for (x, &weight) in (names.right()..).zip(&lanes.running) {
        let style = cx.look.lane();
        pen.text(Rect::new(x, names.y, 1, 1), sign(cx, weight, most), style);
    }
}

/// A full column of all threads: when they were most busy together.
fn most_of_all(lanes: &ThreadLanes) -> u64 {
    lanes.running.iter().copied().max().unwrap_or(1)
}

fn weight_of_all(lanes: &ThreadLanes) -> u64 {
    let weights = lanes.lanes.iter().map(|lane| lane.weight);
    weights.fold(0, u64::saturating_add)
}

fn heading(cx: &Context, pen: &mut Pen<'_>, at: Rect, lanes: &ThreadLanes) {
    let full = if cx.look.has_blocks { "\u{2588}" } else { "#" };
    let per = TimeUnit::of(lanes.slot_ns).text(lanes.slot_ns);
    let of_all = match n_before(lanes) {
        0 => String::new(),
        _ if has_cpu_time(cx, lanes) => {
            format!(
                "; of all threads {}",
                cpus(most_of_all(lanes), lanes.slot_ns)
            )
        }
        _ => "; of all threads: theirs".to_owned(),
    };
    let what = match kind(cx) {
        EventKind::CpuTime => format!("one full CPU{of_all}"),
        kind if kind.is_time() => format!("all of the time{of_all}"),
        _ => format!("the maximum{of_all}"),
    };
    let n = u64::try_from(lanes.lanes.len()).unwrap_or(u64::MAX);
    let threads = Counted::new(n, "thread", "threads");
    let waits = lanes.lanes.iter().flat_map(|lane| &lane.waits);
    let causes = heaviest_first(waits.map(|(cause, slots)| {
        let ns = slots
            .iter()
            .fold(0, |sum: u64, one| sum.saturating_add(*one));
        (cause_named(cx.profile(), *cause), ns)
    }));
    let text = if causes.is_empty() {
        format!("{threads}, {per} per column, {full} is {what}")
    } else {
        format!("{threads}, {per} per column: {full} runs{of_all} ")
    };
    let end = pen.text(at, &text, cx.look.quiet());
    let rest = Rect::new(end, at.y, at.right().saturating_sub(end), 1);
    legend(pen, rest, &causes, true);
}

fn kind(cx: &Context) -> EventKind {
    cx.shown
        .as_ref()
        .map_or(EventKind::Counter, |shown| shown.counted.event.kind)
}

/// The weight of a full column: for times all of the time, for other events the maximum of all columns.
fn scale(cx: &Context, lanes: &ThreadLanes) -> u64 {
    match kind(cx) {
        kind if kind.is_time() => lanes.slot_ns,
        _ => lanes
            .lanes
            .iter()
            .flat_map(|lane| &lane.slots)
            .copied()
            .max()
            .unwrap_or(1),
    }
}

fn sign(cx: &Context, weight: u64, most: u64) -> &'static str {
    let signs = if cx.look.has_blocks { BLOCKS } else { LETTERS };
    let eighths = (u128::from(weight) * 8)
        .div_ceil(u128::from(most.max(1)))
        .min(8);
    usize::try_from(eighths)
        .ok()
        .and_then(|at| signs.get(at).copied())
        .unwrap_or(" ")
}

fn draw_name(cx: &Context, pen: &mut Pen<'_>, at: Rect, name: &str, weight: u64) {
    let share_width = if at.width >= 16 { 8 } else { 0 };
    let place = Rect {
        width: at.width.saturating_sub(share_width + 1),
        ..at
    };
    pen.cut(place, name, Style::new());
    if share_width > 0 {
        let share = at_right(&cx.percent(weight), 7);
        let x = at.right().saturating_sub(share_width);
        let place = Rect::new(x, at.y, share_width - 1, 1);
        pen.text(place, &share, cx.look.quiet());
    }
}

/// When the first sample was taken: times on the screen are since then.
fn first_ns(cx: &Context) -> u64 {
    let samples = &cx.explorer.sampled().samples;
    samples.span_ns().map_or(0, |span| *span.start())
}

/// The unit of times on the screen.
fn unit_of(lanes: &ThreadLanes) -> TimeUnit {
    let times = &lanes.times_ns;
    let unit = TimeUnit::of(times.end().saturating_sub(*times.start()));
    unit.in_steps(lanes.slot_ns / 2)
}

/// Draws the time axis: times since the first sample.
fn draw_times(cx: &Context, pen: &mut Pen<'_>, at: Rect, lanes: &ThreadLanes) {
    let first = first_ns(cx);
    let unit = unit_of(lanes);
    let last = lanes.times_ns.end().saturating_sub(first);
    let step = unit.text(last).len().max(11) + 1;
    for x in (0..at.width).step_by(step) {
        let slot = usize::from(x);
        let time = times_of(lanes, &(slot..=slot));
        let text = unit.text(time.start().saturating_sub(first));
        let place = Rect::new(at.x + x, at.y, cells(step - 1), 1).intersection(at);
        if usize::from(place.width) >= text.len() {
            pen.text(place, &text, cx.look.quiet());
        }
    }
}

/// Marks the chosen time range and the selected column.
fn draw_chosen(view: &LanesView, pen: &mut Pen<'_>, screen: &Screen) {
    let names = cells(screen.lane().names);
    let column = |slot, height| {
        let at = Rect::new(names + cells(slot), screen.body.y, 1, height);
        at.intersection(screen.body)
    };
    for slot in view.chosen() {
        pen.fill(column(slot, screen.body.height), pen.look.brush());
    }
    let style = Style::new().add_modifier(Modifier::REVERSED);
    pen.fill(column(view.slot, 1), style);
}

/// Waits that the selected time is told of, at most.
const MOST_NAMED: usize = 3;

/// The selected thread and time, as text.
pub(super) fn status(view: &LanesView, cx: &Context) -> Option<String> {
    let lanes = cx.lanes()?;
    let first = first_ns(cx);
    let times = view.times(lanes);
    let unit = unit_of(lanes);
    let since = |time: u64| time.saturating_sub(first);
    let when = format!(
        "{}{} to {}",
        view.mark
            .map_or_else(|| view.found_text(), |_| "marked ".to_owned()),
        unit.number(since(*times.start())),
        unit.text(since(*times.end())),
    );
    let Some(lane) = view.selected_lane(lanes) else {
        let all = cx.percent(weight_of_all(lanes));
        let who = format!("{ALL} {all}");
        return Some(said(
            view,
            &who,
            &format!("{when}: {}", busy(view, cx, lanes)),
        ));
    };
    let slots = view.chosen().filter_map(|slot| lane.slots.get(slot));
    let within = slots.fold(0, |sum: u64, one| sum.saturating_add(*one));
    let waits = lane.waits.iter().filter_map(|(cause, slots)| {
        let of = view.chosen().filter_map(|slot| slots.get(slot));
        let ns = of.fold(0, |sum: u64, one| sum.saturating_add(*one));
        Some((ns, *cause)).filter(|&(ns, _)| ns > 0)
    });
    let mut waits: Vec<_> = waits.collect();
    waits.sort_unstable_by_key(|&(ns, _)| Reverse(ns));
    let waits = waits.into_iter().take(MOST_NAMED).map(|(ns, cause)| {
        let name = cx.profile().wait_label(cause);
        format!(", {name} {}", cx.percent(ns))
    });
    let name = cx.thread_name(lane.thread);
    let who = format!("{name} {}", cx.percent(lane.weight));
    let waits: String = waits.collect();
    let what = format!("{when}: {}{waits}", cx.percent(within));
    Some(said(view, &who, &what))
}

/// The thread, then its time; of a time that was looked for, this comes first: it is the answer.
fn said(view: &LanesView, who: &str, what: &str) -> String {
    if view.found_text().is_empty() {
        format!("{who}; {what}")
    } else {
        format!("{what}; {who}")
    }
}

/// What all threads have in the chosen time: their share, and of time on CPUs how many are busy.
fn busy(view: &LanesView, cx: &Context, lanes: &ThreadLanes) -> String {
    let all = lanes.lanes.iter().flat_map(|lane| {
        let slots = view.chosen();
        slots.filter_map(|slot| lane.slots.get(slot))
    });
    let percent = cx.percent(all.fold(0, |sum: u64, one| sum.saturating_add(*one)));
    if !has_cpu_time(cx, lanes) {
        return percent;
    }
    let running = view.chosen().filter_map(|slot| lanes.running.get(slot));
    let running = running.fold(0, |sum: u64, one| sum.saturating_add(*one));
    let times = view.times(lanes);
    let length_ns = (times.end() - times.start()).saturating_add(1);
    format!("{percent}, {} CPUs busy", cpus(running, length_ns))
}

/// Whether the samples have time on CPUs.
fn has_cpu_time(cx: &Context, lanes: &ThreadLanes) -> bool {
    kind(cx).is_time() && lanes.running.iter().any(|&ns| ns > 0)
}

/// CPUs that are busy, with two decimals.
fn cpus(running_ns: u64, length_ns: u64) -> String {
    let hundredths = u128::from(running_ns) * 100 / u128::from(length_ns.max(1));
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}
