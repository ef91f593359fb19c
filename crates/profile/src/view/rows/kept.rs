//! Rows that are kept while what they are of lies elsewhere, and may be borrowed again.

use super::{RowNodes, Rows};
use crate::tree::ChildLists;
use crate::view::{Row, Weighing};
use crate::{EventProfile, Profile};
use std::sync::OnceLock;

/// [`Rows`] without the profile and the event that they are of.
#[derive(Debug)]
pub struct KeptRows {
    row_of_node: Vec<u32>,
    self_row_of_node: Vec<u32>,
    children: ChildLists,
    rows: Vec<Row>,
    order: Vec<u32>,
    weighing: Weighing,
    nodes: OnceLock<RowNodes>,
    is_by_symbol: bool,
}

impl Rows<'_> {
    /// Keeps them without what they are of.
    pub fn keep(self) -> KeptRows {
        KeptRows {
            row_of_node: self.row_of_node,
            self_row_of_node: self.self_row_of_node,
            children: self.children,
            rows: self.rows,
            order: self.order,
            weighing: self.weighing,
            nodes: self.nodes,
            is_by_symbol: self.is_by_symbol,
        }
    }
}

impl KeptRows {
    /// The rows again; these have to be the profile and the event that they were made of.
    pub fn again<'p>(self, profile: &'p Profile, event: &'p EventProfile) -> Rows<'p> {
        Rows {
            profile,
            event,
            row_of_node: self.row_of_node,
            self_row_of_node: self.self_row_of_node,
            children: self.children,
            rows: self.rows,
            order: self.order,
            weighing: self.weighing,
            nodes: self.nodes,
            is_by_symbol: self.is_by_symbol,
        }
    }
}
