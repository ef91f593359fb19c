//! The engine under every view: a recording becomes symbols, profiles and samples.
//!
//! ```text
//! index       all records            names and mappings over time, losses, where chunks of samples begin
//! locations   samples, in parallel   which code locations (image, address) occur at all
//! symbolize   images, in parallel    each location named once
//! a pass      samples, in parallel   stacks counted by function, or samples one by one
//! ```
//!
//! Names come between two passes over the samples, so that stacks are counted by function from the start: memory follows
//! the program, not the recording.
//!
//! Modules import only those that stand above them in this list: `about`, `tracepoints`, `spans`, `index`,
//! `recording`, `binaries`, `samples`, `locations`, `stacks`, `symbolize`, `hints`, `pass`, then what verbs ask for.

mod about;
mod binaries;
mod code;
mod error;
mod event_groups;
mod hints;
mod image_symbols;
mod index;
mod locations;
mod lock_names;
mod lock_sites;
mod pass;
mod pauses;
mod recording;
mod samples;
mod spans;
mod stacks;
mod symbol_section;
mod symbolize;
mod tasks;
mod tracepoints;

pub use about::{about, command_line};
pub use code::{
    AskedCode, ChoiceError, CodeError, CodeOptions, CodeRecording, CountedCode, Description,
    FoundFunction, InlinedFunction, InlinedInto, OpenCode, WantedFunction, load_samples_and_code,
};
pub use error::Error;
pub use image_symbols::{ImageSymbols, RecordingSymbols, load_symbols};
pub use index::{RecordingIndex, SampleOrder};
pub use locations::{
    Address, Location, LocationCache, Mappings, OtherAddress, TaskName, comm_text,
};
pub use lock_names::{LockPlace, lock_names};
pub use pass::{
    CodeDetail, CriticalPath, EmptyFilter, FoundLocations, GroupBy, LockStep, Options, OrderedPass,
    OrderedRecord, OrderedResult, PathOwner, PathThread, Progress, Query, ResolvedSample,
    SampleExtras, SchedEvent, SchedEvents, SchedStep, SchedWhat, SortMode, SyscallEvent,
    SyscallStack, SyscallStep, TaskSample, ThreadActivity, ThreadEvent, TraceField, WantedFrames,
    WantedPositions, WrittenSamples, code_query, empty_filter, find_locations, for_each_lock_event,
    for_each_syscall, for_each_thread_event, has_thread_events, load, load_code_samples,
    load_counted_stacks, load_critical, load_run, load_samples, load_samples_with, machine_name,
    open_waits, progress_of, run_ordered,
};
pub use recording::Recording;
pub use samples::{
    DecodedSample, IgnoredSamples, Samples, Stretch, WokenBy, bookkeeping_events, check_filter,
    find_spans, span_times,
};
pub use spans::{NamedSpan, span_events};
pub use stacks::{ChainOptions, EndInImage, First, StackEndCounts, StackSources};
pub use symbol_section::{SymbolSection, symbol_section};
pub use symbolize::{Kernel, KnownNames, SourceLine, Symbols};
pub use tasks::{WantedMappings, load_tasks};
pub use tracepoints::TracepointFormats;
