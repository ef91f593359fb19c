//! A profile grouped to be shown: rows of a table, trees below them, stacks as lines.

mod calltree;
mod folded;
mod ranks;
mod rows;
mod sort_key;

pub use calltree::{CallNode, CallTree, Counts, Order, Pruning};
pub use folded::{Audience, Count, FirstFrame, FoldOptions, FoldedStacks, ThreadNames, fold};
pub use rows::{Row, RowKey, Rows, Weighing};
pub use sort_key::SortKey;

#[cfg(test)]
mod tests;
