//! What readers write: tables, code, files of other viewers.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test that cannot go on fails"
)]

mod common;

mod annotate;
mod disassembly;
mod export;
mod list;
#[cfg(feature = "push")]
mod push;
mod report;
