//! What changed, as a call tree in text.

use crate::comparison::{ComparedEvent, Comparison, RowOrder};
use crate::format::{ChangeUnit, DiffLayout};
use crate::statistics::weight;
use rprof_base::Share;
use rprof_profile::difference::{BothCounts, DifferentialTree};
use rprof_untrusted::printable;
use std::io::{self, Write};

/// What has less on both sides is left out of trees: as perf's call graphs do.
const LEAST: Share = Share::from_percent(0.5);

/// Writes the tree of an event that was compared, with shares of `whole`; calls are ordered as rows are.
///
/// # Errors
/// The writer's.
pub fn write_diff_tree(
    (comparison, event): (&Comparison, &ComparedEvent),
    tree: &DifferentialTree,
    whole: BothCounts,
    layout: &DiffLayout,
    out: &mut dyn Write,
) -> io::Result<()> {
    let amounts = Amounts::of(comparison, event);
    let totals = tree.totals();
    let changes = amounts
        .iter()
        .flat_map(|amounts| totals.iter().map(|one| amounts.moved(one)));
    let unit = ChangeUnit::of(changes, event.kind);
    let text = |by| unit.text(by);
    let amounts = amounts.map(|amounts| (amounts, &text as &dyn Fn(f64) -> String));
    let mut lines = tree_lines(tree, whole, LEAST, amounts).into_iter();
    if !layout.quiet {
        writeln!(
            out,
            "\n# Calls of '{}': shares of all samples, including callees; rows below {LEAST:.1} % on both sides are \
             omitted",
            printable(&event.name)
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

/// What weights amount to, where rows are ordered by that.
#[derive(Clone, Copy, Debug)]
struct Amounts {
    /// The amount of a weight of 1.
    before: f64,
    after: f64,
}

impl Amounts {
    fn of(comparison: &Comparison, event: &ComparedEvent) -> Option<Self> {
        let total = event
            .total
            .filter(|_| comparison.order == RowOrder::Amount)?;
        let of = |amount: f64, all: u64| amount / weight(all.max(1));
        Some(Self {
            before: of(total.estimate.before, event.all.0.weight),
            after: of(total.estimate.after, event.all.1.weight),
        })
    }

    /// By how much an amount changed.
    fn moved(self, counts: &BothCounts) -> f64 {
        self.after * weight(counts.after.weight) - self.before * weight(counts.before.weight)
    }
}

/// A tree's head and a line for each node: its share of all samples before and after, points between them, by how much
/// its amount changed if amounts are compared, and its name, indented by depth. What has less than `least` on both sides
/// is left out with all below it. Siblings that changed most come first.
fn tree_lines(
    tree: &DifferentialTree,
    whole: BothCounts,
    least: Share,
    amounts: Option<(Amounts, &dyn Fn(f64) -> String)>,
) -> Vec<String> {
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
        let by_change = |at: usize| match &amounts {
            Some((amounts, _)) => amounts.moved(&totals[at]).abs(),
            None => shares[at].points().abs(),
        };
        by_change(*one)
            .total_cmp(&by_change(*other))
            .then(other.cmp(one))
    };
    open.sort_by(|(one, _), (other, _)| changed_least_first(one, other));
    let mut head = format!("{:>10}  {:>8}  {:>8}", "Before", "After", "Points");
    if amounts.is_some() {
        head += &format!("  {:>10}", "Amount");
    }
    let mut lines = vec![head];
    while let Some((at, depth)) = open.pop() {
        let (shares, node) = (shares[at], &tree.nodes()[at]);
        let (before, after, points) = (shares.before, shares.after, shares.points());
        let (indent, label) = (2 * depth, tree.label(node));
        let moved = amounts.map_or_else(String::new, |(amounts, text)| {
            format!("{:>10}  ", text(amounts.moved(&totals[at])))
        });
        lines.push(format!(
            "  {before:>7}%  {after:>7}%  {points:>+8.2}  {moved}{:indent$}{label}",
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
        assert_eq!(tree_lines(&tree, tree.sum(), least, None), expected);
        // The same counts in a tenth of the time.
        let amounts = Amounts {
            before: 1.0,
            after: 10.0,
        };
        let text = |by: f64| format!("{by:+.0}");
        let expected = [
            "    Before     After    Points      Amount",
            "   100.00%   100.00%     +0.00        +900  prog",
            "   100.00%   100.00%     +0.00        +900    main",
            "    79.00%    95.00%    +16.00        +871      same",
            "     0.00%     5.00%     +5.00         +50      grown",
            "    20.00%     0.00%    -20.00         -20      old",
        ];
        let lines = tree_lines(&tree, tree.sum(), least, Some((amounts, &text)));
        assert_eq!(lines, expected);
    }
}
