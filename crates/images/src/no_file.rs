//! Why an image has no file.

use crate::{Elf, ElfError};
use rprof_base::BuildId;
use std::io;

/// Why there is no file for an image.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoFile {
    /// Anonymous memory: JIT code.
    Anonymous,
    /// No file of that path.
    Missing,
    /// It was deleted before it was recorded, or since.
    Deleted,
    /// There is a file, but with other contents.
    Changed {
        /// What the recording says.
        wanted: BuildId,
        /// What the file has, if anything.
        found: Option<BuildId>,
    },
    /// There is a file, but not the one that was mapped; the recording has no build id of it.
    Replaced,
    /// It is the file that was mapped, but with other contents; the recording has no build id of it.
    Rewritten,
    /// It is the file that was mapped, touched later; nothing tells whether its contents are others.
    Modified,
    /// There is a file, but it cannot be read.
    Unreadable(io::ErrorKind),
    /// There is a file, but it is not ELF.
    NotElf,
    /// There is a file, but it is no jitdump.
    NotJitDump,
    /// Somebody wrote to it while it was read.
    BeingWritten,
    /// It is part of the recorded kernel (vdso), which is not known to be the running one.
    OtherKernel,
}

impl std::fmt::Display for NoFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Anonymous => write!(f, "JIT code, without a file"),
            Self::Missing => write!(f, "file not found"),
            Self::Deleted => write!(f, "the file was deleted"),
            Self::Changed { wanted, found } => match found {
                Some(found) => write!(
                    f,
                    "changed since the recording: expected build id {wanted}, found {found}"
                ),
                None => write!(
                    f,
                    "changed since the recording: expected build id {wanted}, found none"
                ),
            },
            Self::Replaced => write!(
                f,
                "replaced by another file (different inode or device; no build id was recorded)"
            ),
            Self::Rewritten => write!(
                f,
                "changed since the recording: it was rewritten in place (no build id was recorded)"
            ),
            Self::Modified => write!(
                f,
                "changed since it was mapped, or only touched (no build id was recorded; --symfs uses it as \
                 it is)"
            ),
            Self::Unreadable(io::ErrorKind::InvalidInput) => write!(f, "not a regular file"),
            Self::Unreadable(kind) => write!(f, "cannot be read: {kind}"),
            Self::NotElf => write!(f, "not an ELF file"),
            Self::NotJitDump => write!(f, "not a jitdump file"),
            Self::BeingWritten => write!(f, "it was modified while being read"),
            Self::OtherKernel => write!(
                f,
                "part of the recorded kernel, which may not be the running one"
            ),
        }
    }
}

impl std::error::Error for NoFile {}

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
