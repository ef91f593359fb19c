//! Addresses of an image to frames with names, inlined functions and lines.
//!
//! Asked in batches: one image and all of its sampled addresses go in, [`Answers`] come out.
//! A batch reads what it needs of the file, answers, and forgets it: nothing is kept but the
//! names that were hit. "Not known" is an answer with a [`Reason`].

mod answers;
mod batch;
mod demangle;
mod dwarf;
mod functions;
mod go;
mod jitdump;
mod kernel;
mod listed;
mod perf_map;
mod split;
mod table;
mod threads;
mod user;

pub use answers::{Answers, Collector, Frame, Line, Reason};
pub use demangle::Demangling;
pub use jitdump::symbolize_jitdump;
pub use kernel::{KernelCode, KernelSymbols};
pub use listed::{Listed, symbolize_listed};
pub use perf_map::symbolize_perf_map;
pub use user::{Detail, Request, symbolize_user};
