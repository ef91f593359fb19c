//! A recording in memory that answers questions, again and again, without reading its file.
//!
//! | question | answer |
//! |---|---|
//! | which samples ([`SampleSelection`]), folded how ([`StackFolding`]) | [`Explorer::select`]: an event with stacks and counts |
//! | by process, thread or CPU, too | [`tell_apart`] before all questions, or `by` of one |
//! | rows, callers, callees | of that event: [`rprof_profile::view`], as for every report |
//! | a flame graph | [`FlameLayout`]: boxes, left-heavy or by name; [`FlameChart`]: in order of time |
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
//!
//! Who calls a function, in one process, by thread: a [`Focus`], and what rows are told apart by.
//!
//! ```
//! use rprof_profile::{Dimension, testing, view::{Rows, SortKey, Weighing}};
//! use rprof_query::{Explorer, Focus, SampleSelection, StackFolding};
//!
//! let sampled = testing::sampled(&[
//!     (0, "one", "main;read;copy", 2),
//!     (5, "two", "main;write;copy", 1),
//!     (9, "two", "main", 4),
//! ]);
//! let mut explorer = Explorer::new(sampled);
//! let profile = explorer.profile();
//! let is_copy = |id| profile.frames.of(id).filter_name(&profile.strings).as_deref() == Some("copy");
//! let copy = profile.frames.ids().find(|&id| is_copy(id));
//! let selection = SampleSelection {
//!     focus: copy.map(Focus::Above),
//!     by: vec![Dimension::Tid],
//!     ..SampleSelection::default()
//! };
//! let event = explorer.select(&selection, &StackFolding::default()).expect("the first event");
//! let profile = explorer.profile();
//! let by_thread = SortKey::Dimension(Dimension::Tid);
//! let rows = Rows::new(profile, &event, &[by_thread], Weighing::Own);
//! let cells: Vec<_> = rows.iter().map(|row| (by_thread.cell(&row.key, profile), row.self_weight)).collect();
//! assert_eq!(cells.len(), 2);
//! assert_eq!((cells[0].1, cells[1].1), (2, 1));
//! assert!(cells[0].0.contains("one") && cells[1].0.contains("two"));
//! ```
//!
//! When: a flame graph in order of time, lanes and a heat map of the same selection.
//!
//! ```
//! use rprof_base::Share;
//! use rprof_profile::testing;
//! use rprof_query::{FlameChart, SampleSelection, heat_map, lanes};
//!
//! let sampled = testing::sampled(&[(0, "one", "main;a", 2), (5, "one", "main;b", 1)]);
//! let all = SampleSelection::default();
//! let chart = FlameChart::of(&sampled, &all, Share::from_percent(0.0));
//! assert_eq!((chart.layout.whole, chart.layout.depth), (3, 3));
//! let lanes = lanes(&sampled, &all, 2).expect("there are times");
//! assert_eq!(lanes.lanes[0].slots, [2, 1]);
//! let map = heat_map(&sampled, &all, 4).expect("there are times");
//! assert_eq!(map.cells.iter().sum::<u32>(), 2);
//! ```

mod apart;
mod by;
mod chosen;
mod counted;
mod explorer;
mod flame;
mod focus;
mod heat;
mod lanes;
mod selection;

pub use apart::{TooManyStacks, tell_apart};
pub use explorer::Explorer;
pub use flame::{FlameBox, FlameChart, FlameLabel, FlameLayout, FlameOrder, FlameView};
pub use heat::{HeatMap, heat_map};
pub use lanes::{ThreadLane, ThreadLanes, lanes};
pub use selection::{Focus, SampleSelection, StackFolding};

#[cfg(test)]
mod tests;
