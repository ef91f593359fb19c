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
mod control;
mod cost;
mod cpu_budget;
mod cpu_or_thread;
mod doctor;
mod drain;
mod error;
mod hysteresis;
mod interrupts;
mod jit_clock;
mod layouts;
mod live;
mod note;
mod opening;
mod output;
mod pauses;
mod probes;
mod ptrace;
mod recording;
mod settings;
mod sink;
mod start;
mod targets;
mod thinning;
mod words;

pub use cpu_or_thread::CpuOrThread;
pub use doctor::{Check, Diagnosis, Prospect, State, diagnose};
pub use error::Error;
pub use note::{
    ControlNote, Degraded, FewFiles, Note, OffCpuMethod, OffCpuStacks, OpenedEvent, OpenedFor,
    SmallRings,
};
pub use opening::stack_dump::LARGE_BYTES as MOST_STACK_BYTES;
pub use output::saved::{save_segments, write_segments};
pub use output::segments::{NextSegment, RecordedSegment, SegmentOutput, Segments, segments};
pub use rprof_probes::ProbeError;
pub use rprof_targets::{Cgroups, ControlPipes};
pub use settings::{
    CallChains, Delay, EventCount, FlightPlan, Inherit, OffCpu, Output, Rate, RotateOn, Rotation,
    SampleFields, Settings, Sideband, SlowSpan, Space, Summary, Synthesis, Tool, Watch,
    WatchpointUse, When, Writing, user_registers,
};
pub use start::record;
pub use targets::matching::{Matching, NamePattern};
