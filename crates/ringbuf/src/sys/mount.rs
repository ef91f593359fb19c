//! Mounting what the kernel describes its tracepoints in.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Mounts tracefs at a folder, as perf does where nobody has; only root may.
///
/// # Errors
/// The kernel's; also a path with a NUL byte.
pub fn mount_tracefs(at: &Path) -> io::Result<()> {
    let at = CString::new(at.as_os_str().as_bytes())?;
    let name = c"tracefs".as_ptr();
    // SAFETY: three strings that end with NUL, and no data.
    let done = unsafe { libc::mount(name, at.as_ptr(), name, 0, std::ptr::null()) };
    super::check(done).map(drop)
}
