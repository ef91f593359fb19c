//! The kernel's door: opening events, mapping their rings, reading them, and every other
//! system call that rprof makes ([`sys`]).
//!
//! An event that is open is a [`Counter`]; its memory is a [`Ring`]; one drain of it is a
//! [`Batch`], which publishes `data_tail` when it is dropped. What the records mean is not known
//! here: they are bytes with a checked length. `examples/sampling.rs` walks through the whole
//! interface in 60 lines.
//!
//! What only counts is a [`count::CounterGroup`]: several events, read at once. A program that counts itself may
//! read a [`count::SelfCounter`] without a system call.
//!
//! Barriers: the kernel stores `data_head` after the records it covers (release), so it is
//! loaded with acquire; we store `data_tail` with release after the last read of them. See
//! "A pairs with D, B with C" in `kernel/events/ring_buffer.c` (v6.12).

pub mod count;
mod counter;
mod error;
mod fit;
mod poll;
mod region;
mod ring;
pub mod sys;
mod watchpoint;

pub use counter::{Counter, CounterValue, Cpu, OpenWith, Target};
pub use error::{MapError, OpenError, RingError};
pub use fit::{Fitted, INHERITED_VALUES, fit};
pub use poll::{Poller, Ready};
pub use ring::{Batch, Ring};
pub use watchpoint::Watchpoint;
