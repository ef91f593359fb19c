//! A function with counts becomes its instructions and source lines, as text, JSON or Markdown.
//!
//! In goes what was found out ([`Disassembled`]: code, instructions, frames, names, counts); a
//! [`CodeListing`] comes out, as plain data; [`text_lines`] makes lines of it that know what they say, and
//! [`write_text`], [`JsonFunctions`] and [`write_markdown`] print it.
//! The README beside it says what the columns mean and how loops are found.

#![forbid(unsafe_code)]

mod flow;
mod inlined;
mod json;
mod listed;
mod listing;
mod markdown;
mod operand;
mod placed;
mod places;
mod skid;
mod source;
mod text;

pub use flow::{CodeLoop, Jumps, Lane, MAX_LANES};
pub use inlined::CutCode;
pub use json::{ANNOTATE_VERSION, JsonFunctions};
pub use listed::{CountedEvent, Disassembled, ListedInstruction, ListedPart};
pub use listing::{CodeListing, ListingRow, PercentType};
pub use markdown::{MarkdownOptions, write_markdown};
pub use placed::samples_at;
pub use places::{FileLine, FileLines, InlinedShare, LineShare, Places};
pub use skid::skid_notes;
pub use source::{FetchSource, SourceFiles, SourceSettings};
pub use text::{By, Cells, Drawing, Folding, TakeLine, TextOptions, text_lines, write_text};

#[cfg(test)]
mod tests;
