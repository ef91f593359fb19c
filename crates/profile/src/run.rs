//! A recording as one run of what is measured: what each row weighs, in blocks of time. `diff` compares runs.

mod namesakes;
mod rows;

pub use rows::{CountedBlocks, RunRows};

use crate::{
    About, EventKind, FrameId, Frames, Group, Loss, SampleCount, Sampling, StrId, Strings, Unwound,
    ValueSets,
};
use std::ops::RangeInclusive;

/// A recording, counted in blocks of time.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Where and how it was recorded.
    pub about: About,
    /// The times that were counted, in order, without holes between those that touch; none if samples have no times.
    pub times_ns: Vec<RangeInclusive<u64>>,
    /// Names.
    pub strings: Strings,
    /// Functions.
    pub frames: Frames,
    /// Values of groups.
    pub values: ValueSets,
    /// Events, in the recording's order; those that only carry sideband are left out.
    pub events: Vec<RunEvent>,
    /// Images of the recording: the short name that frames have, and the build id as hex where it is known.
    pub images: Vec<(StrId, Option<String>)>,
    /// How stacks ended, where they were unwound from stack dumps.
    pub unwound: Unwound,
    /// What could not be used, one sentence each.
    pub warnings: Vec<String>,
}

/// One event.
#[derive(Clone, Debug)]
pub struct RunEvent {
    /// Its name.
    pub name: String,
    /// What it counts.
    pub kind: EventKind,
    /// When samples are taken.
    pub sampling: Sampling,
    /// All samples that filters of time and CPU let through: percentages are of these.
    pub all: SampleCount,
    /// Samples that are missing.
    pub loss: Loss,
    /// Whether the samples have stacks, so that rows have sums with what they called.
    pub has_stacks: bool,
    /// The blocks: spans of equal length from the first sample of the recording to the last, as far as times are asked
    /// for, as if nothing were between these; one where samples have no times. All events of a recording have the same.
    pub blocks: Vec<Block>,
    /// The groups that rows name by number.
    pub groups: Vec<Group>,
    /// What was counted, in no order.
    pub rows: Vec<RunRow>,
    /// Which functions called others of nearly their names; without stacks none.
    pub namesakes: Vec<Namesake>,
}

/// A span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its first nanosecond, by the recording's clock.
    pub start_ns: u64,
    /// The nanosecond after its last.
    pub end_ns: u64,
    /// All samples in it.
    pub all: SampleCount,
}

/// What a function counted, in one group of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    /// Number of its group.
    pub group: u32,
    /// The function.
    pub frame: FrameId,
    /// Samples that are its self time, by block.
    pub own: Vec<SampleCount>,
    /// Samples taken in it or in what it called, by block, each once; empty without stacks.
    pub with_children: Vec<SampleCount>,
}

/// A function, and which others of nearly its name are between it and the outermost one of its stacks.
///
/// Two builds may have one function in other parts (`f` and `f.part.0`, `f` inlined and not). A row that joins these
/// adds what each has with what it called, and then has to take off what is in both: [`Namesake::again`] of each that
/// has another function of the row among its callers here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namesake {
    /// Number of its group.
    pub group: u32,
    /// The function. Functions without names are two for each image: the second was called by the first.
    pub frame: FrameId,
    /// The number of the namesake that called it, directly or not; it stands before this one.
    pub caller: Option<u32>,
    /// Samples taken in it or in what it called, by block, that its callers have, too; empty without callers.
    pub again: Vec<SampleCount>,
}
