//! What the other files here need of each other.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The error of a call that says -1.
pub(super) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// `read(2)`.
pub(crate) fn read(fd: BorrowedFd<'_>, into: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the kernel writes at most `into.len()` bytes.
    let n = unsafe { libc::read(fd.as_raw_fd(), into.as_mut_ptr().cast(), into.len()) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// Effective user id.
pub fn effective_uid() -> u32 {
    // SAFETY: no pointers, cannot fail.
    unsafe { libc::geteuid() }
}
