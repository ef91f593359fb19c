//! What `rprof stat` counts and writes, compared with perf stat.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test that cannot go on fails"
)]

mod common;

mod stat;
