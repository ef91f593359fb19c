//! Where names come from: symbols, debug files, servers, JIT compilers, the kernel.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test that cannot go on fails"
)]

mod common;

mod debuginfod;
mod find;
mod jit;
mod kernel;
mod names;
mod symbols;
