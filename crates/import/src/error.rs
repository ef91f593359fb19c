//! What can go wrong.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error as ThisError;

/// Why a file cannot be read as a recording.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// It, or the temporary file, cannot be read or written.
    #[error("{}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line is not what it must be.
    #[error("{}:{line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: u64,
        /// What is wrong.
        what: String,
    },
    /// The recording that was made of it.
    #[error(transparent)]
    Recording(#[from] rprof_perfdata::Error),
}

impl Error {
    /// Makes errors of a file from those of the system.
    pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            path: path.clone(),
            source,
        }
    }
}
