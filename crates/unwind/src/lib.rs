//! From a thread's registers and a dump of its stack to return addresses, and why they end.
//!
//! An [`UnwindTable`] holds what one image says about its frames (`.eh_frame`, `.debug_frame`),
//! compiled to rows function by function as they are asked for, and shared by all threads and
//! processes. An [`Unwinder`] walks one stack after the other: registers ([`RegisterSet`]), stack
//! bytes ([`Stack`]) and a look-up of what is mapped where ([`AddressSpace`]) go in; addresses,
//! innermost first, and an [`Outcome`] come out. It reads nothing else: no files, no other
//! process.
//!
//! Most frames are four additions: where the caller's frame is, where the return address lies,
//! which registers were saved. What does not fit (signal frames, realigned stacks, hand-written
//! assembly) is evaluated as DWARF says, with all registers. Code without any description (made at
//! run time) is walked by frame pointers, if these lead somewhere. What is as it was in the last
//! walk of the same thread is not walked again.
//!
//! # A stack from bytes
//!
//! The function is `sub $8, %rsp; call *%rcx; add $8, %rsp; ret`; it stands in its call, and was
//! called by itself.
//!
//! ```
//! use rprof_unwind::{
//!     ImageMap, LoadedImage, LoadedSection, Machine, Outcome, RegisterSet, Stack, UnwindSections,
//!     UnwindTable, Unwinder,
//! };
//!
//! let eh_frame = b"\x14\0\0\0\0\0\0\0\x01zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\0\0\
//!     \x14\0\0\0\x1c\0\0\0\xd0\xff\xff\xff\x0b\0\0\0\0\x44\x0e\x10\x46\x0e\x08\0";
//! let table = UnwindTable::from_sections(
//!     Machine::X86_64,
//!     UnwindSections {
//!         eh_frame: Some(LoadedSection { address: 16, bytes: eh_frame.to_vec() }),
//!         ..UnwindSections::default()
//!     },
//! )?;
//! let image = LoadedImage { range: 0x40_0000..0x40_000b, bias: 0x40_0000, table: Some(&table) };
//! let images = ImageMap::new(1, vec![image]);
//!
//! let mut registers = RegisterSet::new(Machine::X86_64, 0x40_0006);
//! registers.set_sp(0x7fff_0000);
//! let words = [0, 0x40_0006, 0, 0_u64];
//! let bytes = words.map(u64::to_le_bytes).concat();
//! let stack = Stack::complete(0x7fff_0000, &bytes);
//!
//! let mut addresses = Vec::new();
//! let mut unwinder = Unwinder::new();
//! let outcome = unwinder.walk(&images, &registers, stack, 256, |frame| addresses.push(frame.avma));
//! assert_eq!(addresses, [0x40_0006, 0x40_0006]);
//! assert_eq!(outcome, Outcome::Complete);
//!
//! // The same of a process, whose memory somebody else reads.
//! let read = |avma: u64| words.get((avma.checked_sub(0x7fff_0000)? / 8) as usize).copied();
//! let stack = Stack::read_by(0x7fff_0000, &read);
//! assert!(unwinder.walk(&images, &registers, stack, 256, |_| ()).is_complete());
//! # Ok::<(), rprof_unwind::TableError>(())
//! ```
//!
//! An ELF file that [`rprof_images`] has opened becomes a table in one step
//! ([`UnwindTable::from_elf`]), with Go's tables, PLT stubs and entry points.

mod arch;
mod built_in;
mod cache;
mod call;
mod dwarf_evaluation;
mod epilogue;
mod frame_pointer;
mod gimli_types;
mod go;
mod last_walk;
mod outcome;
mod plain_sections;
mod registers;
mod rule;
mod sampled_stack;
mod section;
mod signal;
mod space;
mod stack;
mod table;
mod walk;

#[cfg(test)]
mod tests;

pub use arch::{Call, LONGEST_CALL};
pub use call::{call_before, is_jump_stub, jump_slot};
pub use frame_pointer::frame_bytes;
pub use outcome::Outcome;
pub use plain_sections::{LoadedSection, UnwindSections};
pub use registers::RegisterSet;
pub use sampled_stack::{DumpEnd, GAP, SampledStack, kernel_part, user_part};
pub use space::{AddressSpace, ImageMap, LoadedImage, Mapped};
pub use stack::{MemorySource, Stack};
pub use table::{TableError, UnwindTable};
pub use walk::{StackFrame, Unwinder};

/// Of other crates, but a part of this one's face.
pub use rprof_abi::Machine;
pub use rprof_base::{Avma, CodeAddress, StackEnd};
