//! Files that other files name: opened with the rights of whoever made the file that names them.
//!
//! DWARF names source files, and anybody may write DWARF. Root would print `/etc/shadow` for a stranger
//! whose program says that its code was compiled from it. So the kernel opens such a file for a thread
//! that has the rights of the [`Author`], and no others: it walks every folder and follows every link as
//! that user would, and access lists count. Where root may not take a user's rights (a container without
//! `CAP_SETUID`), mode bits decide.

mod by_mode;

use crate::Seen;
use rustix::fs::{FsWord, StatVfsMountFlags, fstatfs, fstatvfs};
use rustix::process::{Gid, Uid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, set_capabilities, set_thread_groups, set_thread_res_gid,
    set_thread_res_uid,
};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Who may have written what a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Author {
    /// Root, and nobody else. Not on a file system that is mounted `nosuid`: a user may have brought it (a USB
    /// stick, FUSE), and whoever makes a file system says who owns its files. The kernel does not believe them
    /// either: no program there runs as its owner.
    Root,
    /// The user with this id, who owns the file.
    User(u32),
    /// Nobody knows: others may write to the file, a user may have brought its file system, or it is a copy of what
    /// a stranger made.
    Anybody,
}

impl Author {
    /// Of an open file, by its owner, its permissions and how its file system is mounted.
    pub fn of(file: &File, meta: &Metadata) -> Self {
        // A file system that does not say how it is mounted is not believed.
        let mount = fstatvfs(file).map_or(StatVfsMountFlags::NOSUID, |stat| stat.f_flag);
        Self::by((meta.uid(), meta.gid()), meta.mode(), mount)
    }

    fn by((owner, group): (u32, u32), mode: u32, mount: StatVfsMountFlags) -> Self {
        let others = if group == 0 { 0o002 } else { 0o022 };
        let is_believed = !mount.contains(StatVfsMountFlags::NOSUID);
        match owner {
            0 if is_believed && mode & others == 0 => Self::Root,
            0 => Self::Anybody,
            user => Self::User(user),
        }
    }

    /// Whose rights these are; `None` for root's.
    fn user(self) -> Option<u32> {
        match self {
            Self::Root => None,
            Self::User(user) => Some(user),
            Self::Anybody => Some(NOBODY),
        }
    }
}

/// The user and the group who own nothing (`overflowuid`, `Documentation/admin-guide/sysctl/kernel.rst`,
/// v6.12).
const NOBODY: u32 = 65534;

/// File systems whose files are the kernel's: reading them may tell secrets, wait, or take what was there
/// (`include/uapi/linux/magic.h`, v6.12).
const OF_THE_KERNEL: [FsWord; 12] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x7472_6163, // tracefs
    0x6462_6720, // debugfs
    0x7363_6673, // securityfs
    0x6265_6570, // configfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0xcafe_4a11, // bpf
    0xde5e_81e4, // efivarfs
    0xf97c_ff8c, // selinuxfs
    0x6165_676c, // pstore
];

/// Opens a regular file to be read that files of these authors name. If root asks, each author must be able to
/// read it; another user's own rights decide. Files of the kernel (`/proc`, `/sys`) are not opened.
///
/// # Errors
/// As `open(2)`; `PermissionDenied`, with a text that says whose rights did not do; `InvalidInput` if it is no
/// regular file, or one of the kernel's.
pub fn open_for(path: &Path, authors: &[Author]) -> io::Result<(File, Metadata)> {
    let mut users: Vec<u32> = authors.iter().filter_map(|author| author.user()).collect();
    if !rustix::process::geteuid().is_root() {
        users.clear();
    }
    users.sort_unstable();
    users.dedup();
    let Some((&last, others)) = users.split_last() else {
        return open_named(path);
    };
    let opened = open_as(path, last)?;
    for &user in others {
        let (_, meta) = open_as(path, user)?;
        if (meta.dev(), meta.ino()) != (opened.1.dev(), opened.1.ino()) {
            return Err(refused(user));
        }
    }
    Ok(opened)
}

/// Opens a file with our own rights.
fn open_named(path: &Path) -> io::Result<(File, Metadata)> {
    let seen = Seen::at(path)?;
    let file_system = fstatfs(seen.handle())?.f_type;
    if OF_THE_KERNEL.contains(&file_system) {
        let what = "a file of a kernel file system, so not source code";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let file = seen.open_regular(File::options().read(true))?;
    Ok((file, seen.meta().clone()))
}

/// The same with the rights of another user, who is in no group.
fn open_as(path: &Path, user: u32) -> io::Result<(File, Metadata)> {
    let with_rights = || take_rights(user).map(|()| open_named(path));
    // Rights are a thread's, and what it has given up it does not get back.
    let opened = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, with_rights)?;
        let panicked = |_| io::Error::other("the thread that opens it failed");
        thread.join().map_err(panicked)
    })?;
    match opened {
        Err(no_rights) => open_by_mode(path, user, &no_rights),
        Ok(Err(error)) if error.kind() == io::ErrorKind::PermissionDenied => Err(refused(user)),
        Ok(opened) => opened,
    }
}

/// The same where the rights of the user cannot be taken: opened with our own, and given out if mode bits allow it.
fn open_by_mode(path: &Path, user: u32, no_rights: &io::Error) -> io::Result<(File, Metadata)> {
    let (file, meta) = open_named(path)?;
    // In a user namespace, all users who have no id there look like `NOBODY`: they are not one owner.
    let owner = (user != NOBODY).then_some(user);
    let who = match by_mode::may_read(&file, owner) {
        Ok(true) => return Ok((file, meta)),
        Ok(false) if owner.is_none() => return Err(refused(user)),
        Ok(false) => "it is not world-readable".to_owned(),
        Err(error) => format!("its permissions cannot be checked: {error}"),
    };
    let why = match no_rights.kind() {
        io::ErrorKind::PermissionDenied => "no CAP_SETUID or CAP_SETGID".to_owned(),
        _ => no_rights.to_string(),
    };
    let what = format!("cannot assume the rights of uid {user} ({why}), and {who}");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, what))
}

/// Has the rights of a user from now on, in this thread alone. Its real id stays: the user may not send signals
/// to it.
fn take_rights(user: u32) -> io::Result<()> {
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(NOBODY));
    set_thread_groups(&[])?;
    set_thread_res_gid(None, group, None)?;
    set_thread_res_uid(None, user, None)?;
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    Ok(set_capabilities(None, none)?)
}

fn refused(user: u32) -> io::Error {
    let what = match user {
        NOBODY => {
            "it is not world-readable, and it is not known which user's file names it".to_owned()
        }
        user => format!("uid {user}, the owner of the file that names it, may not read it"),
    };
    io::Error::new(io::ErrorKind::PermissionDenied, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, create_dir, set_permissions, write};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    const OTHER: u32 = 54_321;

    fn text(path: &Path, authors: &[Author]) -> Result<String, String> {
        let opened = open_for(path, authors);
        let text = opened.and_then(|(file, _)| io::read_to_string(file));
        text.map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_is_its_owners_unless_others_may_write_to_it_or_brought_it() {
        let suid = StatVfsMountFlags::RELATIME;
        let nosuid = StatVfsMountFlags::NODEV | StatVfsMountFlags::NOSUID;
        for (ids, mode, there, brought) in [
            ((0, 0), 0o755, Author::Root, Author::Anybody),
            ((0, 0), 0o775, Author::Root, Author::Anybody),
            ((0, 0), 0o757, Author::Anybody, Author::Anybody),
            ((0, OTHER), 0o755, Author::Root, Author::Anybody),
            ((0, OTHER), 0o775, Author::Anybody, Author::Anybody),
            ((OTHER, 0), 0o777, Author::User(OTHER), Author::User(OTHER)),
        ] {
            assert_eq!(Author::by(ids, mode, suid), there, "{ids:?} {mode:o}");
            assert_eq!(Author::by(ids, mode, nosuid), brought, "{ids:?} {mode:o}");
        }
    }

    #[test]
    fn how_the_file_system_of_an_open_file_is_mounted_counts() {
        let file = tempfile::NamedTempFile::new().unwrap();
        set_permissions(file.path(), Permissions::from_mode(0o644)).unwrap();
        let author = Author::of(file.as_file(), &file.as_file().metadata().unwrap());
        let mount = rustix::fs::statvfs(file.path()).unwrap().f_flag;
        let expected = match rustix::process::geteuid().as_raw() {
            0 if mount.contains(StatVfsMountFlags::NOSUID) => Author::Anybody,
            0 => Author::Root,
            own => Author::User(own),
        };
        assert_eq!(author, expected);
    }

    #[test]
    fn who_cannot_take_rights_says_so_and_goes_by_mode() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        write(&path, "text").unwrap();
        set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let error = |user| {
            let error = open_by_mode(&path, user, &denied).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            error.to_string()
        };
        assert_eq!(
            error(OTHER),
            "cannot assume the rights of uid 54321 (no CAP_SETUID or CAP_SETGID), and it is not world-readable"
        );
        assert_eq!(
            error(NOBODY),
            "it is not world-readable, and it is not known which user's file names it"
        );
        let own = rustix::process::geteuid().as_raw();
        if own != NOBODY {
            assert!(open_by_mode(&path, own, &denied).is_ok());
        }
        for path in ["/dev/null", "/proc/self/environ"] {
            let error = open_by_mode(Path::new(path), own, &denied).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{path}");
        }
    }

    #[test]
    fn files_of_the_kernel_and_devices_are_opened_for_nobody() {
        for path in [
            "/proc/self/environ",
            "/proc/version",
            "/sys/kernel/mm/transparent_hugepage/enabled",
        ] {
            let path = Path::new(path);
            if path.exists() {
                let error = open_for(path, &[Author::Root]).unwrap_err();
                assert_eq!(
                    error.kind(),
                    io::ErrorKind::InvalidInput,
                    "{path:?}: {error}"
                );
            }
        }
        let null = open_for(Path::new("/dev/null"), &[]).unwrap_err();
        assert_eq!(null.kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn root_reads_only_what_every_author_may_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let inside = path("private/inside");
        create_dir(path("private")).unwrap();
        for (file, mode) in [
            (path("secret"), 0o600),
            (path("public"), 0o644),
            (inside.clone(), 0o644),
        ] {
            write(&file, "text").unwrap();
            set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        }
        for folder in [dir.path(), &path("private")] {
            set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
        }
        symlink(path("secret"), path("link")).unwrap();
        let root = [Author::Root];
        for name in ["secret", "public", "link", "private/inside"] {
            assert_eq!(text(&path(name), &root).as_deref(), Ok("text"));
        }
        if !rustix::process::geteuid().is_root() {
            // Another user's own rights decide, whoever made the file.
            assert_eq!(
                text(&path("secret"), &[Author::User(OTHER)]).as_deref(),
                Ok("text")
            );
            return;
        }
        let other = [Author::Root, Author::User(OTHER)];
        for name in ["secret", "link"] {
            let error = text(&path(name), &other).unwrap_err();
            assert!(error.contains("uid 54321"), "{error}");
            let error = text(&path(name), &[Author::Anybody]).unwrap_err();
            assert!(error.starts_with("it is not world-readable"), "{error}");
        }
        assert_eq!(text(&path("public"), &other).as_deref(), Ok("text"));
        assert_eq!(
            text(&path("public"), &[Author::Anybody]).as_deref(),
            Ok("text")
        );
        // The owner may read what is theirs, in a folder of theirs; others may not.
        chown(path("secret"), Some(OTHER), None).unwrap();
        chown(path("private"), Some(OTHER), None).unwrap();
        set_permissions(path("private"), Permissions::from_mode(0o700)).unwrap();
        for name in ["secret", "link", "private/inside"] {
            assert_eq!(text(&path(name), &other).as_deref(), Ok("text"));
            assert!(text(&path(name), &[Author::User(OTHER), Author::User(OTHER + 1)]).is_err());
        }
        // What this thread may is as before.
        assert_eq!(text(&path("secret"), &[]).as_deref(), Ok("text"));
    }
}
