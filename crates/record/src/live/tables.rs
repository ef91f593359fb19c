//! The unwind tables of images, each read when a stack first leads into it.

use crate::depth::Seen;
use rprof_images::{Located, Locator, Reason, Recorded};
use rprof_machine::{ImageId, RecordedImage};
use rprof_unwind::UnwindTable;
use std::cell::{Cell, OnceCell};
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

    /// The file with the recorded contents: at its path, or wherever the process has it from.
    fn locate(&self, image: &RecordedImage, pid: i32) -> Result<Located, Reason> {
        let processes = [pid];
        self.locator.locate(Recorded {
            path: &image.path,
            build_id: image.build_id.as_ref(),
            inode: image.inode,
            device: image.device,
            processes: if pid > 0 { &processes } else { &[] },
        })
    }
}
