//! From an address in a task at a moment to a code location, with caches in front.

mod address;
mod cache;
mod location;
mod mappings;
mod tasks;

pub use address::{Address, OtherAddress};
pub use cache::LocationCache;
pub use location::Location;
pub(crate) use location::{NO_STACK, TRUNCATED, UNMAPPED_KERNEL, UNMAPPED_OTHER, distinct};
pub use mappings::Mappings;
pub(crate) use mappings::TaskCache;
pub(crate) use tasks::{NamedThread, ShownTasks, last_comm, task_name};
pub use tasks::{TaskName, comm_text};
