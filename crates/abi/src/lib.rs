//! The kernel's words: `perf_event_attr`, records and samples of `perf_event_open`, as plain
//! types with `parse` and `encode` side by side.
//!
//! Bytes go in, values come out, and the other way round. Nothing here opens a file, calls the
//! kernel or knows what a recording is: those are `ringbuf` and `perfdata`. Byte order is a
//! value ([`Endian`]), so one compiled parser reads recordings of any machine. What this crate
//! does not know (kinds, flags, longer attrs) it carries along unchanged.
//!
//! Source of every layout: `include/uapi/linux/perf_event.h` (v6.19) and, where that file's
//! comments are wrong about order, `perf_output_sample()` in `kernel/events/core.c`.

#![warn(clippy::indexing_slicing)]

#[macro_use]
mod description;

mod attr;
mod bits;
mod endian;
mod fields;
mod flags;
pub mod format;
mod header;
mod machine;
mod numbers;
mod proc_maps;
pub mod record;
pub mod registers;
pub mod sample;
pub mod tracepoint;
mod wire;

pub use attr::{AttrSize, PerfEventAttr};
pub use description::Wire;
pub use endian::Endian;
pub use fields::{Fields, Shape, Value};
pub use flags::AttrFlags;
pub use header::{CpuMode, Misc, RawRecord, RecordHeader, RecordKind};
pub use machine::Machine;
pub use numbers::{event_type, hw, hw_cache, sw, waits};
pub use proc_maps::{MapsLine, parse_maps};
pub use record::Record;
pub use registers::Registers;
pub use sample::{
    BranchSampleType, Callchain, ReadFormat, Sample, SampleHead, SampleId, SampleLayout,
    SampleType, Weight, context,
};
pub use wire::{Cursor, Encoder, WireError};
