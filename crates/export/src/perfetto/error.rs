//! Why a trace cannot be written.

use std::io;

/// A trace could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PerfettoError {
    /// The recording, or what was asked of it.
    #[error(transparent)]
    Analysis(#[from] rprof_analysis::Error),
    /// A trace is made of times.
    #[error(
        "the recording has no times, and Perfetto's traces are made of them \
         (they are recorded by rprof record, perf record --timestamp)"
    )]
    NoTimes,
    /// The writer failed.
    #[error(transparent)]
    Write(#[from] io::Error),
}
