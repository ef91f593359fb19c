//! Samples one by one, with functions: read once, and in memory to be asked again and again.
//!
//! Each thread keeps a row for every sample of its chunks, and a tree of its stacks by location, which has no names
//! yet. When locations have names, these trees become one by function, whose nodes are in an order of their own, and
//! rows are sorted: which thread read what does not show.

mod load;
mod pass;
mod row;
mod stacks;

pub use load::load_samples;

#[cfg(test)]
mod tests;
