//! A profile as people read it: tables, call trees, flame graphs.

mod differential;
mod error;
mod flame;
mod flame_chart;
mod gaps;
mod legend;
mod picture;
mod quality;
mod stats;
mod table;
mod tasks;
mod text;
mod totals;
mod tree;
mod unnamed;

pub use differential::{DifferentialOptions, WidthBy, write_differential};
pub use error::Error;
pub use flame::{Drawn, FlameOptions, FlamePalette, write_flame};
pub use flame_chart::write_flame_chart;
pub use quality::{quality_advice, quality_faults, quality_line, stacks_line};
pub use rprof_profile::text::Fit;
pub use stats::write_stats;
pub use table::{
    EventTables, Layout, REPORT_VERSION, TableOptions, write_csv, write_json, write_markdown,
    write_table,
};
pub use tasks::{TaskDetail, write_tasks};
pub use totals::Percentage;
pub use tree::{Graph, NodeValue, PrintType};
pub use unnamed::{interpreter_line, unnamed_lines};
