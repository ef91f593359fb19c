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
mod background;
mod begin;
mod by_cpu;
mod by_events;
mod control;
mod cost;
mod coverage;
mod cpu_budget;
mod doctor;
mod drain;
mod ending;
mod error;
mod give_up;
mod grace_period;
mod hysteresis;
mod interrupts;
mod jit_clock;
mod live;
mod note;
mod opened_event;
mod opening;
mod output;
mod probes;
mod ptrace;
mod run;
mod running;
mod sample_fields;
mod settings;
mod sideband;
mod sink;
mod start;
mod switching;
mod targets;
mod wakeups;

pub use doctor::{Check, Diagnosis, Prospect, State, diagnose};
pub use error::Error;
pub use note::{FewFiles, Less, Note, SmallRings};
pub use opened_event::{OpenedEvent, OpenedFor};
pub use opening::place::Place;
pub use opening::stack_dump::LARGE_BYTES as MOST_STACK_BYTES;
pub use output::saved::{save_segments, write_segments};
pub use output::segments::{NextSegment, RecordedSegment, SegmentOutput, Segments, segments};
pub use output::writing::{SwitchOn, SwitchOutput, Synthesis, Writing};
pub use rprof_probes::ProbeError;
pub use rprof_targets::{Cgroups, ControlPipes};
pub use sample_fields::{SampleFields, Space, user_registers};
pub use settings::{
    CallChains, EventCount, Inherit, Output, Rate, Settings, Summary, Tool, Watch, WatchpointUse,
};
pub use sideband::Sideband;
pub use start::record;
pub use switching::remote_control::ControlNote;
pub use switching::timing::{Delay, When};
pub use targets::matching::{Matching, NamePattern};
