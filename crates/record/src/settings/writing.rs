//! How the output is written, and into how many files: plain data.

use rprof_events::Event;
use std::num::NonZeroUsize;
use std::time::Duration;

/// How the output is written.
#[derive(Clone, Debug, Default)]
pub struct Writing {
    /// zstd's level, 1 to 22, if records are to be compressed.
    pub compression: Option<i32>,
    /// Rings are overwritten, and written when a file ends: the last samples before that.
    pub overwrite: bool,
    /// Go on in another file now and then.
    pub rotation: Option<Rotation>,
    /// With [`RotateOn::Signal`], also when one of these happens.
    pub rotation_events: Vec<Event>,
    /// Of what rings hold, only what is around certain moments is written.
    pub flight: Option<FlightPlan>,
    /// Files get the time of their end as the ending of their names.
    pub timestamp_name: bool,
    /// The recording ends when a file has this many bytes.
    pub max_bytes: Option<u64>,
    /// Leave out the section of build ids, and what was in files that have none.
    pub no_build_ids: bool,
    /// What is described of what already runs.
    pub synthesis: Synthesis,
    /// It is described when a file ends, not when it begins.
    pub synthesis_at_end: bool,
}

/// When a recording goes on in another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// When.
    pub on: RotateOn,
    /// Only this many finished files are kept.
    pub most_files: Option<NonZeroUsize>,
}

/// What makes a recording go on in another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotateOn {
    /// SIGUSR2.
    Signal,
    /// A file has this many bytes.
    Bytes(u64),
    /// So much time has passed.
    Time(Duration),
}

/// What is described of processes that already run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Synthesis {
    /// Nothing.
    Nothing,
    /// Their threads and names.
    Tasks,
    /// Their mappings, too.
    #[default]
    All,
}

/// Around which moments samples are kept: when one of [`Writing::rotation_events`] happens, on SIGUSR2, and these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlightPlan {
    /// How long before and after each of them, as far as rings hold that.
    pub around: Duration,
    /// The end of the command, if it fails.
    pub on_failure: bool,
    /// Spans that take long.
    pub slow_spans: Vec<SlowSpan>,
}

/// A span that takes longer than it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowSpan {
    /// Its name; `None` for any.
    pub name: Option<String>,
    /// What it should not exceed.
    pub limit: Duration,
}
