//! `rprof sched`: what the scheduler did to threads; `rprof critical`: what the end of a program waited for.

mod causes;
mod critical;
mod latency;
mod map;
mod narrow;
mod runs;
mod seen_threads;
mod table;
mod threads;
mod timehist;

pub use causes::write_causes;
pub use critical::{CriticalForm, CriticalFunction, CriticalReport, CriticalThread};
pub use latency::write_latency;
pub use map::write_map;
pub use runs::{SchedOptions, SchedQuality};
pub use table::{SchedSort, write_table};
pub use timehist::write_timehist;

/// A recording could not be read, or a table not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The recording.
    #[error(transparent)]
    Recording(#[from] rprof_analysis::Error),
    /// Where the table goes.
    #[error("writing what the scheduler did")]
    Output(#[from] std::io::Error),
}

/// A task as perf sched has it: `name[tid]`, or `name[tid/pid]`.
fn task_text(name: &impl std::fmt::Display, pid: i32, tid: i32) -> String {
    if pid == tid {
        format!("{name}[{tid}]")
    } else {
        format!("{name}[{tid}/{pid}]")
    }
}
