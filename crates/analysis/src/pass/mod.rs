//! Passes over samples, and the one driver that runs them.

mod account;
mod alike_places;
mod awaited;
mod block_log;
mod blocks;
mod branches;
mod code_counts;
mod code_nodes;
mod counts;
mod dimensions;
mod driver;
mod emptied;
mod finish;
mod flat;
mod group_by;
mod group_key;
mod light_rows;
mod load;
mod load_run;
mod locations;
mod lost;
mod mode;
mod ordered;
mod ordered_pass;
mod own_code;
mod places;
mod query;
mod recorded;
mod sampled;
mod sched_decoder;
mod sched_events;
mod stack_path;
mod stacks;
mod syscall_decoder;
mod syscall_events;
mod syscall_words;
mod tallied;
#[cfg(test)]
pub(crate) mod tests;
mod trace_texts;
mod used_images;
mod waited_files;
mod words;
mod written;

pub use account::{CriticalPath, PathOwner, PathThread};
pub use account::{
    ThreadActivity, ThreadEvent, for_each_thread_event, has_thread_events, open_waits,
};
pub use code_counts::load_counted_stacks;
pub use code_nodes::code_query;
pub(crate) use dimensions::Grouping;
pub use driver::{ResolvedSample, TaskSample};
pub use emptied::{EmptyFilter, empty_filter};
pub(crate) use flat::count_flat;
pub use group_by::{GroupBy, TraceField};
pub use load::{Options, Progress, WantedPositions, load, load_critical, progress_of};
pub use load_run::load_run;
pub use locations::{FoundLocations, find_locations};
pub use mode::SortMode;
pub use ordered::OrderedRecord;
pub use ordered_pass::{OrderedPass, OrderedResult, run_ordered};
pub(crate) use own_code::{CodeCounts, count_code};
pub use query::{Query, WantedFrames};
pub(crate) use recorded::has_data_addresses;
pub use sampled::{CodeDetail, SampleExtras, load_code_samples, load_samples, load_samples_with};
pub(crate) use sampled::{LoadedSamples, load_functions, open_recording};
pub use sched_decoder::SchedEvent;
pub use sched_events::{SchedEvents, SchedStep, SchedWhat};
pub use syscall_decoder::{LockStep, SyscallStep};
pub use syscall_events::{
    SyscallEvent, SyscallStack, for_each_lock_event, for_each_syscall, machine_name,
};
pub use written::WrittenSamples;
