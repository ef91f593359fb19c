//! Samples one by one: what can be asked again and again without reading the file, or shown in order of time.
//!
//! A sample is a row of numbers in columns, some 22 bytes, so that millions of them fit. What the nodes of its stack are
//! is a choice: functions, or code locations for viewers that show addresses and lines.

mod places;
mod table;

use crate::{CodeTable, Group, Profile, StrId, Tree};
use std::collections::BTreeMap;

pub use places::{SamplePlace, SamplePlaces};
pub use table::{SampleColumns, SampleRow, SampleTable};

/// A recording whose samples are told apart.
#[derive(Clone, Debug, Default)]
pub struct SampledProfile {
    /// Names, functions, events with their totals, and what is to be said of the recording. The trees of its events
    /// are empty: [`Self::stacks`] is instead of them.
    pub profile: Profile,
    /// Stacks of all samples. Nothing is counted at its nodes.
    pub stacks: Tree,
    /// What the frames of the stacks are the numbers of, where nodes are code locations; else empty, and frames are the
    /// profile's.
    pub code: CodeTable,
    /// What the groups of the tree's outermost nodes are: names of threads, and where the time of threads is accounted
    /// for, what they wait for ([`Profile::cause_of`]). Stacks of code locations have none.
    pub groups: Vec<Group>,
    /// Threads, in the order of their first samples.
    pub threads: Vec<Thread>,
    /// What each of them, and its process, was called at last; not where nodes are code locations.
    pub last_names: Vec<LastNames>,
    /// In order of time.
    pub samples: SampleTable,
    /// Where they were taken, as far as that was asked for.
    pub places: SamplePlaces,
    /// What tracepoints wrote, by index of the sample, as far as that was asked for.
    pub fields: BTreeMap<u32, Vec<TraceValue>>,
    /// Moments at which samples were lost, as far as they are known.
    pub losses: Vec<TimedLoss>,
    /// Times at which threads waited, in the order in which they ended, as far as that was asked for and recorded.
    pub waits: Vec<TimedWait>,
    /// Whether samples of waits have the time at which these began, and each lasts for as long as it counts; those of
    /// one time follow each other.
    pub waits_have_begins: bool,
    /// Whether times are the recording's. Otherwise samples are in the file's order: all at 0 or, where nodes are code
    /// locations, a millisecond apart.
    pub has_times: bool,
}

/// Nanoseconds in a second.
const NANOSECONDS: u64 = 1_000_000_000;

impl SampledProfile {
    /// Moves all times, by nanoseconds; none becomes negative.
    pub(crate) fn shift_times(&mut self, by_ns: i128) {
        let shifted = |time_ns: u64| {
            let shifted = (i128::from(time_ns) + by_ns).max(0);
            u64::try_from(shifted).unwrap_or(u64::MAX)
        };
        self.samples.map_times(shifted);
        for thread in &mut self.threads {
            thread.start_ns = shifted(thread.start_ns);
            thread.end_ns = shifted(thread.end_ns);
        }
        for loss in &mut self.losses {
            loss.time_ns = shifted(loss.time_ns);
        }
        for wait in &mut self.waits {
            wait.start_ns = shifted(wait.start_ns);
            wait.end_ns = shifted(wait.end_ns);
        }
        for (second, _) in &mut self.profile.gaps.seconds {
            *second = shifted(second.saturating_mul(NANOSECONDS)) / NANOSECONDS;
        }
    }
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

/// What a task was called at last: rows by process or by thread have these names, whatever it was called before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastNames {
    /// The process.
    pub process: StrId,
    /// The thread.
    pub thread: StrId,
}

/// A field of a tracepoint, with what one sample has there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceValue {
    /// The field's name.
    pub name: StrId,
    /// What was written.
    pub value: FieldValue,
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

/// A time at which a thread waited, for something or for a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedWait {
    /// Index of the thread.
    pub thread: u32,
    /// Since when, nanoseconds of the recording's clock.
    pub start_ns: u64,
    /// Until when.
    pub end_ns: u64,
    /// What it did: runnable, sleeping.
    pub state: StrId,
    /// What it waited for.
    pub cause: StrId,
    /// Who ended it, or woke the thread before: a thread, or `[timer]`, `[irq]`, `[softirq]`; `None` if nobody is known.
    pub waker: Option<StrId>,
    /// Index of that thread, if it is one of the profile's.
    pub waker_thread: Option<u32>,
    /// Whether it ended with a wake-up, so that the thread waits for a CPU from then on.
    pub is_woken: bool,
}
