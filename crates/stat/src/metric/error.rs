//! What cannot be read in a metric.

/// A metric could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// It has no name.
    #[error("'{text}' is not a metric: write NAME=EXPRESSION, or name a file with such lines")]
    NoName {
        /// What it is.
        text: String,
    },
    /// Something else stands there than was expected.
    #[error("metric '{metric}', column {column}: {what}")]
    Syntax {
        /// Its name.
        metric: String,
        /// Where, counted from 1 in the definition.
        column: usize,
        /// What was expected, and what is there.
        what: String,
    },
    /// In a file.
    #[error("line {line}: {error}")]
    InLine {
        /// Which, counted from 1.
        line: usize,
        /// What.
        error: Box<Self>,
    },
}

/// Where in the text, in bytes, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct At {
    pub(super) at: usize,
    pub(super) what: String,
}

impl At {
    pub(super) fn new(at: usize, what: String) -> Self {
        Self { at, what }
    }
}
