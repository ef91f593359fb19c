//! What a recording is written to: compressed, in several files, and what is there when it breaks off.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

#[path = "../common/mod.rs"]
mod common;

mod broken;
mod chained;
mod compressed;
mod disks;
mod flight;
mod gaps;
mod latency;
mod switched;
mod triggered;
