//! What a recording knows of a file, and whether a file is that one.

use rprof_base::BuildId;
use rprof_images::{Elf, Fingerprint, NoFile};
use std::time::SystemTime;

/// What a recording knows of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorded<'r> {
    /// Its path.
    pub path: &'r [u8],
    /// Its build id.
    pub build_id: Option<&'r BuildId>,
    /// Its inode: told by mappings that have no build id.
    pub inode: Option<u64>,
    /// Major and minor number of the device that the inode is on.
    pub device: Option<(u32, u32)>,
    /// Its contents, where it has no build id.
    pub fingerprint: Option<Fingerprint>,
    /// When it was mapped first, or at least when the recording was over: without a build id, what
    /// was written to later may be anything.
    pub unchanged_since: Option<SystemTime>,
    /// Live processes that map it.
    pub processes: &'r [i32],
}

impl Recorded<'_> {
    /// Whether this is the file, as far as can be told without a build id.
    pub(crate) fn check_file(&self, elf: &Elf) -> Result<(), NoFile> {
        if !elf.is_inode(self.inode, self.device) {
            return Err(NoFile::Replaced);
        }
        let is_later = |time: Option<SystemTime>| {
            let since = self.unchanged_since.zip(time);
            since.is_some_and(|(since, time)| time >= since)
        };
        match self.fingerprint {
            // Taken of what was written over the contents that ran.
            Some(fingerprint) if is_later(fingerprint.modified()) => Err(NoFile::Modified),
            Some(fingerprint) => fingerprint.check(elf),
            None if is_later(elf.opened().and_then(|opened| opened.changed())) => {
                Err(NoFile::Modified)
            }
            None => Ok(()),
        }
    }
}
