//! Addresses of an image to frames with names, inlined functions and lines.
//!
//! Addresses come in batches: all that were sampled in one image. The result is [`Symbolized`].
//! Each batch reads what it needs of the file and keeps only the names of its own addresses.
//! Where there is no name, there is a [`Reason`].

mod batch;
mod demangle;
mod dwarf;
mod function_index;
mod functions;
mod go;
mod jitdump;
mod kernel;
mod listed;
mod nameless;
mod perf_map;
mod split;
mod symbolized;
mod table;
mod user;
mod wanted;

pub use demangle::Demangling;
pub use function_index::{FunctionIndex, IndexedFunction};
pub use jitdump::symbolize_jitdump;
pub use kernel::{KernelCode, KernelSymbols};
pub use listed::{Listed, symbolize_listed};
pub use nameless::function_range;
pub use perf_map::symbolize_perf_map;
pub use symbolized::{Collector, Frame, Line, Reason, Symbolized};
pub use user::{Detail, Request, name_addresses, symbolize_user};
