//! What is special to each machine.

pub(crate) mod aarch64;
pub(crate) mod x86;
