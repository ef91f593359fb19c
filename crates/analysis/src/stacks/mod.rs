//! Samples' stacks: recorded chains, unwound dumps, branch records; how they ended; the cache of stacks.

mod cache;
mod call_addresses;
mod chain;
mod ends;
mod jit_tables;
mod lbr;
mod recorded_ends;
mod sources;
mod unwind_tables;
mod walker;

pub(crate) use cache::{StackCache, StackKey};
pub use chain::{ChainOptions, First};
pub(crate) use chain::{UserPart, UserStack, for_each_address, own_address};
pub(crate) use ends::Missing;
pub use ends::{EndInImage, StackEndCounts};
pub use sources::StackSources;
pub(crate) use walker::{StackWalker, WalkedStack};
