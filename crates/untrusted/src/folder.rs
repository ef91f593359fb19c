//! Folders for new files: they are made when they are needed, go away if they stay empty, and can be locked.

use crate::place::look_at;
use crate::{FolderEntry, Goal, NewFile};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, flock, openat, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Folders that were made. Those that are empty in the end are removed.
#[derive(Debug, Default)]
pub struct NewFolders(Vec<FolderEntry>);

impl NewFolders {
    /// Makes a folder with these permissions (less the umask), unless there is one.
    ///
    /// # Errors
    /// `NotADirectory` if something else has the name, and those of [`Goal::of`].
    pub fn make(&mut self, path: &Path, mode: u32) -> io::Result<()> {
        match Goal::of(path) {
            Ok(Goal::Place(place)) if place.meta().is_none() => {
                if place.make_folder(mode)? {
                    // What is to survive a crash needs the folder that it is in.
                    sync_folder(&place.folder);
                    self.0.push(place);
                }
                Ok(())
            }
            Ok(_) => Err(io::ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        for place in self.0.iter().rev() {
            // One that is not empty stays: that is what it was made for.
            let _ = unlinkat(&place.folder, &place.name, AtFlags::REMOVEDIR);
        }
    }
}

/// A folder that no other program which asks for this lock puts files into, until this is dropped.
#[derive(Debug)]
pub struct FolderLock(
    /// `None` where folders cannot be locked, as on NFS.
    Option<File>,
);

/// A folder is locked for as long as files are renamed.
const POLL: Duration = Duration::from_millis(10);

impl NewFile {
    /// Locks the folder that the file will be in, as soon as nobody else has locked it.
    ///
    /// # Errors
    /// `TimedOut` if somebody keeps it locked for longer than `timeout`.
    pub fn lock_folder(&self, timeout: Duration) -> io::Result<FolderLock> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(folder) = openat(&self.place.folder, ".", flags, Mode::empty()) else {
            return Ok(FolderLock(None));
        };
        let until = Instant::now() + timeout;
        loop {
            match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(FolderLock(Some(File::from(folder)))),
                Err(Errno::WOULDBLOCK) if Instant::now() < until => sleep(POLL),
                Err(Errno::WOULDBLOCK) => {
                    let why = "another program has locked the folder";
                    return Err(io::Error::new(io::ErrorKind::TimedOut, why));
                }
                Err(_) => return Ok(FolderLock(None)),
            }
        }
    }

    /// Removes what has the name that the file is to have, if anything, unless it is a folder.
    ///
    /// # Errors
    /// The kernel's.
    pub fn remove_old(&self) -> io::Result<()> {
        match unlinkat(&self.place.folder, &self.place.name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether something has the name that the file is to have.
    pub fn is_name_taken(&self) -> bool {
        look_at(&self.place.folder, &self.place.name).is_ok()
    }
}

/// Has the names in a folder on the disk, as far as the file system can do that.
pub(crate) fn sync_folder(folder: &impl AsFd) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if let Ok(folder) = openat(folder, ".", flags, Mode::empty()) {
        // Not all file systems can; files are there without it.
        let _ = File::from(folder).sync_all();
    }
}

impl FolderLock {
    /// Whether it keeps others out.
    pub fn is_locked(&self) -> bool {
        self.0.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside(path: &Path) -> NewFile {
        let Goal::Place(place) = Goal::of(path).unwrap() else {
            panic!("{}", path.display());
        };
        NewFile::beside(place, 0o600).unwrap()
    }

    #[test]
    fn folders_that_stay_empty_go_away() {
        let dir = tempfile::tempdir().unwrap();
        let mut folders = NewFolders::default();
        let names = ["a", "a/b", "a/b/c", "a/d"].map(|name| dir.path().join(name));
        for name in &names {
            folders.make(name, 0o700).unwrap();
        }
        std::fs::write(names[3].join("file"), "").unwrap();
        drop(folders);
        assert_eq!(names.map(|name| name.exists()), [true, false, false, true]);
    }

    #[test]
    fn a_folder_that_was_there_stays() {
        let dir = tempfile::tempdir().unwrap();
        let there = dir.path().join("there");
        std::fs::create_dir(&there).unwrap();
        NewFolders::default().make(&there, 0o700).unwrap();
        assert!(there.is_dir());
        std::fs::write(dir.path().join("file"), "").unwrap();
        let error = NewFolders::default().make(&dir.path().join("file"), 0o700);
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::NotADirectory);
    }

    #[test]
    fn a_lock_keeps_others_out_until_it_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = (beside(&dir.path().join("a")), beside(&dir.path().join("b")));
        let lock = one.lock_folder(Duration::ZERO).unwrap();
        if lock.is_locked() {
            let error = other.lock_folder(Duration::ZERO).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        }
        drop(lock);
        other.lock_folder(Duration::ZERO).unwrap();
    }

    #[test]
    fn a_name_is_taken_once_a_file_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let (one, other) = (beside(&path), beside(&path));
        assert!(!other.is_name_taken());
        one.put_new().unwrap().sync_folder();
        assert!(other.is_name_taken());
        other.remove_old().unwrap();
        assert!(!other.is_name_taken());
        other.remove_old().unwrap();
    }
}
