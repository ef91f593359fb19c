//! What `rprof record` samples, writes and says, and how it ends.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test that cannot go on fails"
)]

mod common;

mod endings;
mod events;
mod output;
mod record;
mod recorder;
mod spans;
mod targets;
