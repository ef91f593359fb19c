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
mod alive;
mod attrs;
mod background;
mod by_cpu;
mod cgroup;
mod control;
mod cost;
mod coverage;
mod doctor;
mod drain;
mod ending;
mod error;
mod features;
mod file_end;
mod file_limit;
mod files;
mod flight;
mod grace_period;
mod group_attrs;
mod groups;
mod head;
mod interrupts;
mod jit_clock;
mod layouts;
mod lineage;
mod live;
mod losses;
mod matching;
mod missing_build_ids;
mod note;
mod open;
mod opening;
mod output;
mod permission;
mod place;
mod plan;
mod probe_error;
mod probes;
mod remote_control;
mod run;
mod running;
mod sample_fields;
mod sampled_by;
mod settings;
mod sideband;
mod sink;
mod stack_dump;
mod streams;
mod switch;
mod switching;
mod targets;
mod timestamp;
mod timing;
mod trial;
mod watched;
mod writing;

pub use doctor::{Check, Diagnosis, Prospect, State, diagnose};
pub use error::Error;
pub use matching::{Matching, NamePattern};
pub use note::{FewFiles, Less, Note, SmallRings};
pub use place::Place;
pub use probe_error::ProbeError;
pub use remote_control::ControlNote;
pub use run::record;
pub use sample_fields::{SampleFields, Space, user_registers};
pub use settings::{
    CallChains, Cgroups, EventCount, Inherit, Output, Rate, Settings, Summary, Tool, Watch,
};
pub use sideband::Sideband;
pub use stack_dump::LARGE_BYTES as MOST_STACK_BYTES;
pub use timing::{ControlPipes, Delay, When};
pub use writing::{SwitchOn, SwitchOutput, Synthesis, Writing};
