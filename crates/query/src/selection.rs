//! What is asked for.

use rprof_profile::view::ThreadNames;
use rprof_profile::{Dimension, Fold, FrameId, NameList};
use std::ops::RangeInclusive;

/// Which samples. The default is all of the first event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleSelection {
    /// Index of the event in the profile's.
    pub event: usize,
    /// Times, both ends included: samples of others are not in any total.
    pub times_ns: Option<RangeInclusive<u64>>,
    /// CPUs: samples of others are not in any total. None at all are all.
    pub cpus: Vec<u16>,
    /// Processes.
    pub pids: Vec<i32>,
    /// Threads, by id.
    pub tids: Vec<i32>,
    /// Threads, by index.
    pub threads: Vec<u32>,
    /// Names of threads.
    pub comms: NameList,
    /// Images that the innermost function is in, by short name.
    pub dsos: NameList,
    /// Names of the innermost function.
    pub symbols: NameList,
    /// Names of functions that a stack has, wherever in it; those with `!` it has not.
    pub frames: NameList,
    /// The part of each stack that counts.
    pub focus: Option<Focus>,
    /// What samples are told apart by beside the names of threads, so that rows may be: [`Dimension::Pid`],
    /// [`Dimension::Tid`], [`Dimension::Cpu`], [`Dimension::CommNoDigit`]. Others have no values here.
    pub by: Vec<Dimension>,
}

/// A part of stacks that have a function. Stacks without it are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// The function, as the outermost, and what it called.
    Below(FrameId),
    /// The function, as the innermost, and who called it.
    Above(FrameId),
}

/// How stacks are made simpler, in this order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StackFolding {
    /// Functions that are their callers: wrappers that say nothing.
    pub hidden: NameList,
    /// What else becomes one.
    pub folds: Vec<Fold>,
    /// What threads are called. Selections by name ask for whole names.
    pub threads: ThreadNames,
}
