//! Stacks drawn as a tree.

use super::{Drawing, NodeValue, PrintType};
use rprof_base::Counted;
use rprof_profile::FrameId;
use rprof_profile::SampleCount;
use rprof_profile::view::CallTree;

/// What stands before every line of a tree.
const MARGIN: &str = "            ";

/// Branches within branches that are drawn; what is further in is left out, so that lines have a
/// limit whatever is recorded.
const MAX_DEPTH: usize = 120;

/// Nodes next to each other.
#[derive(Clone, Copy)]
struct Siblings<'t> {
    nodes: &'t [u32],
    /// What shares are of, and samples of them all.
    whole: SampleCount,
    depth: usize,
}

impl Drawing<'_> {
    /// Draws all of the tree; `is_row` says whether a frame is what the row begins with.
    pub(super) fn draw_graph(&mut self, row_weight: u64, is_row: impl Fn(FrameId) -> bool) {
        let tree = self.tree;
        let weight = match self.graph.print {
            PrintType::Fractal => row_weight,
            _ => self.event_weight,
        };
        let mut siblings = Siblings {
            nodes: tree.roots(),
            whole: SampleCount {
                weight,
                ..tree.whole()
            },
            depth: 0,
        };
        match *tree.roots() {
            [] => return,
            // One root that is all of the row needs no percentage.
            [root] if tree.node(root).total.weight == row_weight => {
                let (last, start) = self.trunk(root, is_row(tree.node(root).frame));
                siblings.nodes = &tree.node(last).children;
                siblings.whole.samples = tree.node(last).inner().samples;
                self.branches(siblings, &start);
            }
            _ => self.branches(siblings, MARGIN),
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// Draws what all of a row's stacks begin with; returns the last node, and what stands before what follows.
    /// A function that the row has in its first column is not said again.
    fn trunk(&mut self, root: u32, is_said: bool) -> (u32, String) {
        let first = if is_said {
            self.tree.only_child(root)
        } else {
            Some(root)
        };
        let Some(first) = first else {
            return (root, MARGIN.to_owned());
        };
        self.line(&[MARGIN, "|"]);
        self.line_of(&[MARGIN, "---"], first);
        let start = format!("{MARGIN}   ");
        let limit = self.graph.print_limit.unwrap_or(usize::MAX);
        let last = self.only_children(first, &start, limit.saturating_sub(1));
        (last, start)
    }

    /// Writes the nodes that everything goes on to, one a line; returns the last. A run of the
    /// same nameless frame, as broken frame pointers make it, takes one line.
    fn only_children(&mut self, from: u32, start: &str, mut limit: usize) -> u32 {
        let frame = |number: u32| self.tree.node(number).frame;
        let is_nameless = |number: u32| !self.profile.frames.of(frame(number)).is_function();
        let (tree, mut last) = (self.tree, from);
        let (mut n_same, mut n_left_out, mut is_shown) = (1, 0, true);
        while let Some(child) = tree.only_child(last) {
            let is_same = frame(child) == frame(last) && is_nameless(child);
            last = child;
            if is_same && is_shown {
                n_same += 1;
                continue;
            }
            end_run(n_same, &mut self.text);
            n_same = 1;
            is_shown = limit > 0 && !self.is_full();
            if is_shown {
                limit -= 1;
                self.line_of(&[start], child);
            } else if self.is_full() {
                n_left_out += 1;
            }
        }
        end_run(n_same, &mut self.text);
        if n_left_out > 0 {
            let frames = Counted::new(n_left_out, "frame", "frames").to_string();
            self.line(&[start, "... ", &frames]);
        }
        last
    }

    /// Draws siblings; `start` is what stands before them on every line.
    fn branches(&mut self, siblings: Siblings<'_>, start: &str) {
        let Siblings {
            nodes,
            whole,
            depth,
        } = siblings;
        let (tree, is_fractal) = (self.tree, self.graph.print == PrintType::Fractal);
        let mut remaining = whole;
        let limit = self.graph.print_limit.unwrap_or(usize::MAX);
        for (idx, &number) in nodes.iter().enumerate().take(limit) {
            if depth >= MAX_DEPTH || self.is_full() {
                self.say_left_out(&nodes[idx..], whole.weight, start);
                return;
            }
            let node = tree.node(number);
            remaining = remaining.minus(node.total);
            let is_last = idx + 1 == nodes.len() && !(is_fractal && remaining.weight > 0);
            let pipe = if is_last { " " } else { "|" };
            let shown = self.graph.shown(node.total, whole.weight);
            self.line(&[start, "|"]);
            self.line_of(&[start, pipe, "--", &shown, "--"], number);
            let inner = format!("{start}{pipe}          ");
            let last = self.only_children(number, &inner, usize::MAX);
            let mut whole = whole;
            if is_fractal {
                whole = tree.node(last).inner();
            }
            let children = Siblings {
                nodes: &tree.node(last).children,
                whole,
                depth: depth + 1,
            };
            self.branches(children, &inner);
        }
        if is_fractal && remaining.weight > 0 && remaining.weight != whole.weight {
            self.say_remaining(remaining, whole.weight, start);
        }
    }

    /// Of a fractal tree, what is in no branch that is drawn.
    fn say_remaining(&mut self, remaining: SampleCount, whole: u64, start: &str) {
        if self.graph.value != NodeValue::Count || remaining.samples > 0 {
            let shown = self.graph.shown(remaining, whole);
            self.line(&[start, " --", &shown, "--[...]"]);
        }
    }

    /// Counts what the tree has no room for.
    fn say_left_out(&mut self, nodes: &[u32], whole: u64, start: &str) {
        let total = |tree: &CallTree, number: u32| tree.node(number).total;
        let shown = self.graph.shown(self.sum(nodes, total), whole);
        let n_nodes = u64::try_from(nodes.len()).unwrap_or(u64::MAX);
        let branches = Counted::new(n_nodes, "branch", "branches").to_string();
        self.line(&[start, "... ", &branches, ", ", &shown]);
    }
}

/// Says on the last line how many frames it stands for.
fn end_run(n_same: usize, text: &mut String) {
    if n_same > 1 && text.ends_with('\n') {
        text.pop();
        *text += &format!(" x{n_same}\n");
    }
}
