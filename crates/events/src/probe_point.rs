//! The place of a probe, as it is named.

use std::path::PathBuf;

/// Where a probe is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbePoint {
    /// Whose code.
    pub code: ProbedCode,
    /// Where in it.
    pub site: ProbeSite,
    /// What samples have of it, in the kernel's words: `%di`, `len=%si:u32`, `+8(%dx):string`, `$retval`.
    pub arguments: Vec<String>,
}

/// The code that a probe is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbedCode {
    /// The kernel's.
    Kernel,
    /// A file's.
    File(PathBuf),
    /// What is recorded: the command's file, or those that the processes have mapped.
    Recorded,
}

/// Where in its code a probe is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeSite {
    /// In a function, this many bytes from its start; or where all functions of a pattern start.
    Function {
        /// Its name.
        name: String,
        /// Bytes.
        offset: u64,
    },
    /// At an address of the file (SVMA).
    Address(u64),
    /// At markers (USDT).
    Marker {
        /// Whose.
        provider: String,
        /// Which.
        name: String,
    },
}
