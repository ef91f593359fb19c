//! Passes over samples, and the one driver that runs them.

mod block_log;
mod blocks;
mod branches;
mod code_counts;
mod code_nodes;
#[cfg(test)]
mod code_tests;
mod counts;
mod dimensions;
mod driver;
mod emptied;
mod entry;
mod finish;
mod flat;
mod group_key;
mod load;
mod load_run;
mod locations;
mod mode;
mod ordered;
mod ordered_pass;
mod own_code;
mod places;
mod profile;
mod query;
mod recorded;
mod sampled;
mod stack_path;
mod stacks;
#[cfg(test)]
mod tests;
mod trace_texts;
mod used_images;
mod words;
mod written;

pub use code_counts::load_counted_stacks;
pub(crate) use dimensions::Grouping;
pub use dimensions::{GroupBy, TraceField};
pub use driver::{ResolvedSample, TaskSample};
pub use emptied::{EmptyFilter, empty_filter};
pub(crate) use flat::count_flat;
pub use load::{Options, Progress, WantedPositions, load, progress_of};
pub use load_run::load_run;
pub use locations::{FoundLocations, find_locations};
pub use mode::SortMode;
pub use ordered::OrderedRecord;
pub use ordered_pass::{OrderedPass, OrderedResult, run_ordered};
pub(crate) use own_code::{CodeCounts, count_code};
pub use query::{Query, WantedFrames};
pub use sampled::{CodeDetail, load_code_samples, load_samples};
pub use written::WrittenSamples;
