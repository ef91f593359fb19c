//! What users may record, by their rights: each gets a profile or the right sentence, and
//! `rprof doctor` says the same before.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

#[path = "../common/mod.rs"]
mod common;

mod cells;
mod kinds;
mod limits;
mod matrix;
mod ptrace;
