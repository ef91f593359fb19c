//! Where it is looked for what has no path.

use std::ffi::OsStr;

/// Where markers without a path, and libraries by their names, are looked for.
#[derive(Clone, Copy, Debug)]
pub enum Searched<'a> {
    /// In a command's file.
    Command(&'a OsStr),
    /// In what processes or threads have mapped.
    Tasks(&'a [i32]),
    /// Nobody says where.
    Nowhere,
}
