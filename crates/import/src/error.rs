//! What can go wrong.

use rprof_untrusted::Budget;
use std::io::{self, ErrorKind};
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
    /// A pprof profile is damaged, or of a kind that is not read.
    #[error("{}: pprof: {what}", path.display())]
    Profile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A table of profiles is damaged, or not as it must be.
    #[error("{}: {what}", path.display())]
    Table {
        /// The file, or the folder of tables.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// All counts are 0, so that nothing can be shown.
    #[error("{}: no stack has a count above 0", path.display())]
    NoCounts {
        /// The file.
        path: PathBuf,
    },
    /// It takes more memory than it may.
    #[error("{}: needs more than {most} bytes of memory (--mem allows more)", path.display())]
    Memory {
        /// The file.
        path: PathBuf,
        /// How much it may take.
        most: u64,
    },
    /// Tables have more rows than are looked at.
    #[error("{}: more than {most} rows in all tables (--mem allows more)", path.display())]
    Rows {
        /// The file with those that are too many.
        path: PathBuf,
        /// How many are looked at.
        most: u64,
    },
    /// The recording that is made of it takes more room than it may.
    #[error("{}: needs more than {most} bytes in a temporary file (--max-spool allows more)", path.display())]
    Spool {
        /// The file.
        path: PathBuf,
        /// How much it may take.
        most: u64,
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

    /// An error in a table.
    #[cfg(feature = "parquet")]
    pub(crate) fn table(path: &Path, what: impl ToString) -> Self {
        Self::Table {
            path: path.to_owned(),
            what: what.to_string(),
        }
    }

    /// An error of what is read into memory.
    pub(crate) fn reading(path: &Path, budget: &Budget, error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::OutOfMemory => Self::memory(path, budget),
            ErrorKind::UnexpectedEof => Self::profile(path, "the compressed data is cut off"),
            _ => Self::io(path)(error),
        }
    }

    /// An error in a profile.
    pub(crate) fn profile(path: &Path, what: impl ToString) -> Self {
        Self::Profile {
            path: path.to_owned(),
            what: what.to_string(),
        }
    }

    /// What a budget has no more memory for.
    pub(crate) fn memory(path: &Path, budget: &Budget) -> Self {
        Self::Memory {
            path: path.to_owned(),
            most: budget.limits().memory,
        }
    }

    /// What a budget has no more room on the disk for.
    pub(crate) fn spool(path: &Path, budget: &Budget) -> Self {
        Self::Spool {
            path: path.to_owned(),
            most: budget.limits().spool,
        }
    }
}
