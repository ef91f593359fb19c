//! A recording in memory that answers questions, again and again, without reading its file.
//!
//! | question | answer |
//! |---|---|
//! | which samples ([`SampleSelection`]), folded how ([`StackFolding`]) | [`Explorer::select`]: an event with stacks and counts |
//! | rows, callers, callees | of that event: [`rprof_profile::view`], as for every report |
//! | a flame graph | [`FlameLayout`]: boxes, left-heavy or in order of time |
//! | when | [`lanes`]: use by thread over time; [`heat_map`]: seconds by parts of a second |
//!
//! What is selected is an [`EventProfile`](rprof_profile::EventProfile) like one that was loaded with a filter: so all
//! sums are those of `rprof report` with that filter.
//!
//! ```
//! use rprof_profile::{testing, view::{Rows, SortKey, Weighing}};
//! use rprof_query::{Explorer, StackFolding, SampleSelection};
//!
//! let sampled = testing::sampled(&[(0, "worker", "main;parse", 2), (5, "other", "main;wait", 1)]);
//! let mut explorer = Explorer::new(sampled);
//! let selection = SampleSelection { times_ns: Some(0..=4), ..SampleSelection::default() };
//! let event = explorer.select(&selection, &StackFolding::default()).expect("the first event");
//! let rows = Rows::new(explorer.profile(), &event, &[SortKey::Symbol], Weighing::WithChildren);
//! let totals: Vec<u64> = rows.iter().map(|row| row.total_weight).collect();
//! assert_eq!(totals, [2, 2]);
//! ```

mod by;
mod chosen;
mod counted;
mod explorer;
mod flame;
mod focus;
mod heat;
mod lanes;
mod selection;

pub use explorer::Explorer;
pub use flame::{FlameBox, FlameLabel, FlameLayout, FlameOrder};
pub use heat::{HeatMap, heat_map};
pub use lanes::{ThreadLane, ThreadLanes, lanes};
pub use selection::{Focus, SampleSelection, StackFolding};

#[cfg(test)]
mod tests;
