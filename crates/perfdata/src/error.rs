//! What can be wrong with a file: an [`Error`] ends reading, a [`Warning`] makes it smaller.

use crate::FeatureId;
use rprof_base::Counted;
use std::io;
use std::path::{Path, PathBuf};

/// A file cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system's error.
    #[error("{}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It is not a recording at all.
    #[error("{}: not a perf.data file: {found}", path.display())]
    NotPerfData {
        /// The file.
        path: PathBuf,
        /// What it looks like.
        found: String,
    },
    /// A recording of a form that is not read yet.
    #[error("{}: {form} is not supported yet; {advice}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// Which form.
        form: &'static str,
        /// What to do instead.
        advice: &'static str,
    },
    /// The header is damaged beyond use.
    #[error("{}: damaged header at offset {offset}: {what}", path.display())]
    BadHeader {
        /// The file.
        path: PathBuf,
        /// Where, bytes.
        offset: u64,
        /// What is wrong there.
        what: String,
    },
}

impl Error {
    /// Turns a system's error into one about this file.
    pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        |source| Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}

/// Where in a recording something is.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct FileLocation {
    /// The file's name within a directory recording.
    pub file: Option<String>,
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Within a compressed record at that offset: bytes of what it decompresses to.
    pub unpacked: Option<u64>,
}

impl std::fmt::Display for FileLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "offset {}", self.offset)?;
        if let Some(file) = &self.file {
            write!(f, " of {file}")?;
        }
        if let Some(unpacked) = self.unpacked {
            write!(f, ", byte {unpacked} of the decompressed data there")?;
        }
        Ok(())
    }
}

/// Something in a file could not be used; the rest was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// The recording was not ended properly: no size, no features.
    #[error(
        "the recording did not end properly (killed, or the disk was full); reading what is there"
    )]
    Unfinished,
    /// The data ends in the middle of a record, or before its section does.
    #[error("the file is truncated: reading up to the last complete record, at {at}")]
    Cut {
        /// Where the last whole record ends.
        at: FileLocation,
    },
    /// No record can start here; what follows is not read.
    #[error("damaged record at {at} ({what}); nothing after it can be read")]
    BadRecord {
        /// Where.
        at: FileLocation,
        /// What is there.
        what: String,
    },
    /// A compressed record does not decompress, and none after it can.
    #[error(
        "damaged compressed record at {at} ({what}); no compressed record after it can be read"
    )]
    BadCompressed {
        /// Where.
        at: FileLocation,
        /// What the decoder says.
        what: String,
    },
    /// Records whose bodies are shorter than their kind needs.
    #[error("{}", Counted::new(*records, "damaged record was ignored", "damaged records were ignored"))]
    Undecodable {
        /// How many.
        records: u64,
    },
    /// The file ends before these feature sections do.
    #[error(
        "the file is truncated: it lacks the feature sections {}",
        names(missing)
    )]
    CutFeatures {
        /// Which.
        missing: Vec<FeatureId>,
    },
    /// There are tracepoints, and nothing says what fields they have.
    #[error(
        "the recording has no formats of its tracepoints (TRACING_DATA): their fields are not shown"
    )]
    NoFormats,
    /// A feature section could not be decoded.
    #[error("damaged feature section {feature} ({what}); ignored")]
    BadFeature {
        /// Which.
        feature: &'static str,
        /// What is wrong.
        what: String,
    },
}

fn names(features: &[FeatureId]) -> String {
    let names: Vec<&str> = features.iter().map(|id| id.name()).collect();
    names.join(", ")
}
