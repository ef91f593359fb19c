//! Samples: which fields they have, where those sit, and reading and writing them.

mod bits;
mod callchain;
mod fields;
mod layout;
mod parts;
mod visit;

pub use bits::{BranchSampleType, ReadFormat, SampleType};
pub use callchain::{Callchain, context};
pub use fields::{Sample, SampleHead, SampleId};
pub use layout::SampleLayout;
pub use parts::{BranchEntry, BranchStack, ReadValue, ReadValues, StackDump, Weight};

#[cfg(test)]
mod tests;
