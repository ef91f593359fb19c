//! Files in memory.

use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io;

/// A file that is in memory and has no name anywhere: it is gone once it is closed. `called` is what the system's
/// lists of open files call it.
///
/// # Errors
/// If there is no memory, or no file may be opened any more.
pub fn memory_file(called: &str) -> io::Result<File> {
    Ok(File::from(memfd_create(called, MemfdFlags::CLOEXEC)?))
}
