//! Samples one by one, for viewers that want them so.
//!
//! Locations have names as for a count. Each thread keeps a row for every sample of its chunks and a tree of its stacks
//! by code. Put together, rows are sorted, and nodes and threads numbered in the order in which sorted rows use them:
//! which thread read what does not show.

mod code;
mod fields;
mod merge;
mod row;
mod samples;
mod threads;

pub(super) use samples::event_numbers;
pub use samples::{TimelineDetail, load_timeline};
pub(super) use threads::{SeenThreads, timed_losses};
