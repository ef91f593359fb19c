//! Files that were found once and are kept open: what was deleted or replaced since, and whose processes are
//! gone, is still there.

use crate::Recorded;
use rprof_base::BuildId;
use rprof_images::{Device, Elf, Opened};
use rprof_untrusted::Budget;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Files that are kept; the first that were found.
#[derive(Debug, Default)]
pub struct KeptFiles(Mutex<Vec<Kept>>);

/// Each is an open file.
const MAX_FILES: usize = 64;

#[derive(Debug)]
struct Kept {
    opened: Opened,
    path: PathBuf,
    build_id: Option<BuildId>,
    inode: Option<u64>,
    /// As the recording has it.
    device: Option<Device>,
}

impl Kept {
    fn is(&self, recorded: &Recorded<'_>) -> bool {
        match (recorded.build_id, &self.build_id) {
            (Some(wanted), found) => found.as_ref().is_some_and(|found| found.matches(wanted)),
            (None, _) => {
                let file = (self.inode, self.device);
                recorded.inode.is_some() && file == (recorded.inode, recorded.device)
            }
        }
    }
}

impl KeptFiles {
    /// Keeps the file of an image, if there is room.
    pub fn keep(&self, elf: &Elf, recorded: Recorded<'_>) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_there = files.iter().any(|kept| kept.is(&recorded));
        if is_there || files.len() >= MAX_FILES {
            return;
        }
        files.extend(elf.opened().map(|opened| Kept {
            opened,
            path: elf.path().to_owned(),
            build_id: elf.build_id().cloned(),
            inode: elf.inode(),
            device: recorded.device,
        }));
    }

    /// The file of an image, if it is kept.
    pub(crate) fn find(&self, recorded: &Recorded<'_>, budget: &Budget) -> Option<Elf> {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = files.iter().find(|kept| kept.is(recorded))?;
        let elf = Elf::open_again(&kept.opened, &kept.path, budget).ok()?;
        let is_it = recorded.build_id.is_some() || recorded.check_file(&elf).is_ok();
        is_it.then_some(elf)
    }
}
