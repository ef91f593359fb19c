//! Names of code locations: of files, kernels, JIT code, and of the recording itself.

mod batch;
mod downloads;
mod embedded;
mod jit;
mod kernel;
mod kernel_data;
mod known_names;
mod places;
mod symbols;

pub(crate) use batch::symbolize_all;
pub(crate) use jit::sampled_functions;
pub use kernel::Kernel;
pub(crate) use kernel_data::KernelData;
pub use known_names::KnownNames;
pub(crate) use places::Positions;
pub(crate) use symbols::WantedSymbols;
pub use symbols::{SourceLine, Symbols};
