//! Instructions: bytes go in; texts, lengths, targets of jumps and what is referred to come out.
//!
//! x86 is decoded by iced-x86, 64-bit ARM by yaxpeax-arm. Nothing here knows files, symbols or samples.

mod instruction;

pub use instruction::{Flow, Instruction, Reference, Syntax};
