//! Rows that are kept while what they are of lies elsewhere, and may be borrowed again.

use super::order::order_of;
use super::{RowNodes, Rows};
use crate::tree::{ChildLists, NodeLists};
use crate::view::{Columns, Row, Weighing};
use crate::{EventProfile, Profile};
use std::sync::OnceLock;

/// [`Rows`] without the profile and the event that they are of.
#[derive(Debug)]
pub struct KeptRows {
    /// Number of the row of each node.
    pub(in crate::view) row_of_node: Vec<u32>,
    /// Number of the row whose self time a node's own samples are.
    pub(in crate::view) self_row_of_node: Vec<u32>,
    pub(in crate::view) children: ChildLists,
    pub(in crate::view) weighing: Weighing,
    /// By number.
    pub(super) rows: Vec<Row>,
    /// Numbers, in order of printing.
    pub(super) order: Vec<u32>,
    /// Made for the first tree.
    pub(super) nodes: OnceLock<RowNodes>,
    pub(super) is_by_symbol: bool,
}

impl Rows<'_> {
    /// Keeps them without what they are of.
    pub fn keep(self) -> KeptRows {
        self.kept
    }
}

impl KeptRows {
    /// The rows again; these have to be the profile and the event that they were made of.
    pub fn again<'p>(self, profile: &'p Profile, event: &'p EventProfile) -> Rows<'p> {
        Rows {
            profile,
            event,
            kept: self,
        }
    }

    /// The rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Row> {
        self.order.iter().map(|&number| &self.rows[number as usize])
    }

    /// The row at a place in their order.
    pub fn get(&self, nth: usize) -> Option<&Row> {
        self.rows.get(*self.order.get(nth)? as usize)
    }

    /// Puts them in the order of columns with the same keys. The profile has to be theirs.
    pub fn sort(&mut self, profile: &Profile, columns: &Columns) {
        self.weighing = columns.weighing;
        self.order = order_of(&self.rows, profile, columns);
    }

    /// The nodes of each row.
    pub(in crate::view) fn nodes(&self) -> &RowNodes {
        self.nodes.get_or_init(|| {
            let lists =
                |rows: &[u32]| NodeLists::of(self.rows.len(), rows.iter().map(|&row| row as usize));
            RowNodes {
                all: lists(&self.row_of_node),
                own: lists(&self.self_row_of_node),
            }
        })
    }
}
