//! Samples: which fields they have, where those sit, and reading and writing them.

mod bits;
mod branch;
mod callchain;
mod data_source;
mod data_source_words;
mod fields;
mod layout;
mod parts;
mod visit;

pub use bits::{BranchSampleType, ReadFormat, SampleType};
pub use branch::{BranchEntry, BranchFlags, BranchStack};
pub use callchain::{Callchain, context};
pub use data_source::DataSource;
pub use fields::{Sample, SampleHead, SampleId};
pub use layout::SampleLayout;
pub use parts::{ReadValue, ReadValues, StackDump, Weight};

#[cfg(test)]
mod tests;
