//! What both read is the same: tables, texts and headers of rprof and of perf, on recordings of either.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test that cannot go on fails"
)]

mod common;

mod agree;
mod corpus;
mod diff;
mod dwarf;
mod fields;
mod lock;
mod sched;
mod script;
mod trace;
