//! Hostile users, files and programs: what they get out of a profiler that root runs.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

#[path = "../common/mod.rs"]
mod common;

mod child;
mod doors;
mod pasted;
mod rights;
mod written;
