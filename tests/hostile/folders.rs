//! Folders of root's and of another user's, and what root writes there.

use crate::common::nobody::{NOBODY, Sysctl};
use crate::common::{fixtures, rprof, scratch};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Kernels' protections of links and of files in sticky folders, each value of both.
const PROTECTIONS: &[(&str, &str)] = &[
    ("0", "0"),
    ("0", "1"),
    ("0", "2"),
    ("1", "0"),
    ("1", "1"),
    ("1", "2"),
];

/// Does something under each setting of those; says so if they may not be set.
#[track_caller]
pub(crate) fn under_all_protections(check: impl Fn(&str)) {
    for (links, regular) in PROTECTIONS {
        let set = |name, value| Sysctl::set_or_skip(name, value);
        let Some(_links) = set("fs/protected_symlinks", links) else {
            return;
        };
        let Some(_regular) = set("fs/protected_regular", regular) else {
            return;
        };
        check(&format!("links {links}, regular {regular}"));
    }
}

/// Folders of root's and of another user's.
pub(crate) struct Folders {
    pub(crate) dir: TempDir,
    /// Where only root comes.
    pub(crate) private: PathBuf,
    /// The other user's own, and one for everybody, as `/tmp`.
    pub(crate) open: [PathBuf; 2],
}

impl Folders {
    pub(crate) fn new() -> Self {
        let dir = scratch();
        let path = |name: &str| dir.path().join(name);
        let make = |path: PathBuf, mode| {
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        };
        fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        let private = make(path("private"), 0o700);
        let own = make(path("own"), 0o755);
        chown(&own, Some(NOBODY), Some(NOBODY)).unwrap();
        let sticky = make(path("sticky"), 0o1777);
        Self {
            private,
            open: [own, sticky],
            dir,
        }
    }

    /// A file of root's that must stay as it is.
    pub(crate) fn victim(&self) -> PathBuf {
        let path = self.private.join("victim");
        fs::write(&path, "precious").unwrap();
        path
    }
}

/// A link that the other user made.
pub(crate) fn link(target: &Path, at: &Path) {
    let _ = fs::remove_file(at);
    symlink(target, at).unwrap();
    lchown(at, Some(NOBODY), Some(NOBODY)).unwrap();
}

/// `record -o PATH -- true`, by root; for the other user, if that is said.
pub(crate) fn record(out: &Path, by_sudo: bool) -> Command {
    let mut record = rprof(["record", "-q", "-e", "cpu-clock", "-o"]);
    record.arg(out).args(["--", "true"]);
    if by_sudo {
        let id = NOBODY.to_string();
        record.env("SUDO_UID", &id).env("SUDO_GID", id);
    }
    record
}

/// `export -o PATH` of a small recording.
pub(crate) fn export(out: &Path) -> Command {
    let spin = fixtures().join("spin");
    let mut export = rprof(["export", "--format", "json", "--symfs"]);
    export.arg(spin.join("root")).arg("-i");
    export.arg(spin.join("perf.data")).arg("-o").arg(out);
    export
}

/// Whose a file is, and who may do what with it; of a link, of itself.
pub(crate) fn owner(path: &Path) -> (u32, u32) {
    let meta = fs::symlink_metadata(path).unwrap();
    assert!(meta.is_file(), "{}", path.display());
    (meta.uid(), meta.mode() & 0o777)
}
