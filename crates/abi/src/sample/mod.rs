//! Samples: which fields they have, where those sit, and reading and writing them.

mod bits;
mod callchain;
mod layout;
mod parts;
mod visit;

pub use bits::{BranchSampleType, ReadFormat, SampleType};
pub use callchain::{Callchain, context};
pub use layout::{Sample, SampleHead, SampleId, SampleLayout};
pub use parts::{BranchEntry, BranchStack, ReadValue, ReadValues, Registers, StackDump, Weight};

#[cfg(test)]
mod tests;
