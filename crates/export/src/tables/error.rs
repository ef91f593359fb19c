//! Why tables cannot be written.

use parquet::errors::ParquetError;
use std::io;
use std::path::PathBuf;

/// Tables could not be written; none of them is there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TablesError {
    /// The recording, or what was asked of it.
    #[error(transparent)]
    Analysis(#[from] rprof_analysis::Error),
    /// A file cannot be made, or put into its place.
    #[error("writing {}", path.display())]
    File {
        /// Where it was to be.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A table has the recording already: it would be counted twice.
    #[error("{} exists: the folder has this recording already", .0.display())]
    Exists(PathBuf),
    /// A file cannot be written.
    #[error("writing the table {table}")]
    Write {
        /// Its name.
        table: &'static str,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A file cannot be encoded.
    #[error("encoding the table {table}")]
    Encode {
        /// Its name.
        table: &'static str,
        /// Why not.
        #[source]
        source: ParquetError,
    },
    /// Different content has one hash, so that queries would take one for the other.
    #[error("two {what} have the hash {hash}: nothing is written")]
    Collision {
        /// Of what.
        what: &'static str,
        /// The hash.
        hash: i64,
    },
    /// No signed number holds the sum of an event's weights.
    #[error("the weights of an event add up to more than the tables can hold")]
    SumTooLarge,
    /// No signed number holds it.
    #[error("a sample's {what} is too large for the tables: {number}")]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// The number.
        number: u64,
    },
}
