//! Whether a user may read a file, by the mode bits of the file and of the folders that lead to it: for root that
//! may not take the rights of users, so that the kernel does not say it.
//!
//! Groups and access lists do not count: the user is taken to be in no group.

use rustix::fs::{CWD, Mode, OFlags, openat};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

/// Of the three bits of a class, in a file.
const READ: u32 = 4;

/// Of the three bits of a class, in a folder.
const SEARCH: u32 = 1;

/// Mode bits, and the user id of the owner.
type Owned = (u32, u32);

/// Whether a user may read an open file; `None`: whether everybody may.
///
/// # Errors
/// If the folders that lead to it cannot be looked at: no `/proc`, or it was moved or deleted meanwhile.
pub(super) fn may_read(file: &File, user: Option<u32>) -> io::Result<bool> {
    let (folders, file) = way_to(file)?;
    Ok(allowed(user, &folders, file))
}

/// The kernel's rule for a user in no group: the owner's bits for the owner, those of others for all others.
fn allowed(user: Option<u32>, folders: &[Owned], file: Owned) -> bool {
    let has = |right: u32, (mode, owner): Owned| {
        let class = if user == Some(owner) { mode >> 6 } else { mode };
        class & right != 0
    };
    has(READ, file) && folders.iter().all(|&folder| has(SEARCH, folder))
}

/// The folders that lead to an open file, from `/` on, and the file.
fn way_to(file: &File) -> io::Result<(Vec<Owned>, Owned)> {
    let path = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    // Each is opened below the one before, and no link is followed: the kernel has resolved them all.
    let look = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = File::from(openat(CWD, "/", look, Mode::empty())?);
    let mut folders = Vec::new();
    for name in path.components().skip(1) {
        folders.push(owned(&at.metadata()?));
        at = File::from(openat(&at, name.as_os_str(), look, Mode::empty())?);
    }
    let (meta, found) = (file.metadata()?, at.metadata()?);
    if (meta.dev(), meta.ino()) != (found.dev(), found.ino()) {
        return Err(io::Error::other(
            "it was replaced by another file meanwhile",
        ));
    }
    Ok((folders, owned(&meta)))
}

fn owned(meta: &Metadata) -> Owned {
    (meta.mode(), meta.uid())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, create_dir, remove_file, set_permissions, write};
    use std::os::unix::fs::{PermissionsExt, symlink};

    const USER: u32 = 1000;
    const OTHER: u32 = 1001;
    const ROOT: u32 = 0;

    #[test]
    fn everybody_or_the_owner_may_search_all_folders_and_read_the_file() {
        let open = (0o755, ROOT);
        let searched = (0o711, ROOT);
        let private = (0o700, USER);
        let table: &[(&[Owned], Owned, bool, bool)] = &[
            (&[open, searched], (0o644, ROOT), true, true),
            (&[open], (0o604, ROOT), true, true),
            (&[open], (0o640, ROOT), false, false),
            (&[open], (0o600, USER), true, false),
            (&[open], (0o600, OTHER), false, false),
            (&[open], (0o004, OTHER), true, true),
            // The owner's bits are the owner's only ones.
            (&[open], (0o044, USER), false, true),
            (&[open, private, open], (0o644, ROOT), true, false),
            (&[open, private], (0o600, USER), true, false),
            (&[open, (0o600, USER)], (0o644, USER), false, false),
            (&[open, (0o700, OTHER)], (0o644, USER), false, false),
            (&[(0o750, ROOT), open], (0o644, USER), false, false),
            (&[open, (0o744, ROOT)], (0o644, ROOT), false, false),
        ];
        for &(folders, file, user, everybody) in table {
            let of = |who| allowed(who, folders, file);
            assert_eq!(of(Some(USER)), user, "{folders:?} {file:?}");
            assert_eq!(of(None), everybody, "{folders:?} {file:?}");
        }
    }

    #[test]
    fn folders_are_those_that_a_file_lies_in_not_those_of_links() {
        let dir = tempfile::tempdir().unwrap();
        let own = rustix::process::geteuid().as_raw();
        let path = |name: &str| dir.path().join(name);
        create_dir(path("folder")).unwrap();
        write(path("folder/file"), "text").unwrap();
        symlink("folder/file", path("link")).unwrap();
        let mode = |name: &str, mode| {
            set_permissions(path(name), Permissions::from_mode(mode)).unwrap();
        };
        set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
        mode("folder", 0o711);
        mode("folder/file", 0o640);
        for name in ["folder/file", "link"] {
            let file = File::open(path(name)).unwrap();
            let (folders, file) = way_to(&file).unwrap();
            assert_eq!((file.0 & 0o777, file.1), (0o640, own));
            let [.., outer, inner] = folders[..] else {
                panic!("{folders:?}");
            };
            assert_eq!((outer.0 & 0o777, outer.1), (0o700, own), "{name}");
            assert_eq!((inner.0 & 0o777, inner.1), (0o711, own), "{name}");
            let root = std::fs::metadata("/").unwrap();
            assert_eq!(folders.first(), Some(&owned(&root)));
        }
        let file = File::open(path("link")).unwrap();
        assert!(!may_read(&file, None).unwrap());
        assert!(may_read(&file, Some(own)).unwrap());
        mode("folder/file", 0o644);
        assert!(!may_read(&file, None).unwrap(), "a folder is private");
        remove_file(path("folder/file")).unwrap();
        assert!(may_read(&file, Some(own)).is_err(), "it has no name");
        write(path("folder/file (deleted)"), "text").unwrap();
        assert!(may_read(&file, Some(own)).is_err(), "another file");
    }
}
