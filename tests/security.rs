//! Hostile users, programs and files; damaged recordings; what users may record.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test that cannot go on fails"
)]

mod common;

mod damage;
mod hostile;
mod permissions;
