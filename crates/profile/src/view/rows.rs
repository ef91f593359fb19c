//! Rows: self and children of whatever the sort keys tell apart.

mod kept;
mod numbers;

pub use kept::KeptRows;

use super::row::{Row, Weighing};
use super::{Columns, Field, SortKey, Sum};
use crate::tree::{ChildLists, NodeLists};
use crate::{Dimension, EventProfile, FrameId, Group, Node, Profile};
use numbers::number_rows;
use std::cmp::Ordering;
use std::sync::OnceLock;

/// Parts of a weight's unit, so that little is lost where it is divided.
const LATENCY_PARTS: i128 = 1000;

/// The rows of one event, and what is needed to grow trees below them.
#[derive(Debug)]
pub struct Rows<'p> {
    pub(super) profile: &'p Profile,
    pub(super) event: &'p EventProfile,
    /// Number of the row of each node.
    pub(super) row_of_node: Vec<u32>,
    /// Number of the row that a node's own samples count for: that of the innermost function
    /// which was not inlined.
    pub(super) self_row_of_node: Vec<u32>,
    pub(super) children: ChildLists,
    /// By number.
    rows: Vec<Row>,
    /// Numbers, in order of printing.
    order: Vec<u32>,
    pub(super) weighing: Weighing,
    /// Made for the first tree.
    nodes: OnceLock<RowNodes>,
    is_by_symbol: bool,
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
        let hosts = event.tree.hosts(&profile.frames).into_iter();
        let self_row_of_node = hosts.map(|host| row_of_node[host as usize]).collect();
        let mut all = Self {
            profile,
            event,
            row_of_node,
            self_row_of_node,
            children: event.tree.child_lists(),
            rows,
            order: Vec::new(),
            weighing: columns.weighing,
            nodes: OnceLock::new(),
            is_by_symbol: columns.keys().first() == Some(&SortKey::Symbol),
        };
        all.sum_self();
        all.sum_totals();
        if columns.has_latency() {
            all.sum_latency();
        }
        all.sort(columns);
        all
    }

    /// The rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Row> {
        self.order.iter().map(|&number| &self.rows[number as usize])
    }

    /// Whether a row's first column is this function.
    pub fn begins_with(&self, row: &Row, frame: FrameId) -> bool {
        let function = self.profile.frames.function_of(frame);
        self.is_by_symbol && row.key.frame == Some(function)
    }

    /// The nodes of each row.
    pub(super) fn nodes(&self) -> &RowNodes {
        self.nodes.get_or_init(|| {
            let lists =
                |rows: &[u32]| NodeLists::of(self.rows.len(), rows.iter().map(|&row| row as usize));
            RowNodes {
                all: lists(&self.row_of_node),
                own: lists(&self.self_row_of_node),
            }
        })
    }

    fn sum_self(&mut self) {
        let rows = &mut self.rows;
        let nodes = self.event.tree.nodes().iter();
        let is_counted = |node: &Node| node.self_samples > 0 || node.self_weight > 0;
        let own = nodes.zip(&self.self_row_of_node);
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
        for (node, &row) in self.self_row_of_node.iter().enumerate() {
            let sum = &mut self.rows[row as usize].sums.self_latency;
            *sum = sum.saturating_add(part(nodes[node].self_weight, node));
        }
        self.for_each_first(|row, node| {
            let sum = &mut row.sums.total_latency;
            *sum = sum.saturating_add(part(totals[node], node));
        });
    }

    /// What shares of the time that passed are of, in the unit of rows.
    pub fn latency(&self) -> u64 {
        let all = self.rows.iter().map(|row| row.self_latency);
        all.fold(0, u64::saturating_add)
    }

    /// Calls `add` for each node and its row, unless a frame further out has the same row: recursion counts once.
    fn for_each_first(&mut self, mut add: impl FnMut(&mut Row, usize)) {
        let (rows, tree) = (&mut self.rows, &self.event.tree);
        let numbers = (&*self.row_of_node, rows.len());
        tree.for_each_first(&self.children, numbers, |row, node| {
            add(&mut rows[row], node)
        });
    }

    fn sort(&mut self, columns: &Columns) {
        let (rows, profile) = (&self.rows, self.profile);
        // Sums come first in most orders, and most rows differ in them: they are compared without a look at the rows.
        let sums = columns.order.iter().map_while(|field| match field {
            Field::Sum(sum) => Some(*sum),
            Field::Key(_) => None,
        });
        let sums: Vec<Sum> = sums.take(2).collect();
        let heaviest_first = |row: &Row| {
            let mut of = [0; 2];
            for (of, sum) in of.iter_mut().zip(&sums) {
                *of = u64::MAX - sum.of(row);
            }
            of
        };
        let is_shown = |row: &Row| self.weighing == Weighing::WithChildren || row.self_samples > 0;
        let mut order: Vec<([u64; 2], u32)> = (0u32..)
            .zip(rows)
            .filter(|(_, row)| is_shown(row))
            .map(|(number, row)| (heaviest_first(row), number))
            .collect();
        // Texts of many rows would be compared again and again.
        if order.len() > profile.strings.len() {
            profile.strings.rank();
        }
        let compare = |a: u32, b: u32| {
            let (a, b) = (&rows[a as usize], &rows[b as usize]);
            let mut fields = columns.order.iter().skip(sums.len());
            let differ =
                |field: &Field| Some(field.compare(a, b, profile)).filter(|one| one.is_ne());
            fields.find_map(differ).unwrap_or(Ordering::Equal)
        };
        order.sort_unstable_by(|(a_sums, a), (b_sums, b)| {
            let by_sums = a_sums.cmp(b_sums);
            by_sums.then_with(|| compare(*a, *b).then(a.cmp(b)))
        });
        self.order = order.into_iter().map(|(_, number)| number).collect();
    }
}
