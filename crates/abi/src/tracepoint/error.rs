//! What can be wrong with a format.

/// The text is no format of a tracepoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// A line is missing or holds something else.
    #[error("tracepoint format has no usable `{what}` line")]
    Missing {
        /// How the line begins.
        what: &'static str,
    },
    /// A field line that cannot be read.
    #[error("malformed field line in a tracepoint format: {line}")]
    BadField {
        /// The line.
        line: String,
    },
    /// It is longer than any of a kernel's.
    #[error("tracepoint format of {len} bytes")]
    TooLong {
        /// Its bytes.
        len: usize,
    },
}

/// Why a `print fmt` is not understood; its samples are then printed field by field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrintError {
    /// It is no list of a string and expressions.
    #[error("syntax error at byte {at} of the print format")]
    Syntax {
        /// Bytes from its start.
        at: usize,
    },
    /// The tokens do not make an expression.
    #[error("unexpected {found} in the print format")]
    Unexpected {
        /// The token, or `end`.
        found: String,
    },
    /// A function that only the kernel has.
    #[error("unknown function {name} in the print format")]
    UnknownFunction {
        /// Its name.
        name: String,
    },
    /// A field that the event does not have.
    #[error("unknown field {name} in the print format")]
    UnknownField {
        /// Its name.
        name: String,
    },
    /// Expressions nest too deep to be an event's.
    #[error("the print format nests too deep")]
    TooDeep,
    /// More conversions than arguments.
    #[error("the print format has too few arguments")]
    TooFewArguments,
}
