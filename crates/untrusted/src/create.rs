//! A new file in the place of whatever has its name.
//!
//! It is made under a name of its own, which nothing had before, in the folder that was opened, and
//! renamed: what has the name is replaced, not opened, be it a link or somebody else's file.

use crate::folder::sync_folder;
use crate::place::look_at;
use crate::{FolderEntry, Goal};
use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, fstat, openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// This many names are tried before somebody must be taking them.
const MAX_TRIES: usize = 100;

/// A file that is not in its place yet: unless it is put there, it goes away again.
#[derive(Debug)]
pub struct NewFile {
    pub(crate) place: FolderEntry,
    file: File,
    name: OsString,
    is_placed: bool,
}

/// Which file it was that had a name. A number that is used again is told from it by the file's birth, if the
/// file system knows that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    inode: u64,
    born: Option<SystemTime>,
}

impl FileId {
    /// Of an open file.
    ///
    /// # Errors
    /// The kernel's.
    pub fn of(file: &File) -> io::Result<Self> {
        Ok(Self::by(&file.metadata()?))
    }

    fn by(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            born: meta.created().ok(),
        }
    }

    /// Removes the file, if it is the one that has this name.
    ///
    /// # Errors
    /// `NotFound` if it is not, and those of [`Goal::of`].
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        if let Goal::Place(place) = Goal::of(path)?
            && place.meta().is_some_and(|meta| Self::by(meta) == *self)
        {
            return Ok(unlinkat(&place.folder, &place.name, AtFlags::empty())?);
        }
        Err(Errno::NOENT.into())
    }
}

/// A file in its place. It is held open, and so is an older one: nothing else is given their inodes.
#[derive(Debug)]
pub struct Placed {
    place: FolderEntry,
    file: File,
    /// What had the name before, and its name now.
    old: Option<(OsString, File)>,
}

impl NewFile {
    /// Makes an empty file to be written, with these permissions (less the umask).
    ///
    /// # Errors
    /// The kernel's.
    pub fn beside(place: FolderEntry, mode: u32) -> io::Result<Self> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut n_tries = 0;
        loop {
            let name = OsString::from(format!(".rprof-{:016x}", RandomState::new().hash_one(0)));
            match openat(&place.folder, &name, flags, Mode::from_raw_mode(mode)) {
                Ok(file) => {
                    return Ok(Self {
                        place,
                        file: File::from(file),
                        name,
                        is_placed: false,
                    });
                }
                Err(Errno::EXIST) if n_tries < MAX_TRIES => n_tries += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name. What had that is gone, unless it is a folder.
    ///
    /// # Errors
    /// The kernel's.
    pub fn put(mut self) -> io::Result<()> {
        self.put_over()
    }

    /// Gives the file its name. A file that had it, unless it is empty, has this ending from now on.
    ///
    /// # Errors
    /// The kernel's. Then the older file has its name.
    pub fn put_beside_old(mut self, ending: &str) -> io::Result<Placed> {
        let mut placed = self.as_placed()?;
        if (self.place.meta()).is_some_and(|meta| meta.is_file() && meta.len() > 0) {
            placed.old = move_away(&self.place, ending)?;
        }
        let put = self.put_over();
        if put.is_err() {
            placed.give_back();
        }
        put.map(|()| placed)
    }

    /// Gives the file its name, which nothing may have yet.
    ///
    /// # Errors
    /// `AlreadyExists`, and the kernel's.
    pub fn put_new(mut self) -> io::Result<Placed> {
        let placed = self.as_placed()?;
        rename_to_free(&self.place.folder, &self.name, &self.place.name)?;
        self.is_placed = true;
        Ok(placed)
    }

    /// Gives the file its name, whatever has had it, which is gone then.
    ///
    /// # Errors
    /// The kernel's. Then what has the name keeps it.
    pub fn put_instead(mut self) -> io::Result<Placed> {
        let placed = self.as_placed()?;
        self.put_over().map(|()| placed)
    }

    /// What it is once it has its name, without an older one.
    fn as_placed(&self) -> io::Result<Placed> {
        Ok(Placed {
            place: FolderEntry::new(self.place.folder.try_clone()?, self.place.name.clone()),
            file: self.file.try_clone()?,
            old: None,
        })
    }

    fn put_over(&mut self) -> io::Result<()> {
        let folder = &self.place.folder;
        renameat(folder, &self.name, folder, &self.place.name)?;
        self.is_placed = true;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_placed && has_name(&self.place.folder, &self.name, &self.file) {
            // There is nobody left to tell that it stays.
            let _ = unlinkat(&self.place.folder, &self.name, AtFlags::empty());
        }
    }
}

impl Placed {
    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Has its name on the disk, as far as the file system can do that.
    pub fn sync_folder(&self) {
        sync_folder(&self.place.folder);
    }

    /// Where the file is: `asked`, or beside it, but for links that were followed.
    pub fn path(&self, asked: &Path) -> PathBuf {
        let FolderEntry { folder, name, .. } = &self.place;
        let of_asked = asked.parent().map(|parent| {
            if parent.as_os_str().is_empty() {
                Path::new(".")
            } else {
                parent
            }
        });
        let of_asked = of_asked.and_then(|parent| parent.metadata().ok());
        let own = folder.metadata().ok();
        let place = |meta: Metadata| (meta.dev(), meta.ino());
        if of_asked.is_some() && of_asked.map(place) == own.map(place) {
            return asked.with_file_name(name);
        }
        let folder = std::fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd()));
        folder.map_or_else(|_| asked.to_owned(), |folder| folder.join(name))
    }

    /// Gives the file its name with this ending, which nothing may have yet. An older file keeps the
    /// name that it was given.
    ///
    /// # Errors
    /// `AlreadyExists`, `NotFound` if somebody has taken the file away, and the kernel's.
    pub fn add_ending(&mut self, ending: &str) -> io::Result<()> {
        let FolderEntry { folder, name, .. } = &self.place;
        let mut new = name.clone();
        new.push(ending);
        if !has_name(folder, name, &self.file) {
            return Err(Errno::NOENT.into());
        }
        rename_to_free(folder, name, &new)?;
        self.place.name = new;
        self.old = None;
        Ok(())
    }

    /// Takes the file away again, and gives an older one its name; but only what still has the name
    /// that it got here.
    pub fn take_back(&self) {
        let FolderEntry { folder, name, .. } = &self.place;
        if has_name(folder, name, &self.file) && !self.give_back() {
            let _ = unlinkat(folder, name, AtFlags::empty());
        }
    }

    /// Gives an older file its name; whether there is one.
    fn give_back(&self) -> bool {
        let FolderEntry { folder, name, .. } = &self.place;
        let old = self.old.as_ref();
        let old = old.filter(|(old, file)| has_name(folder, old, file));
        // Whatever fails here, the reason why nothing was written is what the user needs.
        old.is_some_and(|(old, _)| renameat(folder, old, folder, name).is_ok())
    }
}

/// Renames what has a name, in its folder, unless something has the new name.
fn rename_to_free(folder: &File, name: &OsStr, new: &OsStr) -> io::Result<()> {
    match renameat_with(folder, name, folder, new, RenameFlags::NOREPLACE) {
        // A file system that cannot do it in one step.
        Err(Errno::INVAL | Errno::NOSYS) => {
            if look_at(folder, new).is_ok() {
                return Err(Errno::EXIST.into());
            }
            Ok(renameat(folder, name, folder, new)?)
        }
        renamed => Ok(renamed?),
    }
}

/// Whether a file, which is open, has a name.
fn has_name(folder: &File, name: &OsStr, file: &File) -> bool {
    // Opens nothing: this is asked where no file can be opened any more, too.
    let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    match (found, fstat(file)) {
        (Ok(found), Ok(own)) => (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino),
        _ => false,
    }
}

/// Gives what has the name another one with this ending; `None` if it is gone.
fn move_away(place: &FolderEntry, ending: &str) -> io::Result<Option<(OsString, File)>> {
    let FolderEntry { folder, name, .. } = place;
    let mut old = name.clone();
    old.push(ending);
    match renameat(folder, name, folder, &old) {
        Err(Errno::NOENT) => return Ok(None),
        Ok(()) => {}
        // A folder, or somebody else's file: nobody keeps a new file from its name so.
        Err(error) => old = move_beside(place, &old, error)?,
    }
    // Which one it was may have changed meanwhile.
    let moved = look_at(folder, &old)?;
    Ok(Some((old, moved)))
}

/// Gives what has the name the first free one of these: `OLD.1`, `OLD.2`. `why` says why `OLD` cannot be had.
fn move_beside(place: &FolderEntry, old: &OsStr, why: Errno) -> io::Result<OsString> {
    let FolderEntry { folder, name, .. } = place;
    for number in 1..MAX_TRIES {
        let mut other = old.to_owned();
        other.push(format!(".{number}"));
        if renameat_with(folder, name, folder, &other, RenameFlags::NOREPLACE).is_ok() {
            return Ok(other);
        }
    }
    let why = io::Error::from(why);
    let what = format!(
        "cannot rename the older file to {}: {why}",
        old.to_string_lossy()
    );
    Err(io::Error::new(why.kind(), what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::symlink;

    fn beside(path: &Path) -> NewFile {
        let Goal::Place(place) = Goal::of(path).unwrap() else {
            panic!("{}", path.display());
        };
        NewFile::beside(place, 0o600).unwrap()
    }

    /// All names in a folder, with what is in the files.
    fn listed(dir: &Path) -> Vec<(String, String)> {
        let entries = dir.read_dir().unwrap().map(Result::unwrap);
        let mut all: Vec<_> = entries
            .map(|entry| {
                let text = std::fs::read_to_string(entry.path()).unwrap();
                (entry.file_name().into_string().unwrap(), text)
            })
            .collect();
        all.sort();
        all
    }

    fn text(name: &str, text: &str) -> (String, String) {
        (name.to_owned(), text.to_owned())
    }

    #[test]
    fn an_older_file_is_kept_and_gets_its_name_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "older").unwrap();
        std::fs::write(dir.path().join("file.old"), "oldest").unwrap();
        let placed = beside(&path).put_beside_old(".old").unwrap();
        placed.file().write_all(b"new").unwrap();
        let both = [text("file", "new"), text("file.old", "older")];
        assert_eq!(listed(dir.path()), both);
        placed.take_back();
        assert_eq!(listed(dir.path()), [text("file", "older")]);
    }

    #[test]
    fn an_older_file_is_kept_beside_a_folder_that_has_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let old = dir.path().join("file.old");
        std::fs::create_dir(&old).unwrap();
        std::fs::write(dir.path().join("file.old.1"), "oldest").unwrap();
        std::fs::write(&path, "older").unwrap();
        beside(&path).put_beside_old(".old").unwrap();
        std::fs::remove_dir(&old).unwrap();
        let all = [
            text("file", ""),
            text("file.old.1", "oldest"),
            text("file.old.2", "older"),
        ];
        assert_eq!(listed(dir.path()), all);
    }

    #[test]
    fn an_empty_file_and_a_link_are_replaced_and_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "").unwrap();
        let placed = beside(&path).put_beside_old(".old").unwrap();
        assert_eq!(listed(dir.path()), [text("file", "")]);
        placed.take_back();
        assert_eq!(listed(dir.path()), []);
        symlink("nowhere", &path).unwrap();
        let folder = look_at(rustix::fs::CWD, dir.path().as_os_str()).unwrap();
        let place = FolderEntry::new(folder, "file".into());
        NewFile::beside(place, 0o600).unwrap().put().unwrap();
        assert_eq!(listed(dir.path()), [text("file", "")]);
    }

    #[test]
    fn only_what_is_ours_is_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "older").unwrap();
        let placed = beside(&path).put_beside_old(".old").unwrap();
        std::fs::rename(dir.path().join("file.old"), dir.path().join("moved")).unwrap();
        std::fs::write(dir.path().join("file.old"), "another").unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "another").unwrap();
        let before = listed(dir.path());
        placed.take_back();
        assert_eq!(listed(dir.path()), before);
    }

    #[test]
    fn a_name_with_an_ending_takes_no_other_files_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "older").unwrap();
        std::fs::write(dir.path().join("file.1"), "another").unwrap();
        let mut placed = beside(&path).put_beside_old(".old").unwrap();
        let error = placed.add_ending(".1").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        placed.add_ending(".2").unwrap();
        assert_eq!(placed.path(&path), dir.path().join("file.2"));
        let others = [text("file.1", "another"), text("file.old", "older")];
        assert_eq!(listed(dir.path()).len(), 3);
        // What is older is not to have its name again.
        placed.take_back();
        assert_eq!(listed(dir.path()), others);
        let mut placed = beside(&path).put_beside_old(".old").unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "somebody's").unwrap();
        let error = placed.add_ending(".3").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert_eq!(std::fs::read(&path).unwrap(), b"somebody's");
    }

    #[test]
    fn a_file_is_found_where_links_led_to() {
        let dir = tempfile::tempdir().unwrap();
        let (there, here) = (dir.path().join("there"), dir.path().join("here"));
        std::fs::create_dir(&there).unwrap();
        std::fs::create_dir(&here).unwrap();
        for name in ["file", "other"] {
            let link = here.join(name);
            symlink(there.join("file"), &link).unwrap();
            let mut placed = beside(&link).put_beside_old(".old").unwrap();
            placed.add_ending(&format!(".{name}")).unwrap();
            let file = there.join(format!("file.{name}"));
            assert_eq!(
                placed.path(&link).canonicalize().unwrap(),
                file.canonicalize().unwrap()
            );
        }
        let placed = beside(&here.join("plain")).put_beside_old(".old").unwrap();
        assert_eq!(placed.path(&here.join("plain")), here.join("plain"));
    }

    #[test]
    fn a_file_is_removed_by_its_name_if_it_is_still_that_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let placed = beside(&path).put_beside_old(".old").unwrap();
        let identity = FileId::of(placed.file()).unwrap();
        std::fs::write(dir.path().join("another"), "another").unwrap();
        std::fs::rename(dir.path().join("another"), &path).unwrap();
        let error = identity.remove(&path).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert_eq!(std::fs::read(&path).unwrap(), b"another");
        let file = File::open(&path).unwrap();
        FileId::of(&file).unwrap().remove(&path).unwrap();
        assert_eq!(listed(dir.path()), []);
    }

    #[test]
    fn a_new_file_takes_no_other_files_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let (first, second) = (beside(&path), beside(&path));
        let placed = first.put_new().unwrap();
        placed.file().write_all(b"first").unwrap();
        let error = second.put_new().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(listed(dir.path()), [text("file", "first")]);
        let instead = beside(&path);
        instead.file().write_all(b"instead").unwrap();
        let instead = instead.put_instead().unwrap();
        assert_eq!(listed(dir.path()), [text("file", "instead")]);
        // It is another file's name now.
        placed.take_back();
        assert_eq!(listed(dir.path()), [text("file", "instead")]);
        instead.take_back();
        assert_eq!(listed(dir.path()), []);
    }

    #[test]
    fn a_file_that_is_not_put_into_place_goes_away() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let new = beside(&path);
        assert_eq!(listed(dir.path()).len(), 1);
        drop(new);
        assert_eq!(listed(dir.path()), []);
        // A folder is in the way, which came meanwhile.
        let new = beside(&path);
        std::fs::create_dir(&path).unwrap();
        assert!(new.put_beside_old(".old").is_err());
        std::fs::remove_dir(&path).unwrap();
        assert_eq!(listed(dir.path()), []);
    }
}
