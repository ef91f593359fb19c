//! Sampling where events are forbidden altogether: threads are stopped for a moment and looked at, by
//! ptrace.
//!
//! ```text
//! each tick: threads that have had CPU time since, and run now -> interrupt
//! each stop: registers, top of the stack, new mappings -> records, as if drained from rings -> go on
//! ```
//!
//! A sample stands for the CPU time of its thread since the sample before, in system calls, too, which is
//! counted apart ([`account`]). Threads that wait are left alone: an interrupted wait may end early, with
//! EINTR.

mod account;
mod fallback;
mod registers;
mod reports;
mod sample;
mod session;
mod tasks;

pub(crate) use fallback::{DEFAULT_HZ, fallback, is_possible};
pub(crate) use session::record;
