//! What this process may do here: what the system says of it, and what would allow more.
//!
//! [`Facts`] are read from `/proc` and `/sys`; [`refusal`] turns a refusal of the kernel's into its cause
//! and the smallest step that would help. `record`, `stat` and `doctor` say the same words.

pub mod advice;
mod container;
mod facts;
pub mod refusal;

pub use container::Container;
pub use facts::{Capability, Facts, Seccomp};
