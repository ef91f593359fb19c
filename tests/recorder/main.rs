//! How the recorder behaves: flags, signals, limits, pipes, and what it says and advises.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

#[path = "../common/mod.rs"]
mod common;

mod advice;
mod budget;
mod children;
mod coverage;
mod ends;
mod fallbacks;
mod files;
mod flags;
mod gone;
mod identity;
mod neighbours;
mod pipe;
mod terminal;
mod watching;

use common::{both, until};
