//! What changed, as a call tree in text.

use crate::format::DiffLayout;
use rprof_base::Share;
use rprof_profile::difference::{BothCounts, DifferentialTree};
use rprof_untrusted::printable;
use std::io::{self, Write};

/// What has less on both sides is left out of trees: as perf's call graphs do.
const LEAST: Share = Share::from_percent(0.5);

/// Writes the tree of an event, with shares of `whole`.
///
/// # Errors
/// The writer's.
pub fn write_diff_tree(
    event: &str,
    tree: &DifferentialTree,
    whole: BothCounts,
    layout: &DiffLayout,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut lines = tree_lines(tree, whole, LEAST).into_iter();
    if !layout.quiet {
        writeln!(
            out,
            "\n# Calls of '{}': shares of all samples, including callees; rows below {LEAST:.1} % on both sides are \
             omitted",
            printable(event)
        )?;
        writeln!(out, "#")?;
        if let Some(head) = lines.next() {
            writeln!(out, "# {}", head.get(2..).unwrap_or_default())?;
        }
    }
    lines
        .skip(usize::from(layout.quiet))
        .try_for_each(|line| writeln!(out, "{line}"))
}

/// A tree's head and a line for each node: its share of all samples before and after, points between them, and its
/// name, indented by depth. What has less than `least` on both sides is left out with all below it. Siblings that
/// changed most come first.
fn tree_lines(tree: &DifferentialTree, whole: BothCounts, least: Share) -> Vec<String> {
    let totals = tree.totals();
    let of = |counts: &BothCounts| NodeShares {
        before: Share::of(counts.before.weight, whole.before.weight),
        after: Share::of(counts.after.weight, whole.after.weight),
    };
    let shares: Vec<NodeShares> = totals.iter().map(of).collect();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); tree.nodes().len()];
    let mut open = Vec::new();
    for (at, node) in tree.nodes().iter().enumerate() {
        if shares[at].before < least && shares[at].after < least {
            continue;
        }
        match node.parent {
            Some(parent) => children[parent as usize].push(at),
            None => open.push((at, 0)),
        }
    }
    let changed_least_first = |one: &usize, other: &usize| {
        let by_change = |at: usize| shares[at].points().abs();
        by_change(*one)
            .total_cmp(&by_change(*other))
            .then(other.cmp(one))
    };
    open.sort_by(|(one, _), (other, _)| changed_least_first(one, other));
    let mut lines = vec![format!("{:>10}  {:>8}  {:>8}", "Before", "After", "Points")];
    while let Some((at, depth)) = open.pop() {
        let (shares, node) = (shares[at], &tree.nodes()[at]);
        let (before, after, points) = (shares.before, shares.after, shares.points());
        let (indent, label) = (2 * depth, tree.label(node));
        lines.push(format!(
            "  {before:>7}%  {after:>7}%  {points:>+8.2}  {:indent$}{label}",
            ""
        ));
        let mut below = std::mem::take(&mut children[at]);
        below.sort_by(changed_least_first);
        open.extend(below.into_iter().map(|child| (child, depth + 1)));
    }
    lines
}

/// Shares of a node with all below it.
#[derive(Clone, Copy, Debug)]
struct NodeShares {
    before: Share,
    after: Share,
}

impl NodeShares {
    fn points(self) -> f64 {
        self.after.percent() - self.before.percent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_profile::difference::SideStacks;
    use rprof_profile::testing;
    use rprof_profile::view::{FirstFrame, ThreadNames};

    #[test]
    fn what_changed_most_comes_first_and_small_nodes_are_left_out() {
        let before = testing::profile(&[("main;old", 20), ("main;same", 79), ("main;tiny", 1)]);
        let after = testing::profile(&[("main;grown", 5), ("main;same", 95)]);
        let [before, after] = [&before, &after].map(|profile| SideStacks {
            profile,
            event: &profile.events[0],
        });
        let (first, threads) = (FirstFrame::Outermost, ThreadNames::Pooled);
        let tree = DifferentialTree::of(before, after, first, threads);
        let expected = [
            "    Before     After    Points",
            "   100.00%   100.00%     +0.00  prog",
            "   100.00%   100.00%     +0.00    main",
            "    20.00%     0.00%    -20.00      old",
            "    79.00%    95.00%    +16.00      same",
            "     0.00%     5.00%     +5.00      grown",
        ];
        let least = Share::from_percent(2.0);
        assert_eq!(tree_lines(&tree, tree.sum(), least), expected);
    }
}
