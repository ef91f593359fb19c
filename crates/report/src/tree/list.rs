//! Stacks one after the other.

use super::Drawing;
use rprof_base::Counted;
use rprof_profile::SampleCount;
use rprof_profile::view::{CallTree, Pruning};
use std::cmp::Reverse;

impl Drawing<'_> {
    /// Each stack below its value, a frame a line. The value counts stacks that go on from it, too, as perf's.
    pub(super) fn list_flat(&mut self) {
        let all = self.stacks();
        for (idx, &end) in all.iter().enumerate() {
            if self.is_full() {
                self.say_others(&all[idx..], "           ");
                self.text.push('\n');
                return;
            }
            let total = self.tree.node(end).total;
            let shown = self.graph.shown(total, self.event_weight);
            self.line(&["           ", &shown]);
            for number in self.path(end) {
                self.line_of(&["                "], number);
            }
            self.line(&[]);
        }
    }

    /// Each stack on a line of its own.
    pub(super) fn list_folded(&mut self) {
        let all = self.stacks();
        for (idx, &end) in all.iter().enumerate() {
            if self.is_full() {
                self.say_others(&all[idx..], "");
                return;
            }
            let own = self.tree.node(end).own;
            let shown = self.graph.shown(own, self.event_weight);
            self.text.push_str(&shown);
            let mut separator = " ";
            for number in self.path(end) {
                self.text.push_str(separator);
                self.push_label(number);
                separator = ";";
            }
            self.end_line();
        }
    }

    /// The nodes where stacks end, heaviest first.
    fn stacks(&self) -> Vec<u32> {
        let pruning = Pruning::below_percent(self.graph.min_percent, self.event_weight);
        let min_weight = pruning.min_weight(0).max(1);
        let mut ends: Vec<u32> = Vec::new();
        let mut todo: Vec<u32> = self.tree.roots().iter().rev().copied().collect();
        while let Some(number) = todo.pop() {
            let node = self.tree.node(number);
            if node.own.weight >= min_weight {
                ends.push(number);
            }
            todo.extend(node.children.iter().rev());
        }
        ends.sort_by_key(|&number| Reverse(self.tree.node(number).own.weight));
        ends.truncate(self.graph.print_limit.unwrap_or(usize::MAX));
        ends
    }

    /// The nodes of a stack, from its root on.
    fn path(&self, end: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = Some(end);
        while let Some(number) = at {
            path.push(number);
            at = self.tree.node(number).parent;
        }
        path.reverse();
        path
    }

    /// Counts stacks that there is no room for.
    fn say_others(&mut self, ends: &[u32], start: &str) {
        let own = |tree: &CallTree, number: u32| -> SampleCount { tree.node(number).own };
        let shown = self.graph.shown(self.sum(ends, own), self.event_weight);
        let n_ends = u64::try_from(ends.len()).unwrap_or(u64::MAX);
        let stacks = Counted::new(n_ends, "stack", "stacks").to_string();
        self.line(&[start, "... ", &stacks, ", ", &shown]);
    }
}
