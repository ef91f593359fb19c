//! Runs a recording: opens events, starts or attaches to what is recorded, drains the rings and
//! writes `perf.data`.
//!
//! ```text
//! kernel -> Ring -> drain (this thread: walk headers, count, and trim and copy, or unwind)
//!        -> pool -> channel -> writer (unwind, if that is not done yet; write)
//! ```
//!
//! Samples and sideband (mappings, names, tasks) have rings of their own. A pass first loads the heads of
//! the sample rings, then drains all of the sideband, then takes the samples up to those heads. So what a
//! sample needs is in the file before it, and a flood of samples cannot push mappings out.
//!
//! [`record`] is the whole interface.

mod advice;
mod attrs;
mod background;
mod by_cpu;
mod control;
mod coverage;
mod drain;
mod ending;
mod error;
mod features;
mod file_limit;
mod grace_period;
mod head;
mod interrupts;
mod jit_clock;
mod layouts;
mod lineage;
mod live;
mod losses;
mod missing_build_ids;
mod note;
mod open;
mod output;
mod plan;
mod run;
mod running;
mod sample_fields;
mod settings;
mod sideband;
mod sink;
mod stack_dump;
mod streams;
mod targets;
mod watched;

pub use error::Error;
pub use note::{Less, Note, SmallRings};
pub use run::record;
pub use sample_fields::{SampleFields, Space, user_registers};
pub use settings::{CallChains, EventCount, Output, Rate, Settings, Summary, Tool, Watch};
pub use sideband::Sideband;
pub use stack_dump::LARGE_BYTES as MOST_STACK_BYTES;
