//! Mounting what the kernel describes its tracepoints in.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
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

/// Mounts tracefs where nobody sees it: what is below the descriptor goes away with it. Needs CAP_SYS_ADMIN.
///
/// # Errors
/// The kernel's; before 5.2 it has no such mounts.
pub fn detached_tracefs() -> io::Result<OwnedFd> {
    let own = |fd: libc::c_long| {
        let fd = i32::try_from(fd).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        super::check(fd)?;
        // SAFETY: the kernel just gave it to us.
        Ok::<_, io::Error>(unsafe { OwnedFd::from_raw_fd(fd) })
    };
    // SAFETY: a string that ends with NUL, and a flag.
    let fs = unsafe { libc::syscall(libc::SYS_fsopen, c"tracefs".as_ptr(), libc::FSOPEN_CLOEXEC) };
    let fs = own(fs)?;
    // SAFETY: to create the file system as it is takes neither key nor value.
    let created = unsafe {
        libc::syscall(
            libc::SYS_fsconfig,
            fs.as_raw_fd(),
            libc::FSCONFIG_CMD_CREATE,
            std::ptr::null::<libc::c_char>(),
            std::ptr::null::<libc::c_void>(),
            0,
        )
    };
    super::check(i32::try_from(created).unwrap_or(-1))?;
    // SAFETY: a descriptor and flags.
    own(unsafe {
        libc::syscall(
            libc::SYS_fsmount,
            fs.as_raw_fd(),
            libc::FSMOUNT_CLOEXEC,
            libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_NOEXEC,
        )
    })
}
