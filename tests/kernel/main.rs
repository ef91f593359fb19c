//! Frames of kernels: of one that does not run here, as another machine would have it, and of the one
//! that does.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

#[path = "../common/mod.rs"]
mod common;

mod code;
mod machine;
mod modules;
mod unfinished;
mod vmlinux;
