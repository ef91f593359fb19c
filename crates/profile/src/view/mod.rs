//! A profile grouped for the eye: rows of a table, trees below them.

mod calltree;
mod rows;
mod sort_key;

pub use calltree::{CallNode, CallTree, Order};
pub use rows::{Row, RowKey, Rows};
pub use sort_key::SortKey;

#[cfg(test)]
mod tests;
