//! How a profile is written: one file per form, all of them into an [`std::io::Write`].

mod fields;
mod flame;
mod stats;
mod symbols;
mod table;
mod text;
mod tree;
mod unnamed;

pub use fields::{JsonFields, OutlineFields, TextFields};
pub use flame::{FlameOptions, write_flame};
pub use stats::write_stats;
pub use symbols::{visit_symbols, write_symbols};
pub use table::{Graph, TableOptions, write_table};
pub use unnamed::unnamed_lines;
