//! A folder of notes in a place where others may write: it is ours alone, and it stays open. Whatever has its name
//! later, its files are found below the handle.

use crate::folder::sync_folder;
use crate::place::look_at;
use crate::{FolderEntry, NewFile};
use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags, flock, mkdirat, openat, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

/// Names of files that [`NewFile`] makes and has not put into place.
const UNPLACED: &[u8] = b".rprof-";

/// A folder that belongs to the effective user, and that nobody else may write to.
#[derive(Debug)]
pub struct OwnFolder(File);

impl OwnFolder {
    /// Opens a folder below another one; `None` if nothing has the name.
    ///
    /// # Errors
    /// `NotADirectory` for links and all else that is no folder; `PermissionDenied`, with a text that says why, if it
    /// belongs to another user or others may write to it; the kernel's.
    pub fn open(parent: &impl AsFd, name: &OsStr) -> io::Result<Option<Self>> {
        let seen = match look_at(parent, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            seen => seen?,
        };
        check_own(&seen.metadata()?)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(&seen, ".", flags, Mode::empty())?;
        Ok(Some(Self(File::from(opened))))
    }

    /// Opens a folder below another one, and makes it if nothing has the name.
    ///
    /// # Errors
    /// Those of [`Self::open`] and of mkdir(2).
    pub fn make(parent: &impl AsFd, name: &OsStr) -> io::Result<Self> {
        match mkdirat(parent, name, Mode::RWXU) {
            // What is to survive a crash needs the name of its folder.
            Ok(()) => sync_folder(parent),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        Self::open(parent, name)?.ok_or_else(|| Errno::NOENT.into())
    }

    /// Keeps others who ask for this lock out as long as this folder is open; `false` if somebody else has it. File
    /// systems that cannot lock folders (NFS) lock nothing.
    pub fn try_lock(&self) -> bool {
        flock(&self.0, FlockOperation::NonBlockingLockExclusive) != Err(Errno::WOULDBLOCK)
    }

    /// The names in it.
    ///
    /// # Errors
    /// Those of readdir(3).
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// What a file holds, up to `max_len` bytes.
    ///
    /// # Errors
    /// `InvalidInput` for links and all else that is no regular file, or longer; those of open(2) and read(2).
    pub fn read(&self, name: &OsStr, max_len: u64) -> io::Result<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let is_file = look_at(&self.0, name)?.metadata()?.is_file();
        let invalid = |why| io::Error::new(io::ErrorKind::InvalidInput, why);
        if !is_file {
            return Err(invalid("not a regular file"));
        }
        let file = File::from(openat(&self.0, name, flags, Mode::empty())?);
        let mut bytes = Vec::new();
        file.take(max_len.saturating_add(1))
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 > max_len {
            return Err(invalid("larger than expected"));
        }
        Ok(bytes)
    }

    /// Has a file hold these bytes: all of them, or what it held before. They are on the disk when this returns.
    ///
    /// # Errors
    /// The kernel's.
    pub fn replace(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        let place = FolderEntry::new(self.0.try_clone()?, name.to_owned());
        let new = NewFile::beside(place, 0o600)?;
        new.file().write_all(bytes)?;
        new.file().sync_all()?;
        new.put()?;
        match self.0.sync_all() {
            // Not all file systems can have the names of a folder on the disk.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            synced => synced,
        }
    }

    /// When a file was last changed, if that can be told.
    pub fn modified(&self, name: &OsStr) -> Option<SystemTime> {
        look_at(&self.0, name)
            .ok()?
            .metadata()
            .ok()?
            .modified()
            .ok()
    }

    /// Removes a file.
    ///
    /// # Errors
    /// Those of unlink(2).
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes what [`Self::replace`] left when this program was killed in the middle of it. Ask for the lock first.
    pub fn remove_unplaced(&self) {
        for name in self.names().unwrap_or_default() {
            if name.as_bytes().starts_with(UNPLACED) {
                // One that stays does no harm.
                let _ = self.remove(&name);
            }
        }
    }
}

impl AsFd for OwnFolder {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Opens a folder, to go on from there: not to read it.
///
/// # Errors
/// Those of open(2).
pub fn open_folder(path: &Path) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

fn check_own(meta: &Metadata) -> io::Result<()> {
    if !meta.is_dir() {
        return Err(Errno::NOTDIR.into());
    }
    let denied = |why: String| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return denied(format!("it belongs to another user (uid {})", meta.uid()));
    }
    if meta.mode() & 0o022 != 0 {
        let mode = meta.mode() & 0o777;
        return denied(format!("other users may write to it (mode {mode:03o})"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    const NAME: &str = "notes";

    fn name() -> &'static OsStr {
        OsStr::new(NAME)
    }

    #[test]
    fn a_folder_is_made_once_and_its_files_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let parent = open_folder(dir.path()).unwrap();
        assert!(OwnFolder::open(&parent, name()).unwrap().is_none());
        let folder = OwnFolder::make(&parent, name()).unwrap();
        folder.replace(OsStr::new("a"), b"1").unwrap();
        folder.replace(OsStr::new("a"), b"2").unwrap();
        drop(folder);
        let folder = OwnFolder::make(&parent, name()).unwrap();
        assert_eq!(folder.read(OsStr::new("a"), 1).unwrap(), b"2");
        assert!(folder.read(OsStr::new("a"), 0).is_err());
        assert_eq!(folder.names().unwrap(), ["a"]);
        folder.remove(OsStr::new("a")).unwrap();
        assert!(folder.names().unwrap().is_empty());
    }

    #[test]
    fn a_folder_whose_name_is_taken_by_a_link_is_not_opened_nor_written_to() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let parent = open_folder(dir.path()).unwrap();
        symlink(elsewhere.path(), dir.path().join(NAME)).unwrap();
        let error = OwnFolder::open(&parent, name()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotADirectory);
        assert!(OwnFolder::make(&parent, name()).is_err());
        // Once it is open, it does not matter what has its name.
        fs::remove_file(dir.path().join(NAME)).unwrap();
        let folder = OwnFolder::make(&parent, name()).unwrap();
        fs::rename(dir.path().join(NAME), dir.path().join("away")).unwrap();
        symlink(elsewhere.path(), dir.path().join(NAME)).unwrap();
        folder.replace(OsStr::new("a"), b"1").unwrap();
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        assert!(dir.path().join("away/a").exists());
    }

    #[test]
    fn others_may_not_write_to_it() {
        let dir = tempfile::tempdir().unwrap();
        let parent = open_folder(dir.path()).unwrap();
        fs::create_dir(dir.path().join(NAME)).unwrap();
        for mode in [0o770, 0o707, 0o777] {
            fs::set_permissions(dir.path().join(NAME), Permissions::from_mode(mode)).unwrap();
            let error = OwnFolder::open(&parent, name()).unwrap_err().to_string();
            assert!(error.contains("other users may write to it"), "{error}");
        }
        fs::set_permissions(dir.path().join(NAME), Permissions::from_mode(0o755)).unwrap();
        OwnFolder::open(&parent, name()).unwrap().unwrap();
    }

    #[test]
    fn links_are_not_read_and_leftovers_go() {
        let dir = tempfile::tempdir().unwrap();
        let folder = OwnFolder::make(&open_folder(dir.path()).unwrap(), name()).unwrap();
        symlink("/dev/zero", dir.path().join(NAME).join("zero")).unwrap();
        let error = folder.read(OsStr::new("zero"), 9).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        fs::write(dir.path().join(NAME).join(".rprof-0123456789abcdef"), "").unwrap();
        folder.remove_unplaced();
        assert_eq!(folder.names().unwrap(), ["zero"]);
    }

    #[test]
    fn one_at_a_time_has_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let parent = open_folder(dir.path()).unwrap();
        let first = OwnFolder::make(&parent, name()).unwrap();
        let second = OwnFolder::make(&parent, name()).unwrap();
        assert!(first.try_lock() && !second.try_lock());
        drop(first);
        assert!(second.try_lock());
    }
}
