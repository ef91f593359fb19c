//! Names of code locations: of files, kernels, JIT code, and of the recording itself.

mod batch;
mod downloads;
mod embedded;
mod jit;
mod kernel;
mod symbols;

pub(crate) use batch::symbolize_all;
pub(crate) use jit::sampled_functions;
pub use kernel::Kernel;
pub(crate) use symbols::{Positions, WantedSymbols};
pub use symbols::{SourceLine, Symbols};
