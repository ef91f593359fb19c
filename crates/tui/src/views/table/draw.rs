//! The table: percentages, a bar, the columns of the sort keys; trees below expanded rows.

use super::{TableLine, TableView};
use crate::draw::pen::Pen;
use crate::screen::{Screen, cells};
use crate::views::context::Context;
use crate::zoom::{TimeUnit, percent};
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use rprof_base::Share;
use rprof_profile::text::{at_right, width};
use rprof_profile::view::{Row, SortKey, Weighing};

/// Columns of a percentage and the space before it.
pub(crate) const PERCENT: u16 = 8;

/// Columns of a time, at least.
const TIME: u16 = 9;

/// Start positions of the table's columns.
struct TableColumns {
    /// Whether there is a column for the total, too.
    has_children: bool,
    bar: Rect,
    /// What rows are ordered by, where it is a time, and its unit.
    time: Option<(Rect, TimeUnit)>,
    /// Start and width of each sort key's column, except the last.
    keys: Vec<(u16, u16)>,
    /// Start of the last column.
    last: u16,
}

impl TableColumns {
    fn new(cx: &Context, screen: &Screen) -> Self {
        let total = screen.all.width;
        let has_children = cx.by.weighing == Weighing::WithChildren && total >= 40;
        let mut x = 2 + PERCENT * (1 + u16::from(has_children));
        let unit = time_unit(cx).filter(|_| total >= 60);
        // Where there is room for one, a time tells more than a bar.
        let bar = match unit {
            Some(_) if total < 100 => 0,
            _ => bar_width(total),
        };
        let bar = Rect::new(x + 1, 0, bar, 1);
        x = if bar.width > 0 {
            bar.right() + 2
        } else {
            x + 1
        };
        let time = unit.map(|unit| {
            // No row has more than all of them.
            let all = cx
                .shown
                .as_ref()
                .map_or(0, |shown| shown.counted.event.weight);
            let width = cells(unit.number(all).len()).max(TIME);
            (Rect::new(x, 0, width, 1), unit)
        });
        x += time.map_or(0, |(place, _)| place.width + 2);
        let names = cx.by.keys.last();
        let names = names.map_or(0, |&key| widest(cx, key, ROWS_OF_NAMES));
        let room = total.saturating_sub(x).saturating_sub(wanted(total, names));
        let others = cx.by.keys.iter().rev().skip(1).rev();
        let mut keys = Vec::new();
        for width in key_widths(cx, others, room, total) {
            keys.push((x, width));
            x += if width > 0 { width + 2 } else { 0 };
        }
        Self {
            has_children,
            bar,
            time,
            keys,
            last: x,
        }
    }

    fn cells(&self, line: Rect) -> impl Iterator<Item = Rect> {
        let keys = self.keys.iter();
        let keys = keys.map(move |&(x, width)| Rect::new(x, line.y, width, 1).intersection(line));
        let last = Rect::new(self.last, line.y, line.width, 1).intersection(line);
        keys.chain([last])
    }
}

/// The unit of the weights of rows, where these are times.
fn time_unit(cx: &Context) -> Option<TimeUnit> {
    let event = &cx.shown.as_ref()?.counted.event;
    let is_time = event.kind.is_time();
    is_time.then(|| TimeUnit::of(event.weight).with_decimals())
}

/// Columns that names are to have: most of a narrow screen, if they are so wide.
fn wanted(total: u16, widest: u16) -> u16 {
    let share = match total {
        ..=60 => total / 2 + 1,
        _ => total / 5 * 2,
    };
    widest.min(share)
}

/// Columns of the keys before the names; those with fewer than a few tell nothing, and are not there.
fn key_widths<'k>(
    cx: &Context,
    keys: impl Iterator<Item = &'k SortKey>,
    room: u16,
    total: u16,
) -> Vec<u16> {
    const LEAST: u16 = 6;
    let most = if total < 110 { 13 } else { 28 };
    let mut widths: Vec<u16> = keys.map(|&key| widest(cx, key, ROWS).min(most)).collect();
    let taken = |widths: &[u16]| -> u16 {
        let shown = widths.iter().filter(|&&width| width > 0);
        shown.map(|width| width + 2).sum()
    };
    while taken(&widths) > room {
        let excess = taken(&widths) - room;
        let Some(widest) = widths.iter_mut().max() else {
            break;
        };
        let least = widest.saturating_sub(excess.div_ceil(2)).max(LEAST);
        if least < *widest {
            *widest = least;
        } else if let Some(first) = widths.iter_mut().find(|width| **width > 0) {
            *first = 0;
        } else {
            break;
        }
    }
    widths
}

/// Columns of the bar.
pub(crate) fn bar_width(columns: u16) -> u16 {
    match columns {
        0..50 => 0,
        50..110 => 8,
        _ => 20,
    }
}

/// Rows that say how wide columns are.
const ROWS: usize = 200;

/// Names may be of any width: one far below must not shorten what is beside those in sight.
const ROWS_OF_NAMES: usize = 40;

/// Width of the widest cell in the first rows, rounded up so that columns do not move with each line.
fn widest(cx: &Context, key: SortKey, n_rows: usize) -> u16 {
    let Some(shown) = &cx.shown else {
        return 0;
    };
    let rows = shown.rows().take(n_rows);
    let widths = rows.map(|row| width(&key.cell(&row.key, cx.profile())));
    cells(widths.max().unwrap_or(0).max(key.heading().len()))
}

/// A table on a screen.
struct Drawn<'a> {
    view: &'a TableView,
    cx: &'a Context,
    columns: TableColumns,
}

pub(super) fn draw(view: &TableView, cx: &Context, pen: &mut Pen<'_>, screen: &Screen) {
    let columns = TableColumns::new(cx, screen);
    let drawn = Drawn { view, cx, columns };
    if let Some(at) = screen.heading {
        drawn.heading(pen, at);
    }
    let lines = view.lines.iter().enumerate();
    let lines = lines.skip(view.cursor.top).take(screen.height());
    for (y, (number, line)) in (screen.body.y..).zip(lines) {
        let at = Rect::new(0, y, screen.body.width, 1);
        match *line {
            TableLine::Row(row) => drawn.row(pen, at, row),
            TableLine::Node { .. } => drawn.node(pen, at, *line),
        }
        if number == view.cursor.at {
            pen.fill(at, cx.look.selected());
        }
    }
    if view.lines.is_empty() {
        let text = match (&view.filter, cx.zooms.is_empty()) {
            (Some(_), _) => "no row matches; ESC shows all",
            (None, false) => "no samples match; ESC goes back",
            (None, true) => "no samples",
        };
        pen.cut(screen.body, text, cx.look.quiet());
    }
}

impl Drawn<'_> {
    fn heading(&self, pen: &mut Pen<'_>, at: Rect) {
        let style = self.cx.look.heading();
        let by = &self.cx.by;
        let names = match by.weighing {
            _ if self.columns.has_children => &["Children", "Self"][..],
            Weighing::Own => &["Self"],
            Weighing::WithChildren => &["Children"],
        };
        let mut x = 2;
        for name in names {
            let text = at_right(name, PERCENT.into());
            pen.text(Rect::new(x, at.y, PERCENT, 1), &text, style);
            x += PERCENT;
        }
        if let Some((place, unit)) = self.columns.time {
            let text = at_right(&format!("Time ({})", unit.name), place.width.into());
            pen.text(Rect { y: at.y, ..place }, &text, style);
        }
        for (key, cell) in by.keys.iter().zip(self.columns.cells(at)) {
            pen.text(cell, key.heading(), style);
        }
    }

    fn row(&self, pen: &mut Pen<'_>, at: Rect, number: usize) {
        let cx = self.cx;
        let Some(shown) = &cx.shown else {
            return;
        };
        let Some(row) = shown.row(number) else {
            return;
        };
        let sign = match cx.has_chains {
            true if self.view.is_open(number) => "-",
            true => "+",
            false => " ",
        };
        pen.text(at, sign, cx.look.quiet());
        let weight = cx.by.weight(row);
        let mut x = 2;
        // Where there is room for one alone, it is what rows are ordered by.
        let mut last = weight;
        if self.columns.has_children {
            let place = Rect::new(x, at.y, PERCENT, 1);
            percentage(pen, place, cx.share(row.total_weight));
            x += PERCENT;
            last = row.self_weight;
        }
        percentage(pen, Rect::new(x, at.y, PERCENT, 1), cx.share(last));
        // The heaviest row's is as long as the column.
        let whole = shown.row(0).map_or(0, |row| cx.by.weight(row));
        let place = Rect {
            y: at.y,
            ..self.columns.bar
        };
        pen.bar(place, row.self_weight, weight, whole);
        if let Some((place, unit)) = self.columns.time {
            let text = at_right(&unit.number(weight), place.width.into());
            pen.text(Rect { y: at.y, ..place }, &text, Style::new());
        }
        self.cells(pen, at, row);
    }

    fn cells(&self, pen: &mut Pen<'_>, at: Rect, row: &Row) {
        let keys = self.cx.by.keys.iter();
        for (key, place) in keys.zip(self.columns.cells(at)) {
            if place.width > 0 {
                pen.cut(place, &key.cell(&row.key, self.cx.profile()), Style::new());
            }
        }
    }

    fn node(&self, pen: &mut Pen<'_>, at: Rect, line: TableLine) {
        let TableLine::Node { row, node, depth } = line else {
            return;
        };
        let Some(tree) = self.view.tree(row) else {
            return;
        };
        let cx = self.cx;
        let is_open = tree.is_node_open(node);
        let node = tree.tree.node(node);
        let x = 4 + indent(depth, at.width);
        let place = Rect::new(x, at.y, PERCENT, 1);
        percentage(pen, place, cx.share(node.total.weight));
        let x = x + PERCENT + 1;
        let sign = tree_sign(!node.children.is_empty(), is_open);
        pen.text(Rect::new(x, at.y, 1, 1), sign, cx.look.quiet());
        let place = Rect::new(x + 2, at.y, at.width, 1).intersection(at);
        let name = if cx.has_dsos {
            cx.frame_in_image(node.frame)
        } else {
            cx.frame_name(node.frame)
        };
        pen.cut(place, &name, Style::new());
    }
}

/// The sign before a node of a tree.
pub(crate) fn tree_sign(has_children: bool, is_open: bool) -> &'static str {
    match (has_children, is_open) {
        (false, _) => " ",
        (true, true) => "-",
        (true, false) => "+",
    }
}

/// Draws a right-aligned percentage in perf's colours.
pub(crate) fn percentage(pen: &mut Pen<'_>, at: Rect, share: Share) {
    let style = pen.look.percent(share.percent());
    let text = at_right(&percent(share), at.width.into());
    pen.text(at, &text, style);
}

/// Indentation of a node, limited so that deep nodes have room for their names.
pub(crate) fn indent(depth: usize, columns: u16) -> u16 {
    cells(2 * depth).min(columns / 2)
}
