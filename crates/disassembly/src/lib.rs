//! Instructions: bytes go in; texts, lengths, targets of jumps and what is referred to come out.
//!
//! x86 is decoded by iced-x86, 64-bit ARM by yaxpeax-arm. Nothing here knows files, symbols or samples.
//!
//! # A function
//!
//! ```
//! use rprof_disassembly::{Decoder, Flow, Syntax};
//!
//! let code = [0x55, 0x48, 0x89, 0xe5, 0xe8, 0xf7, 0x0f, 0, 0, 0x5d, 0xc3];
//! let decoder = Decoder::of("x86_64", Syntax::Att)?;
//! let instructions = decoder.decode(0x40_1000, &code);
//! for instruction in &instructions {
//!     println!("{:x}: {}", instruction.address, instruction.text);
//! }
//! let texts: Vec<&str> = instructions.iter().map(|one| one.text.trim_end()).collect();
//! assert_eq!(texts, ["push   %rbp", "mov    %rsp,%rbp", "call   402000", "pop    %rbp", "ret"]);
//! assert_eq!(instructions[2].flow, Flow::Call(Some(0x40_2000)));
//! # Ok::<(), rprof_disassembly::UnknownMachine>(())
//! ```

#![forbid(unsafe_code)]

mod arch;
mod decoder;
mod instruction;

pub use decoder::{Decoder, UnknownMachine};
pub use instruction::{Flow, Instruction, Reference, Syntax};

#[cfg(test)]
mod tests;
