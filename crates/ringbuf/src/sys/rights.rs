//! Rights that this program has and its user has not.

use super::calls::{check, effective_uid};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

/// What came of rights that the executable file gives (set-user-id, file capabilities).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// There are none but those of the user, or of root.
    Users,
    /// Capabilities for those whom the system's owner lets run this file.
    Granted,
    /// There were capabilities, and everybody may run this file: they are gone.
    Dropped,
    /// The effective user or group is not the real one: nothing should be done as such.
    Foreign,
}

/// CAP_IPC_LOCK, CAP_SYS_PTRACE, CAP_SYSLOG and CAP_PERFMON (`include/uapi/linux/capability.h`, v6.12):
/// what recording takes. Files are opened with the rights of the user in any case.
const FOR_RECORDING: u64 = 1 << 14 | 1 << 19 | 1 << 34 | 1 << 38;

impl Rights {
    /// Drops what was not meant for this user. To be called at the very start, before there are
    /// threads.
    ///
    /// Who may record everybody may look into everybody. So capabilities of the file count only if
    /// root owns it and not everybody may execute it, but a group: that is the system's owner saying
    /// who may. Others are as if the file had none; what else it gives a group is dropped, too.
    ///
    /// # Errors
    /// The kernel's; then nothing should be done.
    pub fn settle() -> io::Result<Self> {
        if !has_users_ids() {
            return Ok(Self::Foreign);
        }
        let permitted = permitted()?;
        // SAFETY: no pointers.
        let is_secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
        // Root's own rights are no gift of the file, though others may have set the flag.
        if !is_secure || permitted == 0 || effective_uid() == 0 {
            return Ok(Self::Users);
        }
        let executable = std::fs::metadata("/proc/self/exe")?;
        if executable.uid() == 0 && executable.mode() & 0o001 == 0 {
            keep(permitted & FOR_RECORDING)?;
            return Ok(Self::Granted);
        }
        keep(0)?;
        // Nothing is left to hide from the user. Without this we might not watch our own child; but
        // what may not be read stays so.
        if File::open("/proc/self/exe").is_ok() {
            // SAFETY: numbers alone.
            check(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) })?;
        }
        Ok(Self::Dropped)
    }
}

fn has_users_ids() -> bool {
    // SAFETY: no pointers, cannot fail.
    let user = unsafe { libc::getuid() };
    // SAFETY: as above.
    let group = unsafe { libc::getgid() };
    // SAFETY: as above.
    let effective_group = unsafe { libc::getegid() };
    user == effective_uid() && group == effective_group
}

/// `struct __user_cap_header_struct`, of this thread.
#[repr(C)]
struct Header {
    version: u32,
    pid: i32,
}

impl Header {
    /// `_LINUX_CAPABILITY_VERSION_3`: two words of each set.
    const OWN: Self = Self {
        version: 0x2008_0522,
        pid: 0,
    };
}

/// `struct __user_cap_data_struct`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Data {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

fn read() -> io::Result<[Data; 2]> {
    let (mut header, mut data) = (Header::OWN, [Data::default(); 2]);
    // SAFETY: the kernel reads and writes one header, and writes two entries.
    let result = unsafe { libc::syscall(libc::SYS_capget, &raw mut header, data.as_mut_ptr()) };
    match result {
        0 => Ok(data),
        _ => Err(io::Error::last_os_error()),
    }
}

/// What this thread may have.
fn permitted() -> io::Result<u64> {
    let [low, high] = read()?;
    Ok(u64::from(high.permitted) << 32 | u64::from(low.permitted))
}

/// Has these capabilities and no others from now on. What may be inherited is the user's own.
fn keep(capabilities: u64) -> io::Result<()> {
    let mut data = read()?;
    for (data, shift) in data.iter_mut().zip([0, 32]) {
        let word = u32::try_from(capabilities >> shift & 0xffff_ffff).unwrap_or(0);
        (data.effective, data.permitted) = (word, word);
    }
    let mut header = Header::OWN;
    // SAFETY: the kernel reads one header and two entries.
    let result = unsafe { libc::syscall(libc::SYS_capset, &raw mut header, data.as_ptr()) };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
