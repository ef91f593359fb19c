//! Samples one by one: read once, and in memory to be asked again and again.
//!
//! Each thread keeps a row for every sample of its chunks, and a tree of its stacks by location, which has no names
//! yet. When locations have names, these trees become one by function or by code, whose nodes are in an order of their
//! own or of first samples, and rows are sorted: which thread read what does not show.

mod columns;
mod fields;
mod load;
mod pass;
mod row;
mod rows;
mod stacks;
mod threads;
mod waits;

pub(super) use load::NO_TIMES;
pub use load::{CodeDetail, SampleExtras, load_code_samples, load_samples, load_samples_with};
pub(crate) use load::{LoadedSamples, load_functions, open_recording};

#[cfg(test)]
mod tests;
