//! Stacks, held against what programs are known to do and against gdb.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test that cannot go on fails"
)]

mod common;

mod stacks;
mod unwind;
