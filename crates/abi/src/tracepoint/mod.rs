//! Tracepoints: the `format` file of an event, and the raw data of its samples as text.
//!
//! Goes in: the text of `events/<system>/<event>/format` and the bytes of PERF_SAMPLE_RAW.
//! Comes out: what `perf script` prints after the event's name, or the fields with their values.
//!
//! A format's `print fmt` is a C expression list. It is parsed once ([`TracepointFormat::parse`])
//! into pieces that are then written for each sample without allocating. What a sample says is
//! read bounds-checked: a field after the end of the data is 0 or empty.
//!
//! Source: the macros behind `print fmt` are `include/trace/stages/stage3_trace_output.h` (v6.18);
//! how perf prints them is libtraceevent's `src/event-parse.c` (commit 030cc9b55ca0; the copy in
//! perf v6.1 is older).

mod call;
mod cast;
mod data;
mod error;
mod eval;
mod expr;
mod field;
mod format;
mod lexer;
mod parse;
mod pieces;
mod pointer;
mod printf;
mod text;
mod types;
mod write;

pub use data::{NoNames, TracepointData, TracepointNames};
pub use error::{FormatError, PrintError};
pub use field::{FieldPlace, Storage, TracepointField};
pub use format::TracepointFormat;

#[cfg(test)]
mod tests;
