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
    /// When the recording was over: what was written to later, and has neither build id nor fingerprint,
    /// may be anything by now.
    pub ended: Option<SystemTime>,
    /// Live processes that map it.
    pub processes: &'r [i32],
}

impl Recorded<'_> {
    /// Whether this is the file, as far as can be told without a build id.
    pub(crate) fn check_file(&self, elf: &Elf) -> Result<(), NoFile> {
        if !elf.is_inode(self.inode, self.device) {
            return Err(NoFile::Replaced);
        }
        let modified = elf.opened().and_then(|opened| opened.modified());
        match (self.fingerprint, self.ended, modified) {
            // Nothing tells that it is the one.
            _ if self.inode.is_none() => Ok(()),
            (Some(fingerprint), ..) => fingerprint.check(elf),
            (None, Some(ended), Some(modified)) if modified >= ended => Err(NoFile::Modified),
            _ => Ok(()),
        }
    }
}
