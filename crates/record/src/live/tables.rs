//! The unwind tables of images, each read when a stack first leads into it.

use crate::depth::Seen;
use rprof_images::{Located, Locator, Reason, Recorded};
use rprof_machine::{ImageId, RecordedImage};
use rprof_unwind::UnwindTable;
use std::cell::{Cell, OnceCell};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// All images' tables.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    /// By image; `None` for those that have none.
    of: Vec<OnceCell<Option<Box<UnwindTable>>>>,
    size_bytes: Cell<usize>,
    locator: Locator,
    seen: Arc<Seen>,
}

/// More memory than this is given back, and read again as needed.
const MAX_BYTES: usize = 256 << 20;

impl Tables {
    /// Tells what it reads.
    pub(crate) fn new(seen: Arc<Seen>) -> Self {
        Self {
            seen,
            ..Self::default()
        }
    }

    /// Prepares for so many images.
    #[inline]
    pub(crate) fn make_room(&mut self, n_images: usize) {
        if self.of.len() < n_images {
            self.of.resize_with(n_images, OnceCell::new);
        }
    }

    /// Forgets everything if it is too much.
    pub(crate) fn trim(&mut self) {
        if self.size_bytes.get() > MAX_BYTES {
            self.of.clear();
            self.size_bytes.set(0);
        }
    }

    /// An image's table; `None` if it has none or its file cannot be had.
    pub(crate) fn of(&self, id: ImageId, image: &RecordedImage, pid: i32) -> Option<&UnwindTable> {
        let cell = self.of.get(id.0 as usize)?;
        let table = cell.get_or_init(|| {
            self.seen.images.fetch_add(1, Ordering::Relaxed);
            let table = self.open(image, pid)?;
            self.size_bytes
                .set(self.size_bytes.get() + table.size_bytes());
            Some(Box::new(table))
        });
        table.as_deref()
    }

    fn open(&self, image: &RecordedImage, pid: i32) -> Option<UnwindTable> {
        let located = self.locate(image, pid).ok()?;
        UnwindTable::of(&located.binary, located.debug.as_ref()).ok()
    }

    /// The file with the recorded contents: at its path, or where the process sees that path, or
    /// wherever the process has it from, if it has no path any more.
    fn locate(&self, image: &RecordedImage, pid: i32) -> Result<Located, Reason> {
        let recorded = Recorded {
            path: &image.path,
            build_id: image.build_id.as_ref(),
            inode: image.inode,
        };
        let here = self.locator.locate(recorded);
        if here.is_ok() || image.build_id.is_none() || pid <= 0 {
            return here;
        }
        let inside = Locator {
            symfs: Some(PathBuf::from(format!("/proc/{pid}/root"))),
            ..self.locator.clone()
        };
        let found = inside.locate(recorded).ok();
        let nameless = || {
            nameless(pid, &image.path).find_map(|path| {
                let path = path.as_os_str().as_bytes();
                self.locator.locate(Recorded { path, ..recorded }).ok()
            })
        };
        found.or_else(nameless).map_or(here, Ok)
    }
}

/// Where files are still to be had that a process has mapped: the one that it executes, and for
/// root all those that had a path.
fn nameless(pid: i32, path: &[u8]) -> impl Iterator<Item = PathBuf> {
    let mapped = std::fs::read_dir(format!("/proc/{pid}/map_files"));
    let mapped = mapped.into_iter().flatten().flatten();
    let mapped = mapped.map(|entry| entry.path()).filter(|entry| {
        let target = std::fs::read_link(entry).unwrap_or_default();
        target.as_os_str().as_bytes().starts_with(path)
    });
    let executed = PathBuf::from(format!("/proc/{pid}/exe"));
    std::iter::once(executed).chain(mapped.take(1))
}
