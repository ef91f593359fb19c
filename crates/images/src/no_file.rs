//! Why an image has no file.

use crate::{Elf, ElfError};
use rprof_base::BuildId;
use std::io;

/// Why there is no file for an image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoFile {
    /// Anonymous memory: JIT code.
    #[error("JIT code, without a file")]
    Anonymous,
    /// No file of that path.
    #[error("file not found")]
    Missing,
    /// It was deleted before it was recorded, or since.
    #[error("the file was deleted")]
    Deleted,
    /// There is a file, but with other contents.
    #[error(
        "changed since the recording: expected build id {wanted}, found {}",
        found.as_ref().map_or_else(|| "none".to_owned(), BuildId::to_string)
    )]
    Changed {
        /// What the recording says.
        wanted: BuildId,
        /// What the file has, if anything.
        found: Option<BuildId>,
    },
    /// There is a file, but not the one that was mapped; the recording has no build id of it.
    #[error("replaced by another file (different inode or device; no build id was recorded)")]
    Replaced,
    /// It is the file that was mapped, but with other contents; the recording has no build id of it.
    #[error("changed since the recording: it was rewritten in place (no build id was recorded)")]
    Rewritten,
    /// It is the file that was mapped, touched later; nothing tells whether its contents are others.
    #[error(
        "changed since it was mapped, or only touched (no build id was recorded; --symfs uses it as \
         it is)"
    )]
    Modified,
    /// There is a file, but it cannot be read.
    #[error("{}", unreadable(*.0))]
    Unreadable(io::ErrorKind),
    /// There is a file, but it is not ELF.
    #[error("not an ELF file")]
    NotElf,
    /// There is a file, but it is no jitdump.
    #[error("not a jitdump file")]
    NotJitDump,
    /// Somebody wrote to it while it was read.
    #[error("it was modified while being read")]
    BeingWritten,
    /// It is part of the recorded kernel (vdso), which is not known to be the running one.
    #[error("part of the recorded kernel, which may not be the running one")]
    OtherKernel,
}

fn unreadable(why: io::ErrorKind) -> String {
    match why {
        io::ErrorKind::InvalidInput => "not a regular file".to_owned(),
        why => format!("cannot be read: {why}"),
    }
}

impl Elf {
    /// This file, if its contents are those with a build id; without one, any.
    ///
    /// # Errors
    /// [`NoFile::Changed`].
    pub fn checked(self, wanted: Option<&BuildId>) -> Result<Self, NoFile> {
        match wanted {
            Some(wanted) if !self.has_build_id(wanted) => Err(NoFile::Changed {
                wanted: wanted.clone(),
                found: self.build_id().cloned(),
            }),
            _ => Ok(self),
        }
    }
}

impl From<ElfError> for NoFile {
    fn from(error: ElfError) -> Self {
        match error {
            ElfError::Io { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => Self::Missing,
                kind => Self::Unreadable(kind),
            },
            ElfError::Malformed { .. } => Self::NotElf,
        }
    }
}
