//! `rprof export`: each format is read by what it is for, and all say what `rprof report` says.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

mod callgrind;
#[path = "../common/mod.rs"]
mod common;
mod endings;
mod filters;
mod firefox;
mod pprof;
mod recordings;
mod self_time;
mod speedscope;
mod sums;
