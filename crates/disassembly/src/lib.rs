//! Instructions: bytes go in; texts, lengths, targets of jumps and what is referred to come out.
//!
//! x86 is decoded by iced-x86, 64-bit ARM by yaxpeax-arm. Nothing here knows files, symbols or samples.

#![forbid(unsafe_code)]

mod arch;
mod decoder;
mod instruction;

pub use decoder::{Decoder, UnknownMachine};
pub use instruction::{Flow, Instruction, Reference, Syntax};

#[cfg(test)]
mod tests;
