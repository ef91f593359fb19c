//! `rprof trace`: the system calls of threads, each as a line of text, or counted.

mod line;
mod lock;
mod narrow;
mod rounded;
mod stacks;
mod summary;
mod threads;
mod traced;
mod tracer;

pub use lock::{LockOptions, LockSort, write_locks};
pub use tracer::{TraceForm, TraceOptions, Tracer};

/// System calls could not be read, or not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The recording.
    #[error(transparent)]
    Recording(#[from] rprof_analysis::Error),
    /// Where the text goes.
    #[error("writing system calls")]
    Output(#[from] std::io::Error),
}
