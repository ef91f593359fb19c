//! Where an ELF file's bytes come from: a file, or memory (the vdso).

use rprof_untrusted::{Author, is_mostly_hole};
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

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
    /// Who may have written it.
    pub(crate) author: Author,
    pub(crate) modified: Option<SystemTime>,
    /// The process below whose `/proc` folder it was opened: its mounts may not be ours.
    seen_by: Option<u32>,
}

impl Source {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let (file, meta) = rprof_untrusted::open(path)?;
        let seen_by = process_of(path);
        let author = match Author::of(&file, &meta) {
            // Root of a container is not root here.
            Author::Root if seen_by.is_some() => Author::Anybody,
            author => author,
        };
        let meta = Meta {
            inode: meta.ino(),
            len: meta.len(),
            owner: meta.uid(),
            author,
            modified: meta.modified().ok(),
            seen_by,
        };
        let file = Arc::new(file);
        Ok(Self::File { file, meta, at: 0 })
    }

    /// A file that is open already, from its start.
    pub(crate) fn again(opened: &Opened) -> Self {
        Self::File {
            file: Arc::clone(&opened.file),
            meta: opened.meta,
            at: 0,
        }
    }

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

    /// Bytes that a file has by now.
    pub(crate) fn len_now(&self) -> io::Result<u64> {
        match self {
            Self::File { file, .. } => Ok(file.metadata()?.len()),
            Self::Memory(_) => Err(io::Error::from(io::ErrorKind::Unsupported)),
        }
    }

    /// Whether a file claims to be long, and is a hole for the most part: no text, log or program is.
    pub(crate) fn is_mostly_hole(&self) -> bool {
        match self {
            Self::File { file, meta, .. } => is_mostly_hole(file, 0, meta.len),
            Self::Memory(_) => false,
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
pub type Device = (u32, u32);

/// A file that is open.
#[derive(Clone, Debug)]
pub struct Opened {
    file: Arc<File>,
    meta: Meta,
}

impl Opened {
    pub(crate) fn file(&self) -> &Arc<File> {
        &self.file
    }

    pub(crate) fn author(&self) -> Author {
        self.meta.author
    }

    /// When it was last written to.
    pub fn modified(&self) -> Option<SystemTime> {
        self.file.metadata().ok()?.modified().ok()
    }

    /// When its contents changed at the latest. Dates of writing can be set, so it is when anything
    /// of the file changed, unless that was the last of its names.
    pub fn changed(&self) -> Option<SystemTime> {
        let meta = self.file.metadata().ok()?;
        if meta.nlink() == 0 {
            return meta.modified().ok();
        }
        let seconds = u64::try_from(meta.ctime()).ok()?;
        let ns = u32::try_from(meta.ctime_nsec()).ok()?;
        SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, ns))
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
        let own = split_device(meta.dev());
        // Device numbers of file systems without a device change with each boot and mount.
        let are_given = own.0 == 0 && device.0 == 0;
        own == device || are_given || self.is_mounted_from(device)
    }

    /// Of btrfs `stat` says another device than mappings do: that of the mount. Files of an overlay
    /// are mapped from the file systems below it.
    fn is_mounted_from(&self, device: Device) -> bool {
        let info = format!("/proc/self/fdinfo/{}", self.file.as_raw_fd());
        let info = std::fs::read_to_string(info).unwrap_or_default();
        let id = info.lines().find_map(|line| line.strip_prefix("mnt_id:"));
        let Some(id) = id.map(str::trim) else {
            return false;
        };
        let seen_by = self.meta.seen_by.map(|pid| pid.to_string());
        let mut tables = std::iter::once("self".to_owned()).chain(seen_by);
        tables.any(|process| {
            let mounts = std::fs::read_to_string(format!("/proc/{process}/mountinfo"));
            mounts.is_ok_and(|mounts| is_mount_from(&mounts, id, device))
        })
    }
}

/// Whether a mount shows files of this device, as `mountinfo` has it.
fn is_mount_from(mounts: &str, id: &str, (major, minor): Device) -> bool {
    let mut lines = mounts.lines();
    let Some(line) = lines.find(|line| line.split(' ').next() == Some(id)) else {
        return false;
    };
    let is_same = line.split(' ').nth(2) == Some(&format!("{major}:{minor}"));
    let kind = line
        .split_once(" - ")
        .map(|(_, rest)| rest.split(' ').next());
    is_same || kind == Some(Some("overlay"))
}

/// The process in whose folder of `/proc` a path is.
fn process_of(path: &Path) -> Option<u32> {
    let below = path.strip_prefix("/proc").ok()?;
    below
        .components()
        .next()?
        .as_os_str()
        .to_str()?
        .parse()
        .ok()
}

/// Major and minor number as the C library packs them (`gnu_dev_major`).
pub(crate) fn split_device(device: u64) -> Device {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_tell_the_devices_that_mappings_have() {
        let mounts = "36 1 0:31 / / rw,noatime - btrfs /dev/sda1 rw\n\
                      710 36 0:52 / /a - b rw master:1 - overlay overlay rw,lowerdir=/l\n";
        let mounts = mounts.replace("/a - b", "/a\\040-\\040b");
        assert!(is_mount_from(&mounts, "36", (0, 31)));
        assert!(!is_mount_from(&mounts, "36", (8, 1)));
        assert!(is_mount_from(&mounts, "710", (8, 1)));
        assert!(!is_mount_from(&mounts, "71", (8, 1)));
        assert!(!is_mount_from("36 1", "36", (8, 1)));
    }

    #[test]
    fn files_below_a_process_are_known_for_that() {
        let of = |path: &str| process_of(Path::new(path));
        assert_eq!(of("/proc/4711/root/bin/sh"), Some(4711));
        assert_eq!(of("/proc/4711/map_files/1-2"), Some(4711));
        assert_eq!(of("/proc/self/exe"), None);
        assert_eq!(of("/bin/sh"), None);
    }

    #[test]
    fn a_file_is_on_its_own_device_and_given_numbers_do_not_decide() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let opened = Source::open(file.path()).unwrap().opened().unwrap();
        let own = split_device(file.as_file().metadata().unwrap().dev());
        assert!(opened.is_on(own));
        let memory = Path::new("/proc/self/status");
        let opened = Source::open(memory).unwrap().opened().unwrap();
        let own = split_device(std::fs::metadata(memory).unwrap().dev());
        assert_eq!(own.0, 0, "of no device");
        assert!(opened.is_on((0, own.1 + 1)), "numbers of another boot");
        assert!(!opened.is_on((8, 1)), "a disk");
    }
}
