//! A profile as people read it: tables, call trees, flame graphs.

mod error;
mod flame;
mod gaps;
mod stats;
mod table;
mod text;
mod tree;
mod unnamed;

pub use error::Error;
pub use flame::{Drawn, FlameOptions, FlamePalette, write_flame};
pub use stats::write_stats;
pub use table::{TableOptions, write_table};
pub use tree::{Graph, NodeValue, PrintType};
pub use unnamed::unnamed_lines;
