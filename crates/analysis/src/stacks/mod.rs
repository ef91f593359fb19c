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
pub use chain::{ChainOptions, First, UserPart, UserStack, for_each_address};
pub use ends::{EndInImage, Missing, StackEndCounts};
pub use sources::StackSources;
pub use walker::{StackWalker, WalkedStack};
