//! Why the interface cannot go on.

use std::io;

/// The interface cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The terminal cannot be used.
    #[error("using the terminal")]
    Terminal(#[from] io::Error),
    /// Nobody has the terminal any more.
    #[error("the terminal is gone")]
    Gone,
    /// A signal came that ends programs: its number.
    #[error("ended by signal {0}")]
    Ended(i32),
}
