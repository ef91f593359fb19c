//! What can go wrong.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error as ThisError;

/// Why a file cannot be read as a recording.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// It cannot be read.
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
    /// All counts are 0, so that nothing can be shown.
    #[error("{}: no stack has a count above 0", path.display())]
    NoCounts {
        /// The file.
        path: PathBuf,
    },
    /// The temporary file for the recording cannot be made.
    #[error("creating a temporary file in {} (set TMPDIR to use another directory)", folder.display())]
    Temporary {
        /// Where.
        folder: PathBuf,
        /// Why.
        source: io::Error,
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
