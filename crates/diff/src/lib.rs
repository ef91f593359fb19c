//! Recordings before and after: what changed, how sure that is, and what is noise.
//!
//! [`compare`] counts the rows of all [`Recordings`], divides them by what makes them comparable ([`Per`]), and estimates
//! how much each changed and how sure that is. The writers show that as text, Markdown, JSON and CSV; [`GateResult`] says
//! what became of conditions.

mod assemble;
mod comparison;
mod compute;
mod each;
mod error;
mod format;
mod gate;
mod judge;
mod naming;
mod notes;
mod per;
mod recordings;
mod rows;
mod statistics;
mod sure;
#[cfg(test)]
mod tests;
mod tree;

pub use comparison::{
    CompareOptions, ComparedEvent, ComparedRow, Comparison, DiffShare, Inlining, Judged, OneSided,
    RowOrder, compare,
};
pub use compute::{Compute, Weights};
pub use each::{ComparedRecording, compare_each};
pub use error::DiffError;
pub use format::{
    DIFF_EACH_VERSION, DIFF_VERSION, DiffLayout, EachForm, workflow_commands, write_diff,
    write_diff_csv, write_diff_json, write_diff_markdown, write_each, write_each_json,
};
pub use gate::{Comparator, Condition, ConditionError, GateOutcome, GateResult, Limit, Subject};
pub use naming::NameMatching;
pub use per::Per;
pub use recordings::{NamedRun, Recordings};
pub use statistics::Estimate;
pub use sure::sure_changes;
pub use tree::write_diff_tree;
