//! What people look at: terminals, the page, help and man pages.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test that cannot go on fails"
)]

mod common;

mod page;
mod pages;
mod top;
#[cfg(feature = "tui")]
mod tui;
