//! What this process may do here: what the system says of it, and what would allow more.
//!
//! [`Facts`] are read from `/proc` and `/sys`; [`refusal`] turns a refusal of the kernel's into its cause
//! and the smallest step that would help. `record` and `doctor` say the same words.

mod container;
pub(crate) mod facts;
pub(crate) mod refusal;

pub(crate) use container::Container;
pub(crate) use facts::{Capability, Facts, Seccomp};
