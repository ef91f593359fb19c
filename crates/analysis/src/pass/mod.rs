//! Passes over samples, and the one driver that runs them.

mod branches;
mod counts;
mod dimensions;
mod driver;
mod emptied;
mod entry;
mod finish;
mod flat;
mod group_key;
mod load;
mod locations;
mod mode;
mod ordered;
mod ordered_pass;
mod places;
mod profile;
mod query;
mod recorded;
mod stacks;
mod timeline;
mod trace_texts;
mod words;
mod written;

pub(crate) use dimensions::Grouping;
pub use dimensions::{GroupBy, TraceField};
pub use driver::{ResolvedSample, TaskSample};
pub use emptied::{EmptyFilter, empty_filter};
pub(crate) use flat::count_flat;
pub use load::{Options, Progress, WantedPositions, load, progress_of};
pub use locations::{FoundLocations, find_locations};
pub use mode::SortMode;
pub use ordered::OrderedRecord;
pub use ordered_pass::{OrderedPass, OrderedResult, run_ordered};
pub use query::{Query, WantedFrames};
pub use timeline::{TimelineDetail, load_timeline};
pub use written::WrittenSamples;
