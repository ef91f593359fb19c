//! Addresses of an image to frames with names, inlined functions and lines.
//!
//! Addresses come in batches: all that were sampled in one image. The result is [`Symbolized`].
//! Each batch reads what it needs of the file and keeps only the names of its own addresses.
//! Where there is no name, there is a [`Reason`].
//!
//! # Addresses of an ELF file
//!
//! ```
//! use rprof_symbols::{Budget, Detail, Elf, Located, Request, symbolize_user};
//!
//! let elf = Elf::open(&std::env::current_exe()?, &Budget::default())?;
//! let address = elf.entry().ok_or("not a program")?;
//! let offset = elf.file_offset(address).ok_or("not in the file")?;
//! // A separate debug file stands beside it: `Located::from(elf).with_debug(Some(debug))`.
//! let located = Located::from(elf);
//! let request = Request { detail: Detail::Lines, ..Request::default() };
//! let named = symbolize_user(&located, &[offset], request)?;
//! // Innermost first: what was inlined, and the function that it was inlined into.
//! for frame in named.frames(0) {
//!     let line = frame.line.map(|line| format!(" at {}:{}", named.name(line.file), line.line));
//!     println!("{}+{:#x}{}", named.name(frame.name), frame.offset, line.unwrap_or_default());
//! }
//! # assert_eq!(named.name(named.frames(0).last().unwrap().name), "_start");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`rprof_images::LinkedFiles`] is how a caller says where split DWARF and dwz's files are;
//! `rprof-locate` finds all of these files.

mod batch;
mod chain;
mod data;
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

pub use data::{NamedData, name_data};
pub use demangle::Demangling;
pub use function_index::{FunctionIndex, IndexedFunction};
pub use jitdump::symbolize_jitdump;
pub use kernel::{KernelCode, KernelSymbols};
pub use listed::{Listed, symbolize_listed};
pub use nameless::function_range;
pub use perf_map::symbolize_perf_map;
/// Of other crates, but a part of this one's face.
pub use rprof_base::{Avma, FileOffset, Svma};
pub use rprof_images::{Elf, ElfError, Located, NoFile};
pub use rprof_untrusted::{Budget, Limits};
pub use symbolized::{Collector, Frame, Line, Reason, Symbolized};
pub use user::{Detail, Request, name_addresses, symbolize_user};
