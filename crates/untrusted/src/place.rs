//! Where a file is to be written, when others may have put links on the way.
//!
//! A path is walked here, folder by folder, each opened below the one before: what was looked at is
//! what is used. The kernel's own protection (`fs.protected_symlinks`) may be off, and covers only
//! sticky folders.
//!
//! The last name of a path is a link that is followed only if
//! - it is ours: it belongs to the effective user, or to root; and
//! - it lies in a folder of ours, which nobody else may write to (a group may, if it has the number
//!   of a user who is not root: it is that user's own, where such groups are made); and
//! - root does not run for somebody else (`SUDO_UID`), unless it leads to a device or a pipe, such as
//!   `/dev/stdout`.
//!
//! The same holds for the last name of what it leads to. Another link is not followed: a file takes its
//! place. In sticky folders (`/tmp`) no link is: others may have made it of one of ours, as a hard link.
//!
//! A pipe or a device that is neither ours nor in a folder of ours is an error: who made it reads it.
//!
//! A link before the last name must be ours, too, in a folder of ours or a sticky one. Another one is
//! an error, since nothing can take its place. What it leads to is walked in the same way.

use crate::Seen;
use rustix::fs::{Mode, OFlags, PROC_SUPER_MAGIC, fstatfs, mkdirat, openat, readlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

/// As many links as the kernel follows.
const MAX_LINKS: u32 = 40;

/// A folder, opened, and a name in it.
#[derive(Debug)]
pub struct FolderEntry {
    pub(crate) folder: File,
    pub(crate) name: OsString,
    /// What had the name: itself, not what it leads to.
    seen: Option<Seen>,
}

/// What a path is for a writer.
#[derive(Debug)]
pub enum Goal {
    /// A place for a file. What has the name now is a regular file or a link, if anything.
    Place(FolderEntry),
    /// Something to be written where it is: a device, a pipe, an open file of ours (`/dev/stdout`).
    There(Seen),
}

impl Goal {
    /// Walks a path.
    ///
    /// # Errors
    /// `IsADirectory` if it leads to a folder, `PermissionDenied` for a link on the way that may not
    /// be followed, and the kernel's.
    pub fn of(path: &Path) -> io::Result<Self> {
        Walk::new(path)?.run(Us::now())
    }
}

impl Goal {
    /// What is there, unless it is a link that may not be followed.
    fn there(self) -> io::Result<Seen> {
        let seen = match self {
            Self::There(seen) => seen,
            Self::Place(place) => place.seen.ok_or_else(|| io::Error::from(Errno::NOENT))?,
        };
        if seen.meta().is_symlink() {
            Err(not_followed("it"))
        } else {
            Ok(seen)
        }
    }
}

impl FolderEntry {
    /// Whether what has the name is ours, and was given it by us.
    fn check_ours(&self, us: Us) -> io::Result<()> {
        let Some(meta) = self.meta().filter(|meta| meta.is_file()) else {
            return Ok(());
        };
        if !(us.owns(meta) || us.is_callers(meta)) {
            return Err(denied(&format!(
                "it belongs to another user (uid {})",
                meta.uid()
            )));
        }
        if meta.nlink() == 1 || us.owns_folder(&self.folder.metadata()?) {
            Ok(())
        } else {
            Err(denied(
                "it has another hard link, which another user may have made",
            ))
        }
    }

    /// A name in a folder, whatever has it.
    pub(crate) fn new(folder: File, name: OsString) -> Self {
        Self {
            folder,
            name,
            seen: None,
        }
    }

    /// Makes a folder there, with these permissions (less the umask). One that has come meanwhile is as good: then
    /// this is `false`.
    ///
    /// # Errors
    /// Those of mkdir(2).
    pub fn make_folder(&self, mode: u32) -> io::Result<bool> {
        match mkdirat(&self.folder, &self.name, Mode::from_raw_mode(mode)) {
            Err(Errno::EXIST) => Ok(false),
            made => Ok(made.map(|()| true)?),
        }
    }

    /// What had the name when the place was found: itself, not what it leads to.
    pub fn meta(&self) -> Option<&Metadata> {
        self.seen.as_ref().map(Seen::meta)
    }

    /// What had the name when the place was found.
    pub fn seen(&self) -> Option<&Seen> {
        self.seen.as_ref()
    }

    /// The permissions of a file that has the name, if it is ours and nobody can have linked it there:
    /// those that somebody else chose are not to be taken over.
    pub fn own_mode(&self) -> Option<u32> {
        let us = rustix::process::geteuid().as_raw();
        let is_own = |meta: &&Metadata| meta.is_file() && meta.uid() == us && meta.nlink() == 1;
        Some(self.meta().filter(is_own)?.mode() & 0o777)
    }
}

/// Opens a regular file to be changed where it is. A link that may not be followed is an error.
///
/// # Errors
/// As [`Goal::of`]; `NotFound`; `InvalidInput` if it is no regular file.
pub fn open_to_change(path: &Path) -> io::Result<File> {
    let seen = Goal::of(path)?.there()?;
    seen.open_regular(File::options().read(true).write(true))
}

/// Opens a regular file to be written at its end. It must be ours, or of the user whom root does it for: others
/// would read what is appended, or have given one of our files a name of theirs.
///
/// # Errors
/// As [`open_to_change`]; `PermissionDenied` for another user's.
pub fn open_to_append(path: &Path) -> io::Result<File> {
    let goal = Goal::of(path)?;
    if let Goal::Place(place) = &goal {
        place.check_ours(Us::now())?;
    }
    let mut file = goal
        .there()?
        .open_regular(File::options().read(true).write(true))?;
    file.seek(SeekFrom::End(0))?;
    Ok(file)
}

/// Opens a FIFO or a pipe to be read and written: one of ours, of root, or of the user whom root does it for. Whoever
/// makes one in a folder for all would be obeyed.
///
/// # Errors
/// As [`Goal::of`]; `NotFound`; `InvalidInput` if it is something else.
pub fn open_fifo(path: &Path) -> io::Result<File> {
    Goal::of(path)?.there()?.open_fifo()
}

/// For whom we write.
#[derive(Clone, Copy, Debug)]
struct Us {
    uid: u32,
    /// Root does, for this user (`SUDO_UID`).
    caller: Option<u32>,
}

impl Us {
    fn now() -> Self {
        let uid = rustix::process::geteuid().as_raw();
        let caller = std::env::var_os("SUDO_UID");
        Self {
            uid,
            caller: caller
                .filter(|caller| uid == 0 && caller != "0")
                // Of what is no number, nothing is.
                .map(|caller| caller.to_str().and_then(|caller| caller.parse().ok()))
                .map(|caller| caller.unwrap_or(u32::MAX)),
        }
    }

    /// Whether it is of the user whom root does it for.
    fn is_callers(self, meta: &Metadata) -> bool {
        self.caller == Some(meta.uid())
    }

    fn owns(self, meta: &Metadata) -> bool {
        meta.uid() == self.uid || meta.uid() == 0
    }

    /// Whether nobody else can put anything there.
    fn owns_folder(self, folder: &Metadata) -> bool {
        let is_own_group = self.uid != 0 && folder.gid() == self.uid;
        let others = if is_own_group { 0o002 } else { 0o022 };
        self.owns(folder) && folder.mode() & others == 0
    }

    /// Whether nobody else can take away what is ours there.
    fn keeps_in(self, folder: &Metadata) -> bool {
        self.owns_folder(folder) || self.owns(folder) && folder.mode() & 0o1000 != 0
    }
}

/// A path that is being walked.
struct Walk {
    folder: File,
    /// What it is called, for errors.
    passed: PathBuf,
    /// What is left of it, the next name last.
    left: Vec<OsString>,
    n_links: u32,
}

impl Walk {
    fn new(path: &Path) -> io::Result<Self> {
        if path.as_os_str().is_empty() {
            return Err(io::Error::from(Errno::NOENT));
        }
        let mut walk = Self {
            folder: look_at(rustix::fs::CWD, OsStr::new("."))?,
            passed: PathBuf::new(),
            left: Vec::new(),
            n_links: 0,
        };
        walk.push(path);
        Ok(walk)
    }

    /// What comes next.
    fn push(&mut self, path: &Path) {
        let names = path.components().rev().map(Component::as_os_str);
        // Behind a slash there is a folder, or an error.
        let ends_in_folder = path.as_os_str().as_bytes().ends_with(b"/");
        self.left
            .extend(ends_in_folder.then(|| OsString::from(".")));
        self.left.extend(names.map(OsStr::to_owned));
    }

    fn run(mut self, us: Us) -> io::Result<Goal> {
        let mut first_link = None;
        while let Some(name) = self.left.pop() {
            let is_last = self.left.is_empty();
            let seen = match look_at(&self.folder, &name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    if is_last {
                        None
                    } else {
                        return Err(self.no_folder(&name));
                    }
                }
                handle => Some(Seen::of(handle?)?),
            };
            match seen {
                Some(seen) if seen.meta().is_dir() => {
                    self.folder = seen.into_handle();
                    self.passed.push(name);
                }
                Some(seen) if seen.meta().is_symlink() && self.may_follow(&name, &seen, us)? => {
                    if let Some(goal) = self.follow(&name, &seen)? {
                        return Ok(goal);
                    }
                    if is_last && us.caller.is_some() && first_link.is_none() {
                        first_link = Some(self.at(name, Some(seen))?);
                    }
                }
                Some(_) if !is_last => return Err(io::Error::from(Errno::NOTDIR)),
                Some(seen) if is_special(seen.meta()) => {
                    let is_callers =
                        seen.meta().file_type().is_fifo() && us.is_callers(seen.meta());
                    let is_ours = us.owns(seen.meta()) || is_callers;
                    return if is_ours || us.owns_folder(&self.folder.metadata()?) {
                        Ok(Goal::There(seen))
                    } else {
                        Err(denied("a pipe or device of another user"))
                    };
                }
                seen => {
                    let place = self.at(name, seen)?;
                    return Ok(Goal::Place(first_link.unwrap_or(place)));
                }
            }
        }
        Err(io::Error::from(Errno::ISDIR))
    }

    /// Whether a link is followed; on the way to the last name it has to be.
    fn may_follow(&self, name: &OsStr, link: &Seen, us: Us) -> io::Result<bool> {
        let folder = self.folder.metadata()?;
        if self.left.is_empty() {
            return Ok(us.owns(link.meta()) && us.owns_folder(&folder));
        }
        if us.owns(link.meta()) && us.keeps_in(&folder) {
            Ok(true)
        } else {
            Err(not_followed(&name.to_string_lossy()))
        }
    }

    /// Goes where a link leads, which may be all of the way.
    fn follow(&mut self, name: &OsStr, link: &Seen) -> io::Result<Option<Goal>> {
        self.n_links += 1;
        if self.n_links > MAX_LINKS {
            return Err(io::Error::from(Errno::LOOP));
        }
        if fstatfs(&self.folder)?.f_type != PROC_SUPER_MAGIC {
            let target = readlinkat(link.handle(), "", Vec::new())?.into_bytes();
            self.push(&PathBuf::from(OsString::from_vec(target)));
            return Ok(None);
        }
        // These lead to what is open, whatever they read.
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let there = openat(&self.folder, name, flags, Mode::empty())?;
        let there = Seen::of(File::from(there))?;
        if !there.meta().is_dir() {
            return Ok(Some(Goal::There(there)));
        }
        self.folder = there.into_handle();
        self.passed.push(name);
        Ok(None)
    }

    /// There is nothing of a name on the way.
    fn no_folder(&self, name: &OsStr) -> io::Error {
        let path = self.passed.join(name);
        let why = format!("no such folder: {}", path.display());
        io::Error::new(io::ErrorKind::NotFound, why)
    }

    fn at(&self, name: OsString, seen: Option<Seen>) -> io::Result<FolderEntry> {
        Ok(FolderEntry {
            folder: self.folder.try_clone()?,
            name,
            seen,
        })
    }
}

/// A handle to look at what has a name, itself.
pub(crate) fn look_at(folder: impl AsFd, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // Asked for as a folder, it is mounted if that is done when it is needed.
    let handle = match openat(&folder, name, flags | OFlags::DIRECTORY, Mode::empty()) {
        Err(Errno::NOTDIR) => openat(&folder, name, flags, Mode::empty())?,
        handle => handle?,
    };
    Ok(File::from(handle))
}

fn is_special(meta: &Metadata) -> bool {
    !(meta.is_file() || meta.is_symlink())
}

fn not_followed(what: &str) -> io::Error {
    denied(&format!(
        "{what} is a link that another user made or could have made, and is not followed: give the path it \
         points to"
    ))
}

fn denied(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

#[cfg(test)]
mod tests;
