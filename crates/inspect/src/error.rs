//! Why a recording is not shown.

/// A recording could not be read or written out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file.
    #[error(transparent)]
    Recording(#[from] rprof_perfdata::Error),
    /// The output cannot be written.
    #[error("writing the samples")]
    Write(#[source] std::io::Error),
}
