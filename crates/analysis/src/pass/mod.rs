//! Passes over samples, and the one driver that runs them.

mod counts;
mod dimensions;
mod driver;
mod finish;
mod flat;
mod load;
mod locations;
mod ordered;
mod profile;
mod query;
mod stacks;
mod timeline;

pub(crate) use flat::count_flat;
pub use load::{Options, Progress, load};
pub use locations::{FoundLocations, find_locations};
pub use ordered::{Entry, OrderedBatch, for_each_batch};
pub use query::{Query, WantedFrames};
pub use timeline::{TimelineDetail, load_timeline};
