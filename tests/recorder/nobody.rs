//! Commands as a user without rights, and sysctls that are put back.

use crate::common::{am_root, copy_of_rprof, has, run, scratch, tool};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A folder that everybody may write to, with a copy of the binary.
pub(crate) struct Nobody {
    pub(crate) dir: TempDir,
    binary: PathBuf,
    by_root: bool,
}

impl Nobody {
    /// Such a user; the one who runs the tests, if that is not root.
    #[track_caller]
    pub(crate) fn new(test: &str) -> Option<Self> {
        let by_root = am_root();
        if by_root && !has(test, "setpriv", "util-linux") {
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
            command = tool("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", program]);
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
        let path = Path::new("/proc/sys/kernel/perf_event_paranoid");
        let before = std::fs::read_to_string(path).ok()?;
        std::fs::write(path, value).ok()?;
        Some(Self {
            path: path.to_owned(),
            before,
        })
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
