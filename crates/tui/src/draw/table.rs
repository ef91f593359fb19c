//! The table: percentages, a bar, the columns of the sort keys; trees below expanded rows.

use super::pen::Pen;
use crate::app::App;
use crate::screen::{Screen, cells};
use crate::views::table::TableLine;
use crate::zoom::percent;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use rprof_base::Share;
use rprof_profile::text::{at_right, width};
use rprof_profile::view::{Row, SortKey, Weighing};

/// Columns of a percentage and the space before it.
pub(super) const PERCENT: u16 = 8;

/// Start positions of the table's columns.
struct TableColumns {
    /// Whether there is a column for the total, too.
    has_children: bool,
    bar: Rect,
    /// Start and width of each sort key's column, except the last.
    keys: Vec<(u16, u16)>,
    /// Start of the last column.
    last: u16,
}

impl TableColumns {
    fn of(app: &App, screen: &Screen) -> Self {
        let total = screen.all.width;
        let has_children = app.by.weighing == Weighing::WithChildren && total >= 40;
        let mut x = 2 + PERCENT * (1 + u16::from(has_children));
        let bar = match total {
            0..50 => 0,
            50..110 => 8,
            _ => 20,
        };
        let bar = Rect::new(x + 1, 0, bar, 1);
        x = if bar.width > 0 {
            bar.right() + 2
        } else {
            x + 1
        };
        let mut keys = Vec::new();
        for key in app.by.keys.iter().rev().skip(1).rev() {
            let most = match total {
                0..60 => 0,
                60..110 => 13,
                _ => 28,
            };
            let width = widest(app, *key).min(most);
            keys.push((x, width));
            x += if width > 0 { width + 2 } else { 0 };
        }
        Self {
            has_children,
            bar,
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

/// Width of the widest visible cell, rounded up so that columns do not move with each line.
fn widest(app: &App, key: SortKey) -> u16 {
    let Some(shown) = &app.shown else {
        return 0;
    };
    let profile = app.explorer.profile();
    let rows = shown.rows().take(200);
    let cells_of = rows.map(|row| width(&key.cell(&row.key, profile)));
    cells(cells_of.max().unwrap_or(0).max(key.heading().len()))
}

pub(super) fn draw(app: &App, pen: &mut Pen<'_>, screen: &Screen) {
    let columns = TableColumns::of(app, screen);
    if let Some(at) = screen.heading {
        heading(app, pen, &columns, at);
    }
    let lines = app.table.lines.iter().enumerate();
    let lines = lines.skip(app.table.cursor.top).take(screen.height());
    for (y, (number, line)) in (screen.body.y..).zip(lines) {
        let at = Rect::new(0, y, screen.body.width, 1);
        match *line {
            TableLine::Row(row) => draw_row(app, pen, &columns, (at, row)),
            TableLine::Node { row, node, depth } => draw_node(app, pen, at, (row, node, depth)),
        }
        if number == app.table.cursor.at {
            pen.fill(at, app.look.selected());
        }
    }
    if app.table.lines.is_empty() {
        let text = match (&app.filter, app.zooms.is_empty()) {
            (Some(_), _) => "no row matches; ESC shows all",
            (None, false) => "no samples match; ESC goes back",
            (None, true) => "no samples",
        };
        pen.cut(screen.body, text, app.look.quiet());
    }
}

fn heading(app: &App, pen: &mut Pen<'_>, columns: &TableColumns, at: Rect) {
    let style = app.look.heading();
    let mut x = 2;
    let names = match columns.has_children {
        true => &["Children", "Self"][..],
        false if app.by.weighing == Weighing::Own => &["Self"],
        false => &["Children"],
    };
    for name in names {
        let text = at_right(name, PERCENT.into());
        pen.text(Rect::new(x, at.y, PERCENT, 1), &text, style);
        x += PERCENT;
    }
    for (key, cell) in app.by.keys.iter().zip(columns.cells(at)) {
        pen.text(cell, key.heading(), style);
    }
}

fn draw_row(app: &App, pen: &mut Pen<'_>, columns: &TableColumns, (at, number): (Rect, usize)) {
    let Some((shown, row)) = app
        .shown
        .as_ref()
        .and_then(|shown| Some((shown, shown.row(number)?)))
    else {
        return;
    };
    let share = |weight| shown.share(weight, app.is_relative);
    let (total, own) = (share(row.total_weight), share(row.self_weight));
    let sign = match app.has_chains {
        true if app.table.is_open(number) => "-",
        true => "+",
        false => " ",
    };
    pen.text(at, sign, app.look.quiet());
    let mut x = 2;
    if columns.has_children {
        percentage(pen, Rect::new(x, at.y, PERCENT, 1), total);
        x += PERCENT;
    }
    let total = match app.by.weighing {
        Weighing::Own => own,
        Weighing::WithChildren => total,
    };
    // Where there is room for one alone, it is what rows are ordered by.
    let last = if columns.has_children { own } else { total };
    percentage(pen, Rect::new(x, at.y, PERCENT, 1), last);
    let weight = |row: &Row| match app.by.weighing {
        Weighing::Own => row.self_weight,
        Weighing::WithChildren => row.total_weight,
    };
    // The heaviest row's is as long as the column.
    let whole = shown.row(0).map_or(0, weight);
    let place = Rect {
        y: at.y,
        ..columns.bar
    };
    pen.bar(place, (row.self_weight, weight(row)), whole);
    draw_cells(app, pen, row, columns.cells(at));
}

fn draw_cells(app: &App, pen: &mut Pen<'_>, row: &Row, places: impl Iterator<Item = Rect>) {
    let profile = app.explorer.profile();
    for (key, place) in app.by.keys.iter().zip(places) {
        if place.width > 0 {
            pen.cut(place, &key.cell(&row.key, profile), Style::new());
        }
    }
}

/// Draws a right-aligned percentage in perf's colours.
pub(super) fn percentage(pen: &mut Pen<'_>, at: Rect, share: Share) {
    let style = pen.look.percent(share.percent());
    let text = at_right(&percent(share), at.width.into());
    pen.text(at, &text, style);
}

fn draw_node(app: &App, pen: &mut Pen<'_>, at: Rect, (row, node, depth): (usize, u32, usize)) {
    let Some((shown, tree)) = app.shown.as_ref().zip(app.table.tree(row)) else {
        return;
    };
    let number = node;
    let node = tree.tree.node(number);
    let indent = indent(depth, at.width);
    let mut x = 4 + indent;
    let share = shown.share(node.total.weight, app.is_relative);
    percentage(pen, Rect::new(x, at.y, PERCENT, 1), share);
    x += PERCENT + 1;
    let sign = match (node.children.is_empty(), tree.is_node_open(number)) {
        (true, _) => " ",
        (false, true) => "-",
        (false, false) => "+",
    };
    pen.text(Rect::new(x, at.y, 1, 1), sign, app.look.quiet());
    let place = Rect::new(x + 2, at.y, at.width, 1).intersection(at);
    pen.cut(place, &node_name(app, node.frame), Style::new());
}

/// A function in a tree, with its DSO if enabled.
fn node_name(app: &App, frame: rprof_profile::FrameId) -> String {
    let profile = app.explorer.profile();
    let mut name = String::new();
    profile
        .frames
        .label_parts(frame, &profile.strings)
        .append_to(&mut name);
    if app.has_dsos {
        name += &format!("  {}", profile.strings.of(profile.frames.of(frame).image));
    }
    name
}

/// Indentation of a node, limited so that deep nodes have room for their names.
pub(super) fn indent(depth: usize, columns: u16) -> u16 {
    cells(2 * depth).min(columns / 2)
}
