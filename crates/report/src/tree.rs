//! A call tree as perf draws it in text.

use super::table::{Graph, Table};
use rprof_base::Share;
use rprof_profile::Profile;
use rprof_profile::view::{CallTree, Row};
use std::io::{self, Write};

/// What stands before every line of a tree.
const MARGIN: &str = "            ";

/// Branches within branches that are drawn; what is further in is left out, so that lines have a
/// limit whatever is recorded.
const MAX_DEPTH: usize = 120;

/// Writes the tree below a row; nothing if all of it is below the limit.
pub(crate) fn write_tree(
    table: &Table<'_>,
    row: &Row,
    graph: Graph,
    row_weight: u64,
    out: &mut impl Write,
) -> io::Result<()> {
    let (profile, whole) = (table.profile, table.totals.weight);
    let min_weight = min_weight(graph.min_percent, whole);
    if row_weight < min_weight {
        return Ok(());
    }
    let tree = table.rows.call_tree(row, graph.order, min_weight);
    let drawing = Drawing {
        profile,
        whole,
        tree: &tree,
    };
    let mut text = String::new();
    match *tree.roots() {
        [] => return Ok(()),
        // One root that is all of the row needs no percentage.
        [root] if tree.node(root).weight == row_weight => {
            text += &format!("{MARGIN}|\n{MARGIN}---{}\n", drawing.label(root));
            let start = format!("{MARGIN}   ");
            let last = drawing.only_children(root, &start, &mut text);
            drawing.branches(&tree.node(last).children, &start, 0, &mut text);
        }
        _ => drawing.branches(tree.roots(), MARGIN, 0, &mut text),
    }
    text.push('\n');
    out.write_all(text.as_bytes())
}

/// The least weight that is at least this percentage.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a u64 is one, and percentages come with two digits"
)]
fn min_weight(min_percent: f64, whole: u64) -> u64 {
    ((min_percent / 100.0 * whole as f64).ceil() as u64).max(1)
}

struct Drawing<'t> {
    profile: &'t Profile,
    whole: u64,
    tree: &'t CallTree,
}

impl Drawing<'_> {
    fn label(&self, number: u32) -> String {
        let frame = self.tree.node(number).frame;
        let label = self.profile.frames.label(frame, &self.profile.strings);
        label.to_string()
    }

    /// Writes the nodes that everything goes on to, one a line; returns the last. A run of the
    /// same nameless frame, as broken frame pointers make it, takes one line.
    fn only_children(&self, from: u32, start: &str, text: &mut String) -> u32 {
        let frame = |number: u32| self.tree.node(number).frame;
        let is_nameless = |number: u32| !self.profile.frames.of(frame(number)).is_function();
        let mut last = from;
        let mut n_same = 1;
        while let Some(child) = self.tree.only_child(last) {
            let is_same = frame(child) == frame(last) && is_nameless(child);
            last = child;
            if is_same {
                n_same += 1;
                continue;
            }
            self.end_run(n_same, text);
            n_same = 1;
            *text += &format!("{start}{}\n", self.label(child));
        }
        self.end_run(n_same, text);
        last
    }

    /// Says on the last line how many frames it stands for.
    fn end_run(&self, n_same: usize, text: &mut String) {
        if n_same > 1 && text.ends_with('\n') {
            text.pop();
            *text += &format!(" x{n_same}\n");
        }
    }

    /// Draws siblings; `start` is what stands before them on every line.
    fn branches(&self, nodes: &[u32], start: &str, depth: usize, text: &mut String) {
        if depth >= MAX_DEPTH && !nodes.is_empty() {
            *text += &format!("{start}...\n");
            return;
        }
        for (idx, &number) in nodes.iter().enumerate() {
            let pipe = if idx + 1 == nodes.len() { ' ' } else { '|' };
            let node = self.tree.node(number);
            let share = Share::of(node.weight, self.whole);
            *text += &format!("{start}|\n");
            *text += &format!("{start}{pipe}--{share:.2}%--{}\n", self.label(number));
            let inner = format!("{start}{pipe}          ");
            let last = self.only_children(number, &inner, text);
            self.branches(&self.tree.node(last).children, &inner, depth + 1, text);
        }
    }
}
