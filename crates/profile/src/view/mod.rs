//! A profile grouped to be shown: rows of a table, trees below them, stacks as lines.

mod calltree;
mod event_set;
mod field;
mod folded;
mod joined;
mod ranks;
mod row;
mod rows;
mod sort_key;

pub use calltree::{CallNode, CallTree, Counts, Order, Pruning};
pub use event_set::{EventSet, EventSets};
pub use field::{Asked, Columns, Field, Sum, WantedColumns};
pub use folded::{Audience, Count, FirstFrame, FoldOptions, FoldedStacks, ThreadNames, fold};
pub use joined::{JoinedRow, join};
pub use row::{FieldValue, Row, RowKey, Weighing};
pub use rows::Rows;
pub use sort_key::SortKey;

#[cfg(test)]
mod tests;
