//! The stacks of a row below it, as perf writes them.

mod graph;
mod list;

use crate::table::Table;
use rprof_base::Share;
use rprof_profile::Profile;
use rprof_profile::SampleCount;
use rprof_profile::view::{CallTree, Order, Pruning, Row};
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

/// How stacks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrintType {
    /// A tree, with shares of all samples.
    Graph,
    /// A tree, with shares of what goes on from the node before.
    Fractal,
    /// A stack after the other, a frame a line.
    Flat,
    /// A stack a line.
    Folded,
}

/// What stands before branches and stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeValue {
    /// Their share of the weight.
    Percent,
    /// Their weight, in the event's unit.
    Period,
    /// Their samples.
    Count,
}

/// Trees below the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Graph {
    /// How they are written.
    pub print: PrintType,
    /// From callers or from callees.
    pub order: Order,
    /// Nodes below this percentage are left out: of the event, or (fractal) of the node before.
    pub min_percent: f64,
    /// Siblings that are drawn at most, and stacks of a list.
    pub print_limit: Option<usize>,
    /// What stands before them.
    pub value: NodeValue,
    /// Lines of one tree; what is beyond is counted.
    pub max_lines: usize,
}

impl Graph {
    /// perf's, without any word of the user's.
    pub const DEFAULT: Self = Self {
        print: PrintType::Graph,
        order: Order::Caller,
        min_percent: 0.5,
        print_limit: None,
        value: NodeValue::Percent,
        max_lines: 2000,
    };

    /// Counts as they stand before a branch.
    fn shown(&self, counts: SampleCount, whole: u64) -> String {
        match self.value {
            NodeValue::Percent => format!("{:.2}%", Share::of(counts.weight, whole)),
            NodeValue::Period => counts.weight.to_string(),
            NodeValue::Count => counts.samples.to_string(),
        }
    }
}

/// Lines of trees.
#[derive(Debug, Default)]
pub(crate) struct TreeLines {
    all: AtomicU64,
    recursive: AtomicU64,
}

impl TreeLines {
    /// Fewer lines of recursion are read over.
    const FEW: u64 = 50;

    fn add(&self, drawing: &Drawing<'_>) {
        let n_lines = drawing.text.matches('\n').count() as u64;
        self.all.fetch_add(n_lines, Ordering::Relaxed);
        let n_recursive = drawing.n_recursive;
        self.recursive.fetch_add(n_recursive, Ordering::Relaxed);
    }

    /// What makes trees shorter, if recursion makes them long: at least a tenth of their lines.
    pub(crate) fn advice(&self) -> Option<String> {
        let all = self.all.load(Ordering::Relaxed);
        let recursive = self.recursive.load(Ordering::Relaxed);
        let is_much = recursive >= Self::FEW && recursive.saturating_mul(10) >= all;
        is_much.then(|| {
            format!(
                "{recursive} of {all} tree lines are recursion: --fold recursion shows each recursive \
                 function once"
            )
        })
    }
}

/// A tree on its way to text.
struct Drawing<'t> {
    graph: Graph,
    profile: &'t Profile,
    tree: &'t CallTree,
    /// Weight that shares of a [`PrintType::Graph`] are of.
    event_weight: u64,
    lines_left: usize,
    /// Lines whose function is a call of a recursion.
    n_recursive: u64,
    text: String,
}

impl Drawing<'_> {
    /// Writes a line of parts; those that say what is left out have room in any case.
    fn line(&mut self, parts: &[&str]) {
        parts.iter().for_each(|part| self.text.push_str(part));
        self.end_line();
    }

    /// Writes a line that ends with a node's function.
    fn line_of(&mut self, parts: &[&str], number: u32) {
        self.n_recursive += u64::from(self.tree.is_recursive(number));
        parts.iter().for_each(|part| self.text.push_str(part));
        self.push_label(number);
        self.end_line();
    }

    fn push_label(&mut self, number: u32) {
        let frame = self.tree.node(number).frame;
        let label = self
            .profile
            .frames
            .label_parts(frame, &self.profile.strings);
        label.append_to(&mut self.text);
    }

    fn end_line(&mut self) {
        self.text.push('\n');
        self.lines_left = self.lines_left.saturating_sub(1);
    }

    fn is_full(&self) -> bool {
        self.lines_left == 0
    }

    fn sum(&self, nodes: &[u32], of: fn(&CallTree, u32) -> SampleCount) -> SampleCount {
        let counts = nodes.iter().map(|&number| of(self.tree, number));
        counts.fold(SampleCount::default(), SampleCount::plus)
    }
}

/// Writes the tree below a row; nothing if all of it is below the limit.
pub(crate) fn write_tree(
    table: &Table<'_>,
    row: &Row,
    graph: Graph,
    lines: &TreeLines,
    out: &mut impl Write,
) -> io::Result<()> {
    if row.is_absent() {
        return Ok(());
    }
    let (rows, event_weight) = (&table.rows, table.totals.weight);
    let row_weight = table.options.weight(row);
    let pruning = match graph.print {
        PrintType::Fractal => Pruning::BelowShare(graph.min_percent),
        _ => Pruning::below_percent(graph.min_percent, event_weight),
    };
    if matches!(pruning, Pruning::Below(min_weight) if row_weight < min_weight) {
        return Ok(());
    }
    let tree = rows.call_tree(row, graph.order, pruning);
    let mut drawing = Drawing {
        graph,
        profile: table.profile,
        tree: &tree,
        event_weight,
        lines_left: graph.max_lines,
        n_recursive: 0,
        text: String::new(),
    };
    match graph.print {
        PrintType::Graph | PrintType::Fractal => {
            drawing.draw_graph(row_weight, |frame| rows.begins_with(row, frame));
        }
        PrintType::Flat => drawing.list_flat(),
        PrintType::Folded => drawing.list_folded(),
    }
    lines.add(&drawing);
    out.write_all(drawing.text.as_bytes())
}
