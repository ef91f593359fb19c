//! tracefs, where probes are defined.

use rprof_events::Sources;
use rprof_ringbuf::sys::detached_tracefs;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// The files that definitions are written into: of the kernel's functions, and of files.
pub(crate) const KPROBES: &str = "kprobe_events";
pub(crate) const UPROBES: &str = "uprobe_events";

/// tracefs: where it is mounted, or a mount of our own, which nobody else sees and which goes away with us.
#[derive(Debug)]
pub struct Tracefs {
    root: PathBuf,
    /// What `root` is a path of.
    _own: Option<OwnedFd>,
}

impl Tracefs {
    /// Where it is mounted; else mounts it.
    ///
    /// # Errors
    /// It is not mounted, and may not be.
    pub fn open() -> io::Result<Self> {
        let root = Sources::default().tracefs;
        if root.join(UPROBES).exists() || root.join(KPROBES).exists() {
            return Ok(Self { root, _own: None });
        }
        let own = detached_tracefs()?;
        Ok(Self {
            root: PathBuf::from(format!("/proc/self/fd/{}", own.as_raw_fd())),
            _own: Some(own),
        })
    }

    /// Where it is mounted, whether or not probes can be defined there.
    pub fn mounted() -> Self {
        Self {
            root: Sources::default().tracefs,
            _own: None,
        }
    }

    /// The folder, as long as this lives.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A file to append definitions to: opened otherwise, all that are there would go.
    pub(crate) fn open_to_append(&self, file: &str) -> io::Result<File> {
        OpenOptions::new().append(true).open(self.root.join(file))
    }

    pub(crate) fn read(&self, file: impl AsRef<Path>) -> io::Result<String> {
        std::fs::read_to_string(self.root.join(file))
    }
}

/// Writes a line with one call, as the kernel takes it.
pub(crate) fn write_line(file: &mut File, line: &str) -> io::Result<()> {
    file.write_all(format!("{line}\n").as_bytes())
}
