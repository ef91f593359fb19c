//! Commands as a user without rights, and sysctls that are put back.

use super::{am_root, copy_of_rprof, has, is_alone, run, scratch, skipped, tool};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The user and the group without rights.
pub(crate) const NOBODY: u32 = 65534;

/// A program that is run as this user, in this group alone; by root.
pub(crate) fn as_user(uid: u32, gid: u32, program: impl AsRef<OsStr>) -> Command {
    let mut command = tool("setpriv");
    command.args([format!("--reuid={uid}"), format!("--regid={gid}")]);
    command.arg("--clear-groups").arg(program);
    command
}

/// A folder that everybody may write to, with a copy of the binary.
pub(crate) struct Nobody {
    pub(crate) dir: TempDir,
    binary: PathBuf,
    by_root: bool,
}

impl Nobody {
    /// Such a user; the one who runs the tests, if that is not root.
    #[track_caller]
    pub(crate) fn new() -> Option<Self> {
        let by_root = am_root();
        if by_root && !has("setpriv", "util-linux") {
            return None;
        }
        let dir = scratch();
        let binary = copy_of_rprof(dir.path());
        run(tool("chmod").args(["-R", "777"]).arg(dir.path())).ok();
        Some(Self {
            dir,
            binary,
            by_root,
        })
    }

    /// rprof, run in that folder.
    pub(crate) fn rprof(&self, args: &[&str]) -> Command {
        let mut command = self.command(self.binary.to_str().unwrap());
        command.args(args);
        command
    }

    /// Another program, run there.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = tool(program);
        if self.by_root {
            command = as_user(NOBODY, NOBODY, program);
        }
        command.env("HOME", self.dir.path());
        command.current_dir(self.dir.path());
        command
    }
}

/// A sysctl's value for the time of a test.
pub(crate) struct Sysctl {
    path: PathBuf,
    before: String,
}

impl Sysctl {
    /// `kernel.perf_event_paranoid`; `None` if it may not be set.
    pub(crate) fn paranoid(value: &str) -> Option<Self> {
        Self::set("kernel/perf_event_paranoid", value)
    }

    /// Any of them, by its path below `/proc/sys`; `None` if it may not be set.
    ///
    /// # Panics
    /// If the test shares its place with others, whose value it would be, too.
    #[track_caller]
    pub(crate) fn set(name: &str, value: &str) -> Option<Self> {
        assert!(is_alone(), "a test that sets {name} needs!(alone)");
        let path = Path::new("/proc/sys").join(name);
        let before = std::fs::read_to_string(&path).ok()?;
        std::fs::write(&path, value).ok()?;
        Some(Self { path, before })
    }

    /// The same, which says so if it may not be set.
    #[track_caller]
    pub(crate) fn set_or_skip(name: &str, value: &str) -> Option<Self> {
        let set = Self::set(name, value);
        if set.is_none() {
            skipped(&format!("a {name} that can be set"));
        }
        set
    }
}

impl Drop for Sysctl {
    fn drop(&mut self) {
        // There is nothing else to do about it.
        let _ = std::fs::write(&self.path, &self.before);
    }
}

/// The value now.
pub(crate) fn paranoid() -> i32 {
    let text = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    text.trim().parse().unwrap()
}
