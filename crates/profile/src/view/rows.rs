//! Rows: self and children of whatever the sort keys tell apart.

mod kept;
mod numbers;
mod order;

pub use kept::KeptRows;

use super::row::{Row, Weighing};
use super::{Columns, SortKey};
use crate::tree::NodeLists;
use crate::{Dimension, EventProfile, FrameId, Group, Node, Profile};
use numbers::number_rows;
use std::sync::OnceLock;

/// Parts of a weight's unit, so that little is lost where it is divided.
const LATENCY_PARTS: i128 = 1000;

/// The rows of one event, and what is needed to grow trees below them.
#[derive(Debug)]
pub struct Rows<'p> {
    pub(super) profile: &'p Profile,
    pub(super) event: &'p EventProfile,
    pub(super) kept: KeptRows,
}

/// Nodes by row.
#[derive(Debug)]
pub(super) struct RowNodes {
    /// Those that are of a row.
    pub(super) all: NodeLists,
    /// Those whose own samples count for a row.
    pub(super) own: NodeLists,
}

impl<'p> Rows<'p> {
    /// Groups an event by sort keys, the heaviest rows first.
    pub fn new(
        profile: &'p Profile,
        event: &'p EventProfile,
        keys: &[SortKey],
        weighing: Weighing,
    ) -> Self {
        Self::of(profile, event, &Columns::of(keys, weighing))
    }

    /// Groups an event by the keys of columns, in their order.
    pub fn of(profile: &'p Profile, event: &'p EventProfile, columns: &Columns) -> Self {
        let (rows, row_of_node) = number_rows(profile, event, &columns.keys());
        let own = event.tree.self_nodes(&profile.frames, profile.self_time);
        let self_row_of_node = own.iter().map(|&node| row_of_node[node as usize]).collect();
        let mut all = Self {
            profile,
            event,
            kept: KeptRows {
                row_of_node,
                self_row_of_node,
                children: event.tree.child_lists(),
                rows,
                order: Vec::new(),
                weighing: columns.weighing,
                nodes: OnceLock::new(),
                is_by_symbol: columns.keys().first() == Some(&SortKey::Symbol),
            },
        };
        all.sum_self();
        all.sum_totals();
        if columns.has_latency() {
            all.sum_latency();
        }
        all.kept.sort(profile, columns);
        all
    }

    /// The rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Row> {
        self.kept.iter()
    }

    /// The row at a place in their order.
    pub fn get(&self, nth: usize) -> Option<&Row> {
        self.kept.get(nth)
    }

    /// Whether a row's first column is this function.
    pub fn begins_with(&self, row: &Row, frame: FrameId) -> bool {
        let function = self.profile.frames.function_of(frame);
        self.kept.is_by_symbol && row.key.frame == Some(function)
    }

    fn sum_self(&mut self) {
        let KeptRows {
            rows,
            self_row_of_node,
            ..
        } = &mut self.kept;
        let nodes = self.event.tree.nodes().iter();
        let is_counted = |node: &Node| node.self_samples > 0 || node.self_weight > 0;
        let own = nodes.zip(&*self_row_of_node);
        for (node, &row) in own.filter(|(node, _)| is_counted(node)) {
            let row = &mut rows[row as usize];
            let level = self.profile.frames.of(node.frame).level;
            row.sums.add_own(level, node.self_samples, node.self_weight);
        }
    }

    fn sum_totals(&mut self) {
        let totals = self.event.tree.totals();
        self.for_each_first(|row, node| {
            let sum = &mut row.sums.total_weight;
            *sum = sum.saturating_add(totals[node]);
        });
    }

    /// The time that passed is the weight divided by the threads that ran then, which a node's group says.
    fn sum_latency(&mut self) {
        let (event, totals) = (self.event, self.event.tree.totals());
        let values = &self.profile.values;
        let nodes = event.tree.nodes();
        let part = |weight: u64, node: usize| {
            let group = event.groups.get(nodes[node].group as usize);
            let number = |group: &Group| values.of(group.values).number(Dimension::Parallelism);
            let n_threads = group.and_then(number).unwrap_or(1).max(1);
            let part = i128::from(weight) * LATENCY_PARTS / i128::from(n_threads);
            u64::try_from(part).unwrap_or(u64::MAX)
        };
        let KeptRows {
            rows,
            self_row_of_node,
            ..
        } = &mut self.kept;
        for (node, &row) in self_row_of_node.iter().enumerate() {
            let sum = &mut rows[row as usize].sums.self_latency;
            *sum = sum.saturating_add(part(nodes[node].self_weight, node));
        }
        self.for_each_first(|row, node| {
            let sum = &mut row.sums.total_latency;
            *sum = sum.saturating_add(part(totals[node], node));
        });
    }

    /// What shares of the time that passed are of, in the unit of rows.
    pub fn latency(&self) -> u64 {
        let all = self.kept.rows.iter().map(|row| row.self_latency);
        all.fold(0, u64::saturating_add)
    }

    /// Calls `add` for each node and its row, unless a frame further out has the same row: recursion counts once.
    fn for_each_first(&mut self, mut add: impl FnMut(&mut Row, usize)) {
        let KeptRows {
            rows,
            row_of_node,
            children,
            ..
        } = &mut self.kept;
        let numbers = (&**row_of_node, rows.len());
        let tree = &self.event.tree;
        tree.for_each_first(children, numbers, |row, node| add(&mut rows[row], node));
    }
}
