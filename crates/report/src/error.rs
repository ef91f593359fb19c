//! Why there is no report.

/// A recording could not be read, or a report not made of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file.
    #[error(transparent)]
    Recording(#[from] rprof_perfdata::Error),
    /// A thread could not be started.
    #[error("starting a thread")]
    Thread(#[source] std::io::Error),
    /// The flame graph could not be drawn.
    #[error("drawing the flame graph")]
    Draw(#[source] std::io::Error),
    /// There is nothing to draw.
    #[error("no samples to draw")]
    NothingToDraw,
}
