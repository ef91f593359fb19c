//! What others made, met safely: a profiler runs as root, beside hostile users, over programs and
//! recordings of strangers.
//!
//! - [`open`]: a file that a recording or a process names is looked at before it is opened.

#![forbid(unsafe_code)]

mod open;

pub use open::{Seen, open};
