//! Why there is no flame graph.

/// A flame graph could not be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It could not be drawn.
    #[error("drawing the flame graph")]
    Draw(#[source] std::io::Error),
    /// Both sides are alike, and widths are changes.
    #[error("nothing changed, so no frame has a width: use --width-by after")]
    NothingChanged,
    /// There is nothing to draw.
    #[error("no samples to draw")]
    NothingToDraw,
}
