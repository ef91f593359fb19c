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
//! which registers were saved ([`rule`]). What does not fit (signal frames, realigned stacks,
//! hand-written assembly) is evaluated as DWARF says, with all registers ([`dwarf_evaluation`]). Code without
//! any description (made at run time) is walked by frame pointers, if these lead somewhere. What is as it was in the
//! last walk of the same thread is not walked again ([`last_walk`]).

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
pub use call::{call_before, is_jump_stub};
pub use outcome::Outcome;
pub use registers::RegisterSet;
pub use sampled_stack::{DumpEnd, GAP, SampledStack, kernel_part, user_part};
pub use space::{AddressSpace, Mapped};
pub use stack::{MemorySource, Stack};
pub use table::{TableError, UnwindTable};
pub use walk::{StackFrame, Unwinder};
