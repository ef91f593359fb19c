//! The unwind tables of images, each read when a stack first leads into it.

use crate::depth::Seen;
use rprof_images::{Located, Reason};
use rprof_locate::{KeptFiles, Locator, Recorded};
use rprof_machine::{ImageId, RecordedImage};
use rprof_untrusted::{Budget, Limits};
use rprof_unwind::{TableError, UnwindTable};
use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// All images' tables.
#[derive(Debug)]
pub(crate) struct Tables {
    /// By image.
    of: Vec<OnceCell<Table>>,
    /// An image did not fit beside the others: room is made for it.
    is_full: Cell<bool>,
    /// How often in a row there was no room for an image.
    refused: BTreeMap<ImageId, u32>,
    locator: Locator,
    seen: Arc<Seen>,
}

/// What is known of an image's table.
#[derive(Debug)]
enum Table {
    Read(Box<UnwindTable>),
    /// It has none, or its file cannot be had.
    None,
    /// There was not enough memory left.
    NoRoom,
}

/// An image that was refused so often, with all others forgotten in between, is too large.
const ENOUGH: u32 = 3;

impl Tables {
    /// Tells what it reads.
    pub(crate) fn new(seen: Arc<Seen>, kept: Option<Arc<KeptFiles>>) -> Self {
        Self {
            of: Vec::new(),
            is_full: Cell::new(false),
            refused: BTreeMap::new(),
            locator: Locator {
                budget: Budget::new(Limits::RECORDER),
                kept,
                ..Locator::default()
            },
            seen,
        }
    }

    /// Prepares for so many images.
    #[inline]
    pub(crate) fn make_room(&mut self, n_images: usize) {
        if self.of.len() < n_images {
            self.of.resize_with(n_images, OnceCell::new);
        }
    }

    /// Forgets everything if something did not fit.
    pub(crate) fn trim(&mut self) {
        if !self.is_full.take() {
            return;
        }
        for (id, cell) in (0..).map(ImageId).zip(&self.of) {
            match cell.get() {
                Some(Table::NoRoom) => *self.refused.entry(id).or_default() += 1,
                Some(Table::Read(_)) => drop(self.refused.remove(&id)),
                Some(Table::None) | None => {}
            }
        }
        let n_images = self.of.len();
        self.of.clear();
        self.make_room(n_images);
    }

    /// An image's table; `None` if it has none or its file cannot be had.
    pub(crate) fn of(&self, id: ImageId, image: &RecordedImage, pid: i32) -> Option<&UnwindTable> {
        let cell = self.of.get(id.0 as usize)?;
        let table = cell.get_or_init(|| {
            self.seen.images.fetch_add(1, Ordering::Relaxed);
            if self.refused.get(&id).is_some_and(|&times| times >= ENOUGH) {
                return Table::None;
            }
            let table = self.open(image, pid);
            self.is_full
                .set(self.is_full.get() || matches!(table, Table::NoRoom));
            table
        });
        match table {
            Table::Read(table) => Some(table),
            Table::None | Table::NoRoom => None,
        }
    }

    fn open(&self, image: &RecordedImage, pid: i32) -> Table {
        let Ok(located) = self.locate(image, pid) else {
            return Table::None;
        };
        match UnwindTable::of(&located.binary, located.debug.as_ref()) {
            Ok(table) => Table::Read(Box::new(table)),
            Err(TableError::Memory) => Table::NoRoom,
            Err(_) => Table::None,
        }
    }

    /// The file with the recorded contents: at its path, or wherever the process has it from.
    fn locate(&self, image: &RecordedImage, pid: i32) -> Result<Located, Reason> {
        let processes = [pid];
        let recorded = Recorded {
            path: &image.path,
            build_id: image.build_id.as_ref(),
            inode: image.inode,
            device: image.device,
            processes: if pid > 0 { &processes } else { &[] },
            ..Recorded::default()
        };
        let located = self.locator.locate(recorded)?;
        if let Some(kept) = &self.locator.kept {
            kept.keep(&located.binary, recorded);
        }
        Ok(located)
    }
}
