//! Counts, stacks, trees and views: plain data that every verb, exporter and test can build.
//!
//! A [`Tally`] counts stacks while a recording is read; frozen, its trees become a [`Profile`];
//! a [`view`] groups one into rows and trees. A [`run::Run`] counts by blocks of time, too; a [`SampledProfile`] has samples
//! one by one. Stacks are counted by function, not by address, so a profile is as large as the program, not as the
//! recording; for viewers that show addresses, nodes are code locations ([`CodeTable`]). [`text`] is how tables are set.
//! Nothing here knows files, processes or symbols.

mod about;
pub mod code;
mod code_table;
mod comm;
mod counted;
pub mod difference;
mod dimension;
mod filter;
mod fold;
mod frames;
mod gaps;
mod header_json;
mod joined;
mod label;
mod lost_callers;
mod profile;
mod quality;
pub mod run;
mod sampled;
mod span_times;
mod strings;
mod tally;
mod tasks;
#[doc(hidden)]
pub mod testing;
pub mod text;
mod time_slots;
mod tree;
mod unwound;
pub mod view;
mod waits;
mod window;

pub use about::{About, Coverage, EventKind, Sampling, Thinning, WallClock};
pub use code_table::{CodeFrame, CodeImage, CodeKind, CodeLocation, CodeTable};
pub use comm::without_digits;
pub use counted::{CountedStacks, CountedThread, CutStacks, PartOf, StackCount};
pub use dimension::{Dimension, DimensionValue, DimensionValues, ValueSets, ValuesId};
pub use filter::{
    Account, Ancestor, CountedTime, EventChoice, EventSwitches, Filter, FilterError, NameList,
    PathEnd, SpanLimit, SpanSide, SpanSpeed, TimeSlices,
};
pub use fold::{Fold, Others, StackFilter};
pub use frames::{FrameId, FrameInfo, Frames, Level, NodeKey, NodePlace, Position};
pub use gaps::{Gap, Gaps};
pub use header_json::FieldOrder;
pub use joined::{JoinedProfile, JoinedSamples, JoinedStacks, PartClock};
pub use label::{Label, padded_hex};
pub use profile::{
    CheckedNames, EventProfile, Group, GroupedEvents, ListedUnnamed, Loss, Profile, UnnamedImage,
};
pub use quality::{Flaw, Quality};
pub use sampled::{
    FieldValue, LastNames, SampleColumns, SamplePlace, SamplePlaces, SampleRow, SampleTable,
    SampledProfile, Thread, TimedLoss, TimedWait, TraceValue,
};
pub use span_times::SpanTimes;
pub use strings::{StrId, Strings};
pub use tally::{SampleCount, Tally, TallyParts};
pub use tasks::{RecordedTask, TaskMapping, Tasks};
pub use time_slots::{TimeSlots, UsedSlots};
pub use tree::{Node, NodeLists, SelfTime, Tree, UseOrder};
pub use unwound::{EndedStacks, Unwound};
pub use waits::WAIT_DIMENSIONS;
pub use window::SampleWindow;
