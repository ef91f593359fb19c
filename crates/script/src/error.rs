//! Why samples are not printed.

/// Samples could not be printed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The recording, or what was asked of it.
    #[error(transparent)]
    Analysis(#[from] rprof_analysis::Error),
    /// The output cannot be written.
    #[error("writing the samples")]
    Write(#[source] std::io::Error),
    /// The fields cannot be printed.
    #[error(transparent)]
    FieldSet(#[from] crate::field_selection::FieldsError),
}
