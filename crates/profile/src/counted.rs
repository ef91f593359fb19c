//! Stacks of code locations, counted by thread, CPU and event: as large as the program and the number of its threads,
//! not as the recording.

mod part;

pub use part::{CutStacks, PartOf};

use crate::{CodeTable, Profile, SampleCount, StrId, Tree};
use std::ops::RangeInclusive;

/// A recording whose samples are counted by stacks of code locations.
#[derive(Clone, Debug, Default)]
pub struct CountedStacks {
    /// Names, functions, events with their totals, and what is to be said of the recording. The trees of its events
    /// are empty: [`Self::stacks`] is instead of them.
    pub profile: Profile,
    /// What the frames of the stacks are the numbers of.
    pub code: CodeTable,
    /// The stacks. Nothing is counted at its nodes.
    pub stacks: Tree,
    /// Threads, in the order of their first samples.
    pub threads: Vec<CountedThread>,
    /// What was counted: by stack, thread, CPU and event, in this order.
    pub counts: Vec<StackCount>,
    /// Times of the first and the last sample that is counted, if the recording has times.
    pub span_ns: Option<RangeInclusive<u64>>,
}

/// A thread under one name: one that renames itself, or executes another program, is two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedThread {
    /// Process.
    pub pid: i32,
    /// Thread.
    pub tid: i32,
    /// Name.
    pub comm: StrId,
}

/// Samples of an event that have the same stack, thread and CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackCount {
    /// The innermost node in [`CountedStacks::stacks`]; `None` if nothing was recorded of it.
    pub stack: Option<u32>,
    /// Index of the thread.
    pub thread: u32,
    /// CPU.
    pub cpu: Option<u32>,
    /// Index of the event in the profile's.
    pub event: u32,
    /// How many, and what they weigh.
    pub count: SampleCount,
}
