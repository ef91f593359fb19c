//! Rows, with call trees below expanded ones.

mod draw;
mod open;
mod remembered;
pub(crate) mod rows;
mod tree;

pub(crate) use draw::{PERCENT, bar_width, indent, percentage, tree_sign};

use super::boxes::folded;
use super::context::{Context, Selected};
use super::view::{Answer, View};
use crate::cursor::Cursor;
use crate::draw::pen::Pen;
use crate::keys::{Command, KeyHint, hint, letter};
use crate::matcher::Matcher;
use crate::screen::Screen;
use crate::task::AnyRecipe;
use crate::zoom::Zoom;
use foldhash::{HashMap, HashSet};
use ratatui_core::layout::Position;
use ratatui_crossterm::crossterm::event::KeyCode;
use remembered::RememberedRows;
use rprof_base::{Counted, Share};
use rprof_profile::view::{Order, Row, Weighing};
use rprof_profile::{Dimension, DimensionValue};
use std::sync::Arc;
use tree::OpenTree;

/// Columns of a percentage in saved text.
pub(super) const SAVED_PERCENT: usize = 9;

/// Why rows have no trees.
const NO_CHAINS: &str = "no call chains: use rprof record, or perf record -g";
const NO_CHAINS_LIVE: &str = "no call chains: use rprof top --call-graph auto";

/// A line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableLine {
    /// A row, by its number among all.
    Row(usize),
    /// A node of the tree below a row.
    Node { row: usize, node: u32, depth: usize },
}

impl TableLine {
    pub(crate) fn row(self) -> usize {
        match self {
            Self::Row(row) | Self::Node { row, .. } => row,
        }
    }
}

/// The table, as far as it is expanded.
#[derive(Debug, Default)]
pub(crate) struct TableView {
    pub(crate) cursor: Cursor,
    pub(crate) lines: Vec<TableLine>,
    filter: Option<Matcher>,
    /// Whether trees go the other way than those of `rprof report`.
    is_turned: bool,
    trees: HashMap<usize, OpenTree>,
    /// Rows whose trees have yet to be expanded.
    waiting: Vec<usize>,
    /// Nodes of their trees to expand again.
    again: HashMap<usize, HashSet<u64>>,
    /// Whether lines are of the rows that are shown; if not, they are made once rows are there.
    is_made: bool,
    remembered: Option<RememberedRows>,
}

impl View for TableView {
    fn name(&self) -> &'static str {
        "rows"
    }

    fn help(&self) -> &'static str {
        "rows"
    }

    fn recipe(&self, cx: &Context) -> Arc<dyn AnyRecipe> {
        Arc::new(cx.by.clone())
    }

    fn draw(&self, cx: &Context, pen: &mut Pen<'_>, screen: &Screen) {
        draw::draw(self, cx, pen, screen);
    }

    fn status(&self, cx: &Context) -> String {
        let mut text = String::new();
        if let Some(filter) = &self.filter {
            let n = u64::try_from(self.lines.len()).unwrap_or(u64::MAX);
            let rows = Counted::new(n, "row", "rows");
            text = format!("{}: {rows} | ", filter.typed());
        }
        if let Some(frame) = self.selected(cx).frame {
            text += &cx.frame_in_image(frame);
        }
        text
    }

    fn text(&self, cx: &Context) -> String {
        let lines = (0..self.lines.len()).map(|at| self.line_text(at, cx) + "\n");
        lines.collect()
    }

    fn copied(&self, cx: &Context) -> Option<String> {
        match self.selected_line()? {
            TableLine::Node { row, node, .. } => Some(self.node_stack(row, node, cx)),
            TableLine::Row(_) => Some(self.line_text(self.cursor.at, cx).trim().to_owned()),
        }
    }

    fn selected(&self, cx: &Context) -> Selected {
        let selected = self.selected_line().zip(cx.shown.as_ref());
        let Some((line, row)) =
            selected.and_then(|(line, shown)| Some((line, shown.row(line.row())?)))
        else {
            return Selected::default();
        };
        let text = |id| cx.profile().strings.of(id).into_raw().to_owned();
        let node = match line {
            TableLine::Row(_) => None,
            TableLine::Node { row, node, .. } => self.tree(row).map(|tree| tree.tree.node(node)),
        };
        let frame = node.map(|node| node.frame).or(row.key.frame());
        let image = frame.map(|frame| cx.image_of(frame));
        Selected {
            frame,
            image: image.or_else(|| row.key.image().map(text)),
            threads: threads_of(row, cx),
        }
    }

    fn command(&mut self, command: Command, cx: &mut Context) -> Option<Answer> {
        let height = cx.height();
        match command {
            Command::Step(step) => self.cursor.step(step, self.lines.len(), height),
            Command::Left if !self.close(height) => return Some(Answer::ZoomOut),
            Command::Left => {}
            Command::Right
            | Command::Open
            | Command::Toggle
            | Command::OpenEntry
            | Command::OpenAll
            | Command::CloseAll
                if !cx.has_chains =>
            {
                return Some(no_chains(cx));
            }
            Command::Right => self.open(cx),
            Command::Open | Command::Toggle => self.toggle(cx),
            Command::OpenEntry => self.toggle_all(cx),
            Command::OpenAll => self.open_all(height),
            Command::CloseAll => self.close_all(height),
            _ => return None,
        }
        Some(Answer::Done)
    }

    fn command_from_elsewhere(&mut self, command: Command, cx: &mut Context) -> Option<Answer> {
        match command {
            Command::Direction | Command::Children if self.lacks_chains(command, cx) => {
                Some(no_chains(cx))
            }
            Command::Direction => {
                self.turn(cx);
                let way = match self.order(cx) {
                    Order::Caller => "call trees of rows: callees",
                    Order::Callee => "call trees of rows: callers",
                };
                Some(Answer::Say(way.to_owned()))
            }
            Command::Children => Some(self.turn_weighing(cx)),
            Command::Rows => Some(Answer::Show),
            Command::Back if self.filter.is_some() => {
                self.filter_by(None, cx);
                Some(Answer::Done)
            }
            _ => None,
        }
    }

    fn keys(&self, cx: &Context) -> Vec<KeyHint> {
        let open = cx.has_chains.then_some(hint(KeyCode::Enter, "expand"));
        let others = [
            letter('/', "filter"),
            letter('a', "code"),
            letter('t', "thread"),
            letter('f', "stacks with"),
            letter('x', "total/self"),
            letter('o', "group by"),
            letter('c', "callers"),
            letter('s', "save"),
        ];
        let waits = cx.waits_hint();
        open.into_iter().chain(waits).chain(others).collect()
    }

    fn select(&mut self, at: Position, cx: &mut Context) -> bool {
        self.cursor.click(at.y, self.lines.len(), cx.height())
    }

    /// Percentages: total or self; names: what groups rows.
    fn heading_click(&self, column: u16, cx: &Context) -> Option<Command> {
        let has_both = cx.by.weighing == Weighing::WithChildren;
        let end = 2 + PERCENT * (1 + u16::from(has_both));
        Some(if column < end {
            Command::Children
        } else {
            Command::Sort
        })
    }

    fn searched<'a>(&'a self, _: &'a Context) -> Option<&'a Matcher> {
        self.filter.as_ref()
    }

    fn search(&mut self, matcher: Option<Matcher>, cx: &mut Context) {
        self.filter_by(matcher, cx);
    }

    fn before_change(&mut self, cx: &Context) {
        self.remember(cx);
        self.is_made = false;
    }

    fn settings_changed(&mut self, cx: &Context) {
        self.before_change(cx);
    }

    fn fit(&mut self, cx: &mut Context) {
        let shown = cx.shown.as_ref();
        if !self.is_made && shown.is_some_and(|shown| cx.by.is_made(shown)) {
            self.make_lines(cx);
        }
        self.cursor.fit(self.lines.len(), cx.height());
    }

    fn has_work(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn work(&mut self, cx: &mut Context) {
        self.open_next(cx);
    }
}

impl TableView {
    pub(crate) fn selected_line(&self) -> Option<TableLine> {
        self.lines.get(self.cursor.at).copied()
    }

    fn tree(&self, row: usize) -> Option<&OpenTree> {
        self.trees.get(&row)
    }

    fn is_open(&self, row: usize) -> bool {
        self.trees.get(&row).is_some_and(|tree| tree.is_open)
    }

    /// Trees grow as those of `rprof report`, unless they are turned.
    fn order(&self, cx: &Context) -> Order {
        match (cx.by.weighing, self.is_turned) {
            (Weighing::Own, false) | (Weighing::WithChildren, true) => Order::Callee,
            (Weighing::Own, true) | (Weighing::WithChildren, false) => Order::Caller,
        }
    }

    fn lacks_chains(&self, command: Command, cx: &Context) -> bool {
        let is_needed = command == Command::Direction || cx.by.weighing == Weighing::Own;
        is_needed && !cx.has_chains
    }

    fn filter_by(&mut self, filter: Option<Matcher>, cx: &Context) {
        self.before_change(cx);
        self.filter = filter;
    }

    fn turn_weighing(&mut self, cx: &mut Context) -> Answer {
        self.before_change(cx);
        let (weighing, said) = match cx.by.weighing {
            Weighing::Own => (Weighing::WithChildren, "rows show total: including callees"),
            Weighing::WithChildren => (Weighing::Own, "rows show self: only their own samples"),
        };
        cx.by.weighing = weighing;
        self.is_turned = false;
        if let Some(shown) = &mut cx.shown {
            shown.sort_rows(&cx.by);
        }
        Answer::Say(said.to_owned())
    }

    /// Makes lines of the rows that match and are heavy enough; opens what was open.
    fn make_lines(&mut self, cx: &mut Context) {
        let Some(shown) = &cx.shown else {
            return;
        };
        let least = Share::from_percent(cx.min_percent);
        let is_heavy = |row: &Row| cx.min_percent <= 0.0 || cx.share(cx.by.weight(row)) >= least;
        let rows = shown.rows().enumerate();
        let rows = rows.filter(|(_, row)| is_heavy(row) && self.has_name(row, cx));
        let lines = rows.map(|(number, _)| TableLine::Row(number)).collect();
        self.lines = lines;
        self.trees.clear();
        self.waiting.clear();
        self.again.clear();
        self.is_made = true;
        self.reopen_remembered(cx);
    }

    fn has_name(&self, row: &Row, cx: &Context) -> bool {
        let Some(filter) = &self.filter else {
            return true;
        };
        let profile = cx.profile();
        match row.key.frame() {
            Some(frame) => {
                let label = profile.frames.label(frame, &profile.strings);
                filter.matches(label.raw())
            }
            None => filter.matches(&cells(row, cx).join(" ")),
        }
    }

    fn line_text(&self, at: usize, cx: &Context) -> String {
        self.lines
            .get(at)
            .and_then(|&line| self.text_of(line, cx))
            .unwrap_or_default()
    }

    fn text_of(&self, line: TableLine, cx: &Context) -> Option<String> {
        let share = |weight| format!("{:>SAVED_PERCENT$}", cx.percent(weight));
        match line {
            TableLine::Row(number) => {
                let row = cx.shown.as_ref()?.row(number)?;
                let mut text = String::new();
                if cx.by.weighing == Weighing::WithChildren {
                    text += &share(row.total_weight);
                }
                text += &share(row.self_weight);
                for cell in cells(row, cx) {
                    text += "  ";
                    text += &cell;
                }
                Some(text)
            }
            TableLine::Node { row, node, depth } => {
                let node = self.tree(row)?.tree.node(node);
                let indent = " ".repeat(4 + 2 * depth);
                let name = cx.frame_name(node.frame);
                Some(format!("{indent}{}  {name}", share(node.total.weight)))
            }
        }
    }

    /// Names from the outermost to a node of a row's tree.
    fn node_stack(&self, row: usize, node: u32, cx: &Context) -> String {
        let Some(tree) = self.tree(row) else {
            return String::new();
        };
        let path = tree.path(node);
        let mut names: Vec<String> = path
            .map(|at| cx.frame_name(tree.tree.node(at).frame))
            .collect();
        if self.order(cx) == Order::Caller {
            names.reverse();
        }
        folded(names.into_iter())
    }
}

/// The threads that a row is of: one, those of a process, or those of a name.
fn threads_of(row: &Row, cx: &Context) -> Option<Zoom> {
    let sampled = cx.explorer.sampled();
    let text = |id| sampled.profile.strings.of(id).into_raw().to_owned();
    let task = |dimension| match row.key.value(dimension, &sampled.profile) {
        Some(DimensionValue::Task(id, comm)) => Some((id, text(comm))),
        _ => None,
    };
    if let Some((tid, comm)) = task(Dimension::Tid) {
        let threads = sampled.threads.iter();
        let mut pids = threads
            .filter(|thread| thread.tid == tid)
            .map(|thread| thread.pid);
        // Of several threads with one id, nobody knows which the row is of.
        let pid = pids.next()?;
        let is_one = pids.all(|other| other == pid);
        return is_one.then_some(Zoom::Thread { pid, tid, comm });
    }
    if let Some((pid, comm)) = task(Dimension::Pid) {
        return Some(Zoom::Process { pid, comm });
    }
    row.key.comm().map(text).map(Zoom::Comm)
}

/// The cells of a row in the columns of the sort keys.
pub(crate) fn cells(row: &Row, cx: &Context) -> Vec<String> {
    let keys = cx.by.keys.iter();
    keys.map(|key| key.cell(&row.key, cx.profile())).collect()
}

fn no_chains(cx: &Context) -> Answer {
    let said = if cx.is_live {
        NO_CHAINS_LIVE
    } else {
        NO_CHAINS
    };
    Answer::Say(said.to_owned())
}
