//! A profile grouped to be shown: rows of a table, trees below them, stacks as lines.

mod calltree;
mod columns;
mod event_set;
mod field;
mod folded;
mod hierarchy;
mod joined;
mod row;
mod rows;
mod sort_key;
mod sum;

pub use calltree::{CallNode, CallTree, Order, Pruning};
pub use columns::{Asked, Columns, WantedColumns};
pub use event_set::{EventSet, EventSets};
pub use field::Field;
pub use folded::{
    Audience, Count, FirstFrame, FoldOptions, FoldedStacks, ThreadNames, fold, picture_label,
    thread_label, wait_label,
};
pub(crate) use folded::{nameless_label, safe, thread_labels, thread_names};
pub use hierarchy::{LevelRow, levels};
pub use joined::{JoinedRow, join};
pub use row::{FieldValue, Row, RowKey, Sums, Weighing};
pub use rows::{KeptRows, Rows};
pub use sort_key::SortKey;
pub use sum::Sum;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
