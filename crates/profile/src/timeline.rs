//! Samples one by one, in order of time, for viewers that show when and exactly where.
//!
//! Stacks are trees of code, not of functions: one address may stand for a function and others
//! inlined into it, and a function's addresses for several lines. Callers of one function that
//! are on one line are the same code, so a timeline is not much larger than the program either;
//! only where a sample was taken every address is told apart.

use crate::{FrameId, Profile, StrId};
use std::ops::RangeInclusive;

/// A recording as a list of samples.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Names, functions, events with their totals, and what is to be said of the recording. The
    /// trees of its events are empty: [`Self::stacks`] is instead of them.
    pub profile: Profile,
    /// Files and other sources of code.
    pub images: Vec<Image>,
    /// Places in code.
    pub code: Vec<Code>,
    /// Stacks; callers stand before what they call.
    pub stacks: Vec<StackNode>,
    /// Threads, in the order of their first samples.
    pub threads: Vec<Thread>,
    /// In order of time.
    pub samples: Vec<TimedSample>,
    /// What tracepoints wrote: fields with their names.
    pub fields: Vec<Vec<(StrId, FieldValue)>>,
    /// Moments at which samples were lost, as far as they are known.
    pub losses: Vec<TimedLoss>,
    /// Whether times are the recording's. Otherwise samples are a millisecond apart, in the
    /// file's order.
    pub has_times: bool,
}

/// Where code comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeKind {
    /// A program.
    Program,
    /// A shared library.
    Library,
    /// Code that was made at run time.
    Jit,
    /// The kernel, its modules and BPF programs.
    Kernel,
    /// Not known.
    Unknown,
}

/// A file with code, or something like it.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// Short name.
    pub name: StrId,
    /// Path as it was recorded.
    pub path: StrId,
    /// Its contents' identity, in hexadecimal digits.
    pub build_id: Option<StrId>,
    /// What it is.
    pub kind: CodeKind,
    /// For a kernel, where its text begins in memory, if the recording says so.
    pub base: Option<u64>,
}

/// A function at a place in code, and its line if that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeFrame {
    /// The function.
    pub frame: FrameId,
    /// File and line.
    pub line: Option<(StrId, u32)>,
}

/// A place in code.
#[derive(Clone, Debug)]
pub struct Code {
    /// Index of its image.
    pub image: u32,
    /// Offset in the image's file; of the kernel's code the address in memory. Of callers that
    /// are on one line of a function, the lowest that occurs.
    pub address: u64,
    /// Where that is in the ELF file's address space, if it has a name.
    pub svma: Option<u64>,
    /// Where the function that has a symbol begins, in the ELF file's address space; of the kernel's code in memory.
    pub function: Option<u64>,
    /// Functions there, innermost first: all but the last are inlined.
    pub frames: Vec<CodeFrame>,
}

/// One node; its path from the root is a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackNode {
    /// Index of the caller's node.
    pub parent: Option<u32>,
    /// Index of its code.
    pub code: u32,
}

/// A thread under one name: one that renames itself, or executes another program, is two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Process.
    pub pid: i32,
    /// Thread.
    pub tid: i32,
    /// Name.
    pub comm: StrId,
    /// When it began or was first seen.
    pub start_ns: u64,
    /// When it ended or was last seen.
    pub end_ns: u64,
}

/// A sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedSample {
    /// Nanoseconds of the recording's clock.
    pub time_ns: u64,
    /// Index of its event in the profile's.
    pub event: u32,
    /// Index of its thread.
    pub thread: u32,
    /// Index of its stack's innermost node; `None` if nothing was recorded of it.
    pub stack: Option<u32>,
    /// CPU.
    pub cpu: Option<u32>,
    /// What it counts for, in the event's unit.
    pub weight: u64,
    /// Index of what its tracepoint wrote.
    pub fields: Option<u32>,
}

/// The value of a tracepoint's field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// A number.
    Unsigned(u64),
    /// One that may be negative.
    Signed(i64),
    /// An address or a word of bits.
    Hex(u64),
    /// Text, or several values as such.
    Text(StrId),
}

/// A moment at which samples were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedLoss {
    /// Nanoseconds of the recording's clock.
    pub time_ns: u64,
    /// How many.
    pub samples: u64,
}

impl Timeline {
    /// Indices of a stack's nodes, innermost first.
    pub fn nodes_of(&self, stack: Option<u32>) -> impl Iterator<Item = &StackNode> {
        let node = |idx: Option<u32>| self.stacks.get(idx? as usize);
        std::iter::successors(node(stack), move |here| node(here.parent))
    }

    /// Times of the first and the last sample.
    pub fn span_ns(&self) -> Option<RangeInclusive<u64>> {
        Some(self.samples.first()?.time_ns..=self.samples.last()?.time_ns)
    }

    /// Whether a sample is of an event that is shown by moments rather than by sums.
    pub fn is_occurrence(&self, event: u32) -> bool {
        let event = self.profile.events.get(event as usize);
        event.is_some_and(|event| event.kind == crate::EventKind::Occurrence)
    }
}
