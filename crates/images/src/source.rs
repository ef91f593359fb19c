//! Where an ELF file's bytes come from: a file, or memory (the vdso).

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// Bytes with a position; a file is read with `pread` and must be a regular one.
#[derive(Debug)]
pub(crate) enum Source {
    File {
        file: Arc<File>,
        meta: Meta,
        at: u64,
    },
    Memory(Cursor<Vec<u8>>),
}

/// What the file system said of a file when it was opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meta {
    pub(crate) inode: u64,
    /// Bytes.
    pub(crate) len: u64,
    /// User id.
    pub(crate) owner: u32,
    pub(crate) modified: Option<SystemTime>,
}

/// `O_NONBLOCK` (asm-generic): a path named by a recording may be a FIFO by now.
const O_NONBLOCK: i32 = 0o4000;

impl Source {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::options()
            .read(true)
            .custom_flags(O_NONBLOCK)
            .open(path)?;
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            ));
        }
        let meta = Meta {
            inode: meta.ino(),
            len: meta.len(),
            owner: meta.uid(),
            modified: meta.modified().ok(),
        };
        let file = Arc::new(file);
        Ok(Self::File { file, meta, at: 0 })
    }
}

impl Source {
    /// Inode of the open file.
    pub(crate) fn inode(&self) -> Option<u64> {
        self.meta().map(|meta| meta.inode)
    }

    /// The file's, if it is one.
    pub(crate) fn meta(&self) -> Option<&Meta> {
        match self {
            Self::File { meta, .. } => Some(meta),
            Self::Memory(_) => None,
        }
    }

    /// The open file, to ask about later.
    pub(crate) fn opened(&self) -> Option<Opened> {
        match self {
            Self::File { file, meta, .. } => Some(Opened {
                file: Arc::clone(file),
                meta: *meta,
            }),
            Self::Memory(_) => None,
        }
    }

    /// Fills `into` from a place in a file.
    pub(crate) fn read_exact_at(&self, into: &mut [u8], at: u64) -> io::Result<()> {
        match self {
            Self::File { file, .. } => file.read_exact_at(into, at),
            Self::Memory(_) => Err(io::Error::from(io::ErrorKind::Unsupported)),
        }
    }
}

/// Number of a device as mappings are announced with: major and minor.
pub(crate) type Device = (u32, u32);

/// A file that is open.
#[derive(Debug)]
pub(crate) struct Opened {
    file: Arc<File>,
    meta: Meta,
}

impl Opened {
    pub(crate) fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Whether it was written to, or cut, since.
    pub(crate) fn has_changed(&self) -> bool {
        self.file.metadata().is_ok_and(|now| {
            now.len() != self.meta.len || now.modified().ok() != self.meta.modified
        })
    }

    /// Whether it is on this device, as far as that can be told.
    pub(crate) fn is_on(&self, device: Device) -> bool {
        let Ok(meta) = self.file.metadata() else {
            return false;
        };
        split_device(meta.dev()) == device || self.is_mounted_from(device)
    }

    /// Of btrfs `stat` says another device than mappings do: that of the mount. Files of an overlay
    /// are mapped from the file systems below it.
    fn is_mounted_from(&self, (major, minor): Device) -> bool {
        let mount = || {
            let info = format!("/proc/self/fdinfo/{}", self.file.as_raw_fd());
            let info = std::fs::read_to_string(info).ok()?;
            let id = info.lines().find_map(|line| line.strip_prefix("mnt_id:"))?;
            let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
            let id = id.trim();
            let is_it = |line: &&str| line.split(' ').next() == Some(id);
            let line = mounts.lines().find(is_it)?;
            let is_same = line.split(' ').nth(2) == Some(&format!("{major}:{minor}"));
            let kind = line.split(" - ").nth(1)?.split(' ').next();
            Some(is_same || kind == Some("overlay"))
        };
        mount().unwrap_or(false)
    }
}

/// Major and minor number as the C library packs them (`gnu_dev_major`).
fn split_device(device: u64) -> Device {
    let part = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or(0);
    let major = part(device >> 8 & 0xfff | device >> 32 & 0xffff_f000);
    let minor = part(device & 0xff | device >> 12 & 0xffff_ff00);
    (major, minor)
}

impl Read for Source {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File { file, at, .. } => {
                let n = file.read_at(into, *at)?;
                *at += n as u64;
                Ok(n)
            }
            Self::Memory(cursor) => cursor.read(into),
        }
    }
}

impl Seek for Source {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File { meta, at, .. } => {
                let base = match to {
                    SeekFrom::Start(offset) => Some(offset),
                    SeekFrom::End(offset) => meta.len.checked_add_signed(offset),
                    SeekFrom::Current(offset) => at.checked_add_signed(offset),
                };
                *at = base.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
                Ok(*at)
            }
            Self::Memory(cursor) => cursor.seek(to),
        }
    }
}
